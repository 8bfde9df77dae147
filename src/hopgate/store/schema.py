"""The schema of a store: whether a database has it, how it comes and how it goes."""

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from hopgate.errors import HopgateError
from hopgate.store import connect, owners_table, setting_rows
from hopgate.store.owners_table import OwnersTable, quoted
from hopgate.store.rows import Connection, value, values

SCHEMA = "hopgate"
# The version of schema.sql. Another one is not read: until a first release there are no migrations.
VERSION = 48
OWN = f"{SCHEMA}.memories"

_TABLE = re.compile(r"^CREATE TABLE (\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SchemaStatus:
    """Which version of the schema a database has, none where it has none, and which one this code needs."""

    current: int | None
    wanted: int = VERSION

    @property
    def state(self) -> str:
        """`absent`, `current` or `other`."""
        if self.current is None:
            return "absent"
        return "current" if self.current == self.wanted else "other"


def status(connection: Connection) -> SchemaStatus:
    """Read which version of the schema a database has."""
    if value(connection, "SELECT to_regclass(%s)", (f"{SCHEMA}.schema_version",)) is None:
        return SchemaStatus(None)
    return SchemaStatus(value(connection, f"SELECT version FROM {SCHEMA}.schema_version") or 0)


def check(connection: Connection) -> None:
    """Refuse a store that another version of hopgate made."""
    there = status(connection)
    if there.state == "other":
        raise HopgateError(
            f"this store has schema {there.current}, and this hopgate needs {there.wanted}: "
            "export it with the version that made it, and ingest here"
        )


def upgrade(dsn: str, *, memories: str | OwnersTable | None = None) -> None:
    """Make the schema in a database that has none; two processes that do so at once take turns.

    `memories` is an owner's table whose rows are memories, as `schema.table`, or "hopgate.memories" for none. It has to
    be said where the database has a table called memories.
    """
    with connect.explained(), connect.connect(dsn) as connection:
        create(connection, memories)


def create(connection: Connection, memories: str | OwnersTable | None = None) -> None:
    """Make the schema in the caller's transaction, or nothing where it is there; see `upgrade`."""
    connection.execute("SELECT pg_advisory_xact_lock(hashtext('hopgate schema'))")
    check(connection)
    if status(connection).current is not None:
        return
    owners = _owners(connection, memories)
    if reasons := conflicts(connection, owners):
        raise HopgateError(f"nothing was changed, because of {len(reasons)} things in the way: {'; '.join(reasons)}")
    for statement in _statements(connection, owners):
        # No parameters: `%` stands in it as it is.
        connection.execute(statement.encode())


def sql_text(connection: Connection, memories: str | OwnersTable | None = None) -> str:
    """The SQL that `create` would run, for somebody's own migrations."""
    return "".join(
        f"{statement.rstrip().rstrip(';')};\n\n" for statement in _statements(connection, _owners(connection, memories))
    )


def conflicts(connection: Connection, owners: OwnersTable | None = None) -> list[str]:
    """What stands in the way of the schema, each as a sentence; nothing where it can be made."""
    names = values(
        connection,
        "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(%s) "
        "AND relkind IN ('r', 'v', 'm', 'p', 'f') ORDER BY 1",
        (SCHEMA,),
    )
    others = f"the schema {SCHEMA} holds tables that hopgate did not make ({', '.join(names)}): move them elsewhere"
    return [others] * bool(names) + list(owners_table.conflicts(connection, owners) if owners is not None else ())


def guards(connection: Connection) -> list[str]:
    """What keeps memories sensitive and stands in hopgate's schema alone, each as a sentence: `drop` takes it along."""
    if status(connection).state != "current":
        return []
    connection.execute(f"SET LOCAL search_path = {SCHEMA}, public")
    rules = setting_rows.sensitivity(connection)
    flags = [
        *(f"--sensitive-tag {tag}" for tag in rules.tags),
        *(f"--sensitive-match {pattern}" for pattern in rules.patterns),
    ]
    lost = [f"the rules of sensitivity: give the next store {' '.join(flags)}"] if flags else []
    if owners_table.followed(connection):
        marks = value(
            connection,
            "SELECT count(*) FROM memories m JOIN hopgate_owners_rows(NULL) r USING (row_key) "
            "WHERE m.is_sensitive AND NOT r.is_sensitive",
        )
        if marks:
            lost.append(f"the marks of {marks:,} sensitive memories, for which your table has no column")
    return lost


def drop(connection: Connection) -> None:
    """Take away all that `create` made, memories included; an owner's table stays as it is.

    What depends on hopgate's tables, such as a view of the owner's, is in the way and refused by name.
    """
    import psycopg

    connection.execute("SELECT pg_advisory_xact_lock(hashtext('hopgate schema'))")
    inside = "SELECT extname FROM pg_extension WHERE extnamespace = to_regnamespace(%s)"
    if name := value(connection, inside, (SCHEMA,)):
        raise HopgateError(f"the extension {name} is in the schema {SCHEMA}: ALTER EXTENSION {name} SET SCHEMA public")
    owners_table.release(connection)
    # Views first: they need the tables.
    objects = values(
        connection,
        "SELECT kind || ' ' || string_agg(name, ', ') FROM ("
        "SELECT CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END AS kind, oid::regclass::text AS name, relnamespace "
        "FROM pg_class WHERE relkind IN ('r', 'v') "
        "UNION ALL SELECT 'FUNCTION', oid::regprocedure::text, pronamespace FROM pg_proc) AS own "
        "WHERE relnamespace = to_regnamespace(%s) GROUP BY kind ORDER BY array_position('{VIEW,TABLE,FUNCTION}', kind)",
        (SCHEMA,),
    )
    try:
        for names in objects:
            connection.execute(f"DROP {names}")
        connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA}")
    except psycopg.errors.DependentObjectsStillExist as error:
        raise HopgateError(
            f"something of yours depends on hopgate's tables: drop it first ({error.diag.message_detail})"
        ) from None


@cache
def sql() -> str:
    """The text of schema.sql."""
    return files("hopgate.store").joinpath("schema.sql").read_text(encoding="utf-8")


@cache
def own_tables() -> tuple[str, ...]:
    """The tables that the schema has, each after those that it refers to."""
    return tuple(name for name in _TABLE.findall(sql()) if name != "schema_version")


def search_path(connection: Connection) -> str:
    """What `search_path` must be for hopgate's statements; empty where the session's own is right.

    It is for `hopgate`'s own user, as whom the embedded server is reached: PostgreSQL searches the schema of that name.
    """
    vector = "SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'"
    # Where hopgate's tables and functions are, and pgvector's types.
    wanted = [SCHEMA, *(name.strip('"') for name in values(connection, vector) if name != SCHEMA)]
    now = value(connection, "SELECT current_schemas(false)")
    return "" if now[: len(wanted)] == wanted else ", ".join(map(quoted, wanted))


def _owners(connection: Connection, memories: str | OwnersTable | None) -> OwnersTable | None:
    if memories == OWN:
        return None
    if memories is not None:
        return OwnersTable(memories) if isinstance(memories, str) else memories
    table = value(
        connection,
        "SELECT n.nspname || '.memories' FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE c.oid = coalesce(to_regclass('memories'), to_regclass('public.memories')) AND n.nspname <> %s",
        (SCHEMA,),
    )
    if table is not None:
        raise HopgateError(
            f"this database has a table {table}: say hopgate db upgrade --memories {table} to make its rows "
            f"memories, or --memories {OWN} for a table of hopgate's own"
        )
    return None


def _statements(connection: Connection, owners: OwnersTable | None) -> list[str]:
    return [
        # The extension first: it is the database's, and must not come to stand in hopgate's schema.
        "CREATE EXTENSION IF NOT EXISTS vector",
        f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}",
        # The types of vectors are where the extension is.
        f"SELECT set_config('search_path', '{SCHEMA}, pg_temp, ' || extnamespace::regnamespace, true) "
        "FROM pg_extension WHERE extname = 'vector'",
        sql(),
        f"INSERT INTO schema_version VALUES ({VERSION})",
        *([owners_table.statements(connection, owners)] if owners is not None else []),
    ]
