"""Who builds: additions side by side, a build of the whole graph alone; and who waits is told for whom."""

from __future__ import annotations

import contextlib
import os
import platform
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import psycopg

from hopgate.store import connect
from hopgate.store.graph import version

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.store.store import Store

_KEY = "hashtext('hopgate build')"
_HOLDERS = (
    "SELECT coalesce(a.application_name, 'process ' || l.pid || ' of the server'), a.xact_start "
    "FROM pg_locks l LEFT JOIN pg_stat_activity a USING (pid) "
    "WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND l.pid <> pg_backend_pid() "
    "AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
    f"AND (l.classid::bigint << 32 | l.objid::bigint) = {_KEY}::bigint ORDER BY 2"
)


class BuildWaitsWarning(UserWarning):
    """Another build holds the store's lock."""


@contextlib.contextmanager
def build_lock(store: Store, *, rebuild: bool = False) -> Iterator[bool]:
    """Give whether the whole graph is to be built; where it is, nobody else builds for as long as the block runs.

    An addition to a graph that is built needs no turn of its own: each of its transactions calls `share`.

    Parameters
    ----------
    rebuild : bool
        Whether the whole graph is wanted though there is one.
    """
    if not rebuild and store.run(version.is_derived):
        yield False
        return
    # A connection of its own, open for as long as the build: its end, however it comes, lets go of the lock. In a
    # transaction, so that it holds behind a pooler too; between its statements it has no snapshot and hinders nobody.
    with connect.explained(), contextlib.closing(connect.connect(store.dsn)) as connection:
        connection.execute(
            "SELECT set_config('application_name', %s, false)",
            (f"hopgate build, process {os.getpid()} on {platform.node()}"[:63],),
        )
        connection.commit()
        connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        _take(connection, alone=True)
        store.find_tables(connection)
        whole = rebuild or not version.is_derived(connection)
        if not whole:
            # Another build made it while this one waited: what is left is an addition, which shares the lock.
            connection.rollback()
        try:
            yield whole
        finally:
            # At once: a connection that is merely closed holds its locks until the server has noticed.
            with contextlib.suppress(psycopg.Error):
                connection.rollback()


def share(connection: Connection[Any]) -> bool:
    """Wait for whoever builds the whole graph, and let nobody begin until this transaction ends; say if it is built."""
    _take(connection, alone=False)
    return version.is_derived(connection)


def _take(connection: Connection[Any], *, alone: bool) -> None:
    shared = "" if alone else "_shared"
    row = connection.execute(f"SELECT pg_try_advisory_xact_lock{shared}({_KEY})").fetchone()
    if row and row[0]:
        return
    holders = [f"{name}, since {since:%H:%M:%S}" if since else name for name, since in connection.execute(_HOLDERS)]
    held = "; ".join(holders) or "it ends just now"
    warnings.warn(f"another build holds this store ({held}): waiting for it", BuildWaitsWarning, stacklevel=4)
    connection.execute(f"SELECT pg_advisory_xact_lock{shared}({_KEY})")
