"""The graph's version, bumped by every transaction that changes it; and who builds it, alone or side by side."""

from __future__ import annotations

import contextlib
import warnings
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import psycopg

from hopgate.store import connect
from hopgate.store.rows import Connection, value

if TYPE_CHECKING:
    from hopgate.store.store import Store


# By databases' names: the last versions that this process made, whether they were committed or not.
_written: dict[str, deque[int]] = {}
# Of more writes between two looks at the graph the first are forgotten.
REMEMBERED = 100


def lock(connection: Connection) -> None:
    """Let one writer at a time change the graph, so that two who add the same concept make one.

    The memories' table comes first, here as everywhere: who changes its columns then waits for no graph, and the other
    way round (docs/reliability.md, the order of locks).
    """
    connection.execute("LOCK TABLE memories IN ROW SHARE MODE; SELECT pg_advisory_xact_lock(hashtext('hopgate graph'))")


def bump(connection: Connection, scopes: Collection[str | None] | None = None) -> int:
    """Move to the next version, for these scopes or for all; it becomes visible together with what changed."""
    following = "UPDATE graph_state SET version = version + 1, scoped = scoped + %s::int, changed_at = now() "
    version = int(value(connection, following + "RETURNING version", (scopes is not None,)))
    if scopes is not None:
        connection.execute(
            "INSERT INTO graph_versions (scope, version) SELECT scope, %s FROM unnest(%s::text[]) AS s (scope) "
            "ON CONFLICT (scope) DO UPDATE SET version = excluded.version",
            (version, sorted({scope or "" for scope in scopes})),
        )
    _written.setdefault(connection.info.dbname, deque(maxlen=REMEMBERED)).append(version)
    return version


def touch(connection: Connection, scopes: Collection[str | None] | None = None) -> None:
    """Move to the next version where there is a graph: memories changed, and with them who is whose neighbour."""
    if current(connection) > 0:
        bump(connection, scopes)


def written_here(connection: Connection) -> Sequence[int]:
    """The last versions that this process itself made."""
    return tuple(_written.get(connection.info.dbname, ()))


def current(connection: Connection) -> int:
    """The version that this transaction sees."""
    return int(value(connection, "SELECT version FROM graph_state"))


def forget_graph(connection: Connection) -> None:
    """Remove all that was made of memories' texts but what is cached: the next build makes the graph anew."""
    lock(connection)
    connection.execute("DELETE FROM journal WHERE action IN ('merge', 'keep apart')")
    for table in _GRAPH_TABLES:
        connection.execute(f"DELETE FROM {table}")
    set_derived(connection, False)
    touch(connection)


# Not TRUNCATE: PostgreSQL shows its effect to snapshots that were taken before it.
_GRAPH_TABLES = (
    "concept_edges", "memory_concepts", "facts", "mentions", "concept_names", "concepts", "relations", "extractions",
)  # fmt: skip


def is_derived(connection: Connection) -> bool:
    """Whether concepts and edges are derived from all facts: not before the first build, nor in the middle of one."""
    return bool(value(connection, "SELECT derived FROM graph_state"))


def set_derived(connection: Connection, derived: bool) -> None:
    """Note that a build of the whole graph begins (not derived) or has ended (derived)."""
    connection.execute("UPDATE graph_state SET derived = %s", (derived,))


# Who builds: additions side by side, a build of the whole graph alone; and who waits is told.

_KEY = "hashtext('hopgate build')"


class BuildWaitsWarning(UserWarning):
    """Another build holds the store's lock."""


@contextlib.contextmanager
def build_lock(store: Store, *, rebuild: bool = False) -> Iterator[bool]:
    """Give whether the whole graph is to be built; where it is, nobody else builds for as long as the block runs.

    An addition to a graph that is built needs no turn of its own: each of its transactions calls `share`.
    """
    if not rebuild and store.run(is_derived):
        yield False
        return
    # A connection of its own, open for as long as the build: its end, however it comes, lets go of the lock. In a
    # transaction, so that it holds behind a pooler too; between its statements it has no snapshot and hinders nobody.
    with connect.explained(), contextlib.closing(connect.connect(store.dsn)) as connection:
        connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        _take(connection, alone=True)
        store.find_tables(connection)
        whole = rebuild or not is_derived(connection)
        if not whole:
            # Another build made it while this one waited: what is left is an addition, which shares the lock.
            connection.rollback()
        try:
            yield whole
        finally:
            # At once: a connection that is merely closed holds its locks until the server has noticed.
            with contextlib.suppress(psycopg.Error):
                connection.rollback()


def share(connection: Connection) -> bool:
    """Wait for whoever builds the whole graph, and let nobody begin until this transaction ends; say if it is built."""
    _take(connection, alone=False)
    return is_derived(connection)


def _take(connection: Connection, *, alone: bool) -> None:
    shared = "" if alone else "_shared"
    if value(connection, f"SELECT pg_try_advisory_xact_lock{shared}({_KEY})"):
        return
    warnings.warn("another build holds this store: waiting for it", BuildWaitsWarning, stacklevel=4)
    connection.execute(f"SELECT pg_advisory_xact_lock{shared}({_KEY})")
