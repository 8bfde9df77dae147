"""Bring a database's schema up to this code, or say how far apart they are."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError

if TYPE_CHECKING:
    from alembic.config import Config
    from psycopg import Connection

# The newest migration. A constant, because asking Alembic for it costs a second of imports on every start;
# a test compares the two.
HEAD = "0011"
# Its own name: the owner's database may hold an Alembic table already.
VERSION_TABLE = "hopgate_schema_version"


@dataclass(frozen=True, slots=True)
class SchemaStatus:
    """Which migration a database is at and which one this code wants.

    Examples
    --------
    >>> SchemaStatus(current="0001", head="0002", has_memories=True).state
    'behind'
    """

    current: str | None
    head: str
    has_memories: bool

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
        "SELECT to_regclass(%s) IS NOT NULL, to_regclass('memories') IS NOT NULL", (VERSION_TABLE,)
    ).fetchone()
    assert row is not None
    known, has_memories = row
    current = None
    if known:
        found = connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()
        current = found[0] if found else None
    return SchemaStatus(current, HEAD, bool(has_memories))


def upgrade(dsn: str, revision: str = "head") -> None:
    """Apply the migrations up to `revision`; two processes that do it at once take turns."""
    from alembic import command

    with _alembic(dsn) as config:
        command.upgrade(config, revision)


def downgrade(dsn: str, revision: str) -> None:
    """Take the migrations after `revision` back; what an earlier schema had no place for is lost."""
    from alembic import command
    from alembic.util import CommandError

    with _alembic(dsn) as config:
        try:
            command.downgrade(config, revision)
        except CommandError as error:
            raise HopgateError(f"there is no schema {revision!r} below ({error}): see hopgate db status") from None


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "hopgate.store.schema:migrations")
    return config


@contextlib.contextmanager
def _alembic(dsn: str) -> Iterator[Config]:
    import psycopg
    from sqlalchemy import create_engine, pool, text

    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(dsn), poolclass=pool.NullPool)
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
