"""A store: a database at this code's schema, with a pool of connections."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.store import connect
from hopgate.store.schema import migrate

if TYPE_CHECKING:
    import psycopg
    from psycopg_pool import ConnectionPool

    from hopgate.store.server.process import EmbeddedServer

# Where the store is when neither an argument nor an option says so: an address or a directory.
ENVIRONMENT = "HOPGATE_STORE"


class Store:
    """Transactions on one PostgreSQL database.

    Made by `open_store`; `with` closes it.
    """

    def __init__(
        self,
        dsn: str,
        server: EmbeddedServer | None = None,
        pool: ConnectionPool[psycopg.Connection[Any]] | None = None,
    ) -> None:
        self.dsn = dsn
        self._server = server
        self._pool = pool
        self._lent = pool is not None
        self._making_pool = threading.Lock()
        self._closed = False

    @property
    def directory(self) -> Path | None:
        """The data directory of an embedded store."""
        return self._server.directory if self._server else None

    @contextlib.contextmanager
    def transaction(self) -> Iterator[psycopg.Connection[Any]]:
        """Borrow a connection for one transaction: committed at the end, rolled back on an error."""
        with connect.explained(), self._connections().connection() as connection:
            if not self._lent:
                yield connection
                return
            with connect.as_ours(connection):
                yield connection

    @contextlib.contextmanager
    def listening(self, channel: str) -> Iterator[Callable[[float], bool]]:
        """Listen to a channel; what is given waits so many seconds at most, and says whether something was notified."""
        with connect.explained(), contextlib.closing(connect.connect(self.dsn)) as connection:
            connection.autocommit = True
            connection.execute(f"LISTEN {channel}")
            yield lambda seconds: next(connection.notifies(timeout=seconds, stop_after=1), None) is not None

    def pin(self, connection: psycopg.Connection[Any]) -> None:
        """Let a transaction that has just begun see what this store's others see; by default what is committed."""

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

    def _connections(self) -> ConnectionPool[psycopg.Connection[Any]]:
        with self._making_pool:
            if self._closed:
                raise HopgateError("this knowledge base was closed: open it again with hopgate.open()")
            if self._pool is None:
                self._pool = connect.pool(self.dsn)
            return self._pool


def open_store(
    where: str | Path | None = None,
    *,
    upgrade: bool | None = None,
    pool: ConnectionPool[psycopg.Connection[Any]] | None = None,
    linger: float | None = None,
) -> Store:
    """Open a store: embedded in a directory, or on a server by its address.

    Parameters
    ----------
    where : str or Path, optional
        `postgresql://…` for a server, a directory for an embedded one; by default what `HOPGATE_STORE` says, or the
        user's data directory.
    upgrade : bool, optional
        Whether to migrate a database that is behind. By default an embedded store and an empty database are; a
        server's database with memories in it waits for `hopgate db upgrade`.
    pool : ConnectionPool, optional
        The caller's own pool, instead of `where`: it is used as it is and stays open.
    linger : float, optional
        Seconds that an embedded server outlives its last user.
    """
    if pool is not None:
        if where is not None:
            raise HopgateError("a pool knows its server: leave the address out")
        return _ready(Store(str(pool.conninfo), pool=pool), upgrade)
    place = str(where) if where is not None else os.environ.get(ENVIRONMENT) or None
    if place is not None and is_address(place):
        return _ready(Store(place), upgrade)
    from hopgate.store.server.process import EmbeddedServer, default_directory

    server = EmbeddedServer(Path(place) if place is not None else default_directory(), linger)
    return _ready(Store(server.dsn, server), upgrade if upgrade is not None else True)


def is_address(place: str) -> bool:
    """Tell a server's address from a directory."""
    return place.startswith(("postgresql:", "postgres:")) or ("=" in place and not Path(place).exists())


def _ready(store: Store, upgrade: bool | None) -> Store:
    """Check the vector operators and the schema; leave nothing open when they are not right."""
    try:
        embedded = store.directory is not None
        with contextlib.closing(connect.connect(store.dsn)) as connection:
            connect.check_vector(connection, embedded=embedded)
            found = migrate.status(connection)
        if found.state == "newer":
            raise HopgateError(
                f"this database has schema {found.current}, newer than this hopgate's {found.head}: update hopgate"
            )
        if found.state != "current":
            fresh = found.state == "absent" and not found.has_memories
            if not (upgrade if upgrade is not None else fresh):
                raise HopgateError(
                    f"this database's schema is {found.current or 'not yet there'} and hopgate needs {found.head}: "
                    "run hopgate db upgrade"
                )
            with connect.explained():
                migrate.upgrade(store.dsn)
    except BaseException:
        store.close()
        raise
    return store
