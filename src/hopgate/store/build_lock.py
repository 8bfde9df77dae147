"""Who builds: additions side by side, a build of the whole graph alone; and who waits is told."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import psycopg

from hopgate.store import connect
from hopgate.store.graph import version
from hopgate.store.rows import value

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.store.store import Store

_KEY = "hashtext('hopgate build')"


class BuildWaitsWarning(UserWarning):
    """Another build holds the store's lock."""


@contextlib.contextmanager
def build_lock(store: Store, *, rebuild: bool = False) -> Iterator[bool]:
    """Give whether the whole graph is to be built; where it is, nobody else builds for as long as the block runs.

    An addition to a graph that is built needs no turn of its own: each of its transactions calls `share`.
    """
    if not rebuild and store.run(version.is_derived):
        yield False
        return
    # A connection of its own, open for as long as the build: its end, however it comes, lets go of the lock. In a
    # transaction, so that it holds behind a pooler too; between its statements it has no snapshot and hinders nobody.
    with connect.explained(), contextlib.closing(connect.connect(store.dsn)) as connection:
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
    if value(connection, f"SELECT pg_try_advisory_xact_lock{shared}({_KEY})"):
        return
    warnings.warn("another build holds this store: waiting for it", BuildWaitsWarning, stacklevel=4)
    connection.execute(f"SELECT pg_advisory_xact_lock{shared}({_KEY})")
