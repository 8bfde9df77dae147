"""A store as it was at one moment: every transaction sees that state, and none can write."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg import sql

from hopgate.store import connect
from hopgate.store.store import Store

READ_ONLY = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"


class SnapshotStore(Store):
    """A store as a snapshot shows it that somebody holds: this process, or the one that asks it to work.

    Parameters
    ----------
    snapshot : str
        What `pg_export_snapshot()` gave; it can be read as long as the transaction that made it is open.
    """

    def __init__(self, dsn: str, snapshot: str) -> None:
        super().__init__(dsn)
        self.snapshot = snapshot

    def pin(self, connection: psycopg.Connection[Any]) -> None:
        """Let a transaction that has just begun see the snapshot."""
        connection.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(self.snapshot)))

    @contextlib.contextmanager
    def transaction(self, *, recurring: bool = False) -> Iterator[psycopg.Connection[Any]]:
        """Borrow a connection for one transaction that reads the snapshot."""
        if self._path is None:
            # By a connection of its own: a snapshot is taken before anything is read.
            with contextlib.closing(connect.connect(self.dsn)) as connection:
                self.find_tables(connection)
        with super().transaction(recurring=recurring) as connection:
            connection.execute(READ_ONLY)
            self.pin(connection)
            yield connection


class FrozenStore(SnapshotStore):
    """Another view of an open store, for an evaluation: whatever is written meanwhile, every query sees one snapshot.

    The snapshot lasts until it is closed; the store that it was made from stays open.
    """

    def __init__(self, store: Store) -> None:
        with store.transaction():
            path = store._path
        self._holder = connect.connect(store.dsn)
        self._holder.execute(READ_ONLY)
        row = self._holder.execute("SELECT pg_export_snapshot()").fetchone()
        assert row is not None
        super().__init__(store.dsn, str(row[0]))
        self._path = path

    def close(self) -> None:
        """Let go of the snapshot."""
        super().close()
        self._holder.close()
