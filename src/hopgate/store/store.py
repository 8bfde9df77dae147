"""A store: a database at this code's schema, with a pool of connections; as it is, or as it was at one moment."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from psycopg import sql

from hopgate.errors import ConflictError, HopgateError, LostServerError
from hopgate.store import connect, schema
from hopgate.store.rows import Connection, value

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

    from hopgate.store.owners_table import OwnersTable
    from hopgate.store.server import EmbeddedServer

T = TypeVar("T")


class Store:
    """Transactions on one PostgreSQL database.

    Made by `open_store`; `with` closes it.
    """

    def __init__(
        self,
        dsn: str,
        server: EmbeddedServer | None = None,
        pool: ConnectionPool[Connection] | None = None,
    ) -> None:
        self.dsn = dsn
        self._server = server
        self._pool = pool
        self._lent = pool is not None
        self._making_pool = threading.Lock()
        self._closed = False
        # The search_path of every transaction: unknown until one is begun, empty where the session's own is right.
        self._path: str | None = None
        # What every transaction sees: by default what is committed.
        self._seeing = ""

    def __reduce__(self) -> tuple[type[Store], tuple[str]]:
        # Another process has its own connections, and leaves the server to this one.
        return Store, (self.dsn,)

    @property
    def directory(self) -> Path | None:
        """The data directory of an embedded store."""
        return self._server.directory if self._server else None

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Borrow a connection for one transaction: committed at the end, rolled back on an error."""
        with (
            connect.explained(),
            connect.borrowed(self._connections(), self._reach) as connection,
            connect.as_ours(connection) if self._lent else contextlib.nullcontext(),
        ):
            self._begin(connection)
            yield connection

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A connection that sees one state of the database in all its statements, and changes nothing.

        It is a connection of its own: those who wait for what is read here may hold all of the pool's.
        """
        with (
            connect.explained(),
            contextlib.closing(connect.connect(self.dsn)) as connection,
            connection.transaction(),
        ):
            self._begin(connection, READ_ONLY)
            yield connection

    def _begin(self, connection: Connection, how: str = "") -> None:
        """Begin a transaction: what it sees, and where hopgate's tables are."""
        for statement in filter(None, (how, self._seeing)):
            connection.execute(statement)
        self.find_tables(connection)

    def find_tables(self, connection: Connection) -> None:
        """Let a transaction that has just begun find hopgate's tables, wherever they are in the database.

        In the transaction and not in the session: that holds behind a pooler, and in a pool of the caller's.
        """
        if self._path is None:
            self._path = schema.search_path(connection)
        if self._path:
            connection.execute(f"SET LOCAL search_path = {self._path}")

    def run(self, work: Callable[[Connection], T]) -> T:
        """Do some work in one transaction; in a new one where another writer got in its way."""

        def once() -> T:
            with self.transaction() as connection:
                return work(connection)

        return retried(once)

    @contextlib.contextmanager
    def listening(self, channel: str) -> Iterator[Callable[[float], bool]]:
        """Listen to a channel; what is given waits so many seconds at most, and says whether something was notified."""
        with connect.explained(), contextlib.closing(connect.connect(self.dsn)) as connection:
            connection.autocommit = True
            connection.execute(f"LISTEN {channel}")
            yield lambda seconds: next(connection.notifies(timeout=seconds, stop_after=1), None) is not None

    def close(self) -> None:
        """Give the connections back and let go of the embedded server; a transaction begun later is refused."""
        self._closed = True
        if self._pool is not None and not self._lent:
            self._pool.close()
            self._pool = None
        if self._server is not None:
            self._server.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connections(self) -> ConnectionPool[Connection]:
        with self._making_pool:
            if self._closed:
                raise HopgateError("this knowledge base was closed: open it again with hopgate.open()")
            if self._pool is None:
                self._pool = connect.pool(self.dsn)
            return self._pool

    def _reach(self) -> None:
        """Look whether the server is there; an embedded one that died is started again."""
        try:
            connect.connect(self.dsn).close()
        except LostServerError:
            if self._server is None:
                raise
            self._server.start()


def open_store(
    where: str | Path | None = None,
    *,
    upgrade: bool | None = None,
    memories: str | OwnersTable | None = None,
    pool: ConnectionPool[Connection] | None = None,
    linger: float | None = None,
) -> Store:
    """Open a store: embedded in a directory, or on a server by its address; see `hopgate.open` for the parameters."""
    if pool is not None:
        if where is not None:
            raise HopgateError("a pool knows its server: leave the address out")
        return _ready(Store(connect.address_of(pool), pool=pool), bool(upgrade), memories)
    at = connect.located(where)
    if isinstance(at, str):
        return _ready(Store(at), bool(upgrade), memories)
    from hopgate.store.server import EmbeddedServer

    server = EmbeddedServer(at, linger)
    return _ready(Store(server.dsn, server), upgrade if upgrade is not None else True, memories)


def _ready(store: Store, upgrade: bool, memories: str | OwnersTable | None) -> Store:
    """Check the vector operators and the schema; leave nothing open when they are not right."""
    try:
        with connect.explained():
            with contextlib.closing(connect.connect(store.dsn)) as connection:
                schema.check(connection)
                absent = schema.status(connection).current is None
                if absent and not upgrade:
                    raise HopgateError("this database has no schema of hopgate's yet: run hopgate db upgrade")
                connection.commit()
                connect.check_vector(connection, embedded=store.directory is not None)
            if absent:
                retried(lambda: schema.upgrade(store.dsn, memories=memories))
    except BaseException:
        store.close()
        raise
    return store


READ_ONLY = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"


class FrozenStore(Store):
    """Another view of an open store, for an evaluation: whatever is written meanwhile, every query sees one snapshot.

    The snapshot lasts until it is closed; the store that it was made from stays open.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(store.dsn)
        self._holder = connect.connect(store.dsn)
        self._holder.execute(READ_ONLY)
        snapshot = sql.Literal(value(self._holder, "SELECT pg_export_snapshot()")).as_string()
        self._seeing = f"{READ_ONLY}; SET TRANSACTION SNAPSHOT {snapshot}"
        # Here, because a transaction takes a snapshot before it reads anything.
        self.find_tables(self._holder)

    def close(self) -> None:
        """Let go of the snapshot."""
        super().close()
        self._holder.close()


# Seconds before each further attempt, at most: the server itself waits a second before it looks for a deadlock.
PAUSES = (0.05, 0.2, 0.5, 1.0, 2.0)
# Seconds for which a long run waits for a server that is being restarted: three quarters of a minute in all.
RETURN_PAUSES = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0, 8.0)


def retried(work: Callable[[], T], *, patient: bool = False) -> T:
    """Do something that is whole transactions; where it met a conflict, again.

    `patient` runs begin anew also where the server went away and came back: those of hours, which nobody watches.
    """
    for pause in RETURN_PAUSES if patient else PAUSES:
        try:
            return work()
        except ConflictError:
            # By chance, so that the same two do not meet again.
            time.sleep(pause * random.uniform(0.5, 1))
        except LostServerError:
            if not patient:
                raise
            time.sleep(pause)
    return work()
