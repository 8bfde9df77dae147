"""Bring a database's schema up to this code, or say how far apart they are."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from hopgate.errors import HopgateError
from hopgate.store.schema import conflicts, place
from hopgate.store.schema.place import OWN, SCHEMA, VERSION_TABLE

if TYPE_CHECKING:
    from alembic.config import Config
    from psycopg import Connection
    from sqlalchemy import Connection as SqlConnection

# The newest migration. A constant, because asking Alembic for it costs a second of imports on every start;
# a test compares the two.
HEAD = "0025"


@dataclass(frozen=True, slots=True)
class SchemaStatus:
    """Which migration a database is at and which one this code wants.

    Examples
    --------
    >>> SchemaStatus(current="0001", head="0002").state
    'behind'
    """

    current: str | None
    head: str

    @property
    def state(self) -> str:
        """`absent`, `behind`, `current` or `newer`."""
        if self.current is None:
            return "absent"
        if self.current == self.head:
            return "current"
        return "behind" if self.current < self.head else "newer"


def status(connection: Connection[Any]) -> SchemaStatus:
    """Read a database's schema version without Alembic."""
    row = connection.execute(
        "SELECT coalesce(to_regclass(%s), to_regclass(%s))::text", (f"{SCHEMA}.{VERSION_TABLE}", VERSION_TABLE)
    ).fetchone()
    current = None
    if row and row[0]:
        found = connection.execute(f"SELECT version_num FROM {row[0]}").fetchone()
        current = found[0] if found else None
    return SchemaStatus(current, HEAD)


def upgrade(dsn: str, revision: str = "head", *, memories: str | None = None) -> None:
    """Apply the migrations up to `revision`; two processes that do it at once take turns, one that was killed goes on.

    Parameters
    ----------
    memories : str, optional
        Schema and name of an owner's table that gets hopgate's columns; by default hopgate makes one of its own. Asked
        for where the database holds a table of that name. Known from the first upgrade on.
    """
    from alembic import command

    with _alembic(dsn) as config:
        connection = config.attributes["connection"]
        _prepare(connection, memories)
        owner = _owner(memories)
        path = [*place.schemas(_raw(connection)), *([owner] if owner else [])]
        # An owner's functions and tables of the same names come after, or not at all.
        connection.exec_driver_sql(f"SET search_path = {place.quoted(list(dict.fromkeys(path)))}")
        connection.commit()
        config.attributes["owner"] = owner
        command.upgrade(config, revision)


def downgrade(dsn: str, revision: str) -> None:
    """Take the migrations after `revision` back; what an earlier schema had no place for is lost."""
    from alembic import command
    from alembic.util import CommandError

    with _alembic(dsn) as config:
        connection = config.attributes["connection"]
        if path := place.search_path(_raw(connection)):
            connection.exec_driver_sql(f"SET search_path = {path}")
        connection.commit()
        try:
            command.downgrade(config, revision)
        except CommandError as error:
            raise HopgateError(f"there is no schema {revision!r} below ({error}): see hopgate db status") from None
        if status(_raw(connection)).current is None:
            _remove_place(connection)


def _prepare(connection: SqlConnection, memories: str | None) -> None:
    """Before the first change: nothing may be in the way. Then the schema is made, which is where all else goes."""
    from hopgate.store import backup

    raw = _raw(connection)
    if status(raw).current is None:
        strange = place.strange_memories(raw)
        if memories is None and strange and not _has_own(raw):
            raise HopgateError(
                f"this database has a table {strange}: say hopgate db upgrade --memories {strange} to let hopgate add "
                f"its columns to it, or --memories {OWN} for a table of hopgate's own"
            )
        conflicts.check(raw, _owner(memories), backup.own_tables())
    # The extension first: it is the database's, and must not come to stand in hopgate's schema.
    connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector")
    connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    connection.commit()


def _owner(memories: str | None) -> str | None:
    """The schema of an owner's table, or none where hopgate has its own."""
    if memories is None or memories == OWN:
        return None
    return place.owners_schema(memories)


def _raw(connection: SqlConnection) -> Connection[Any]:
    """The driver's connection."""
    return cast("Connection[Any]", connection.connection.dbapi_connection)


def _has_own(raw: Connection[Any]) -> bool:
    row = raw.execute("SELECT to_regclass(%s) IS NOT NULL", (OWN,)).fetchone()
    return bool(row and row[0])


def _remove_place(connection: SqlConnection) -> None:
    """After the last migration was taken back: its record, and the schema unless memories are in it."""
    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {VERSION_TABLE}")
    left = connection.exec_driver_sql(
        f"SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace('{SCHEMA}')"
    ).scalar_one()
    if not left:
        connection.exec_driver_sql(f"DROP SCHEMA IF EXISTS {SCHEMA}")
    connection.commit()


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "hopgate.store.schema:migrations")
    return config


@contextlib.contextmanager
def _alembic(dsn: str) -> Iterator[Config]:
    from sqlalchemy import create_engine, pool, text

    from hopgate.store.connect import connect

    engine = create_engine("postgresql+psycopg://", creator=lambda: connect(dsn), poolclass=pool.NullPool)
    with engine.connect() as connection:
        # A session lock, not a transaction's: building an index concurrently commits in between.
        connection.execute(text("SELECT pg_advisory_lock(hashtext('hopgate schema'))"))
        connection.commit()
        config = _config()
        config.attributes["connection"] = connection
        try:
            yield config
        finally:
            connection.rollback()
            connection.execute(text("SELECT pg_advisory_unlock(hashtext('hopgate schema'))"))
            connection.commit()
    engine.dispose()
