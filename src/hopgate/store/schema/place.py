"""Where in a database hopgate's tables are: a schema of its own, and the owner's memories where it has some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError

if TYPE_CHECKING:
    from psycopg import Connection

SCHEMA = "hopgate"
# Its own name: the owner's database may hold an Alembic table already.
VERSION_TABLE = "hopgate_schema_version"
OWN = f"{SCHEMA}.memories"
# Whether the table `c` of pg_class is one that hopgate reads and writes.
IS_OWN = f"c.relnamespace = to_regnamespace('{SCHEMA}') OR c.oid = to_regclass('memories')"

# hopgate's schema; where an older hopgate put its tables; where the memories are that they refer to; the extension's.
_SCHEMAS = f"""
SELECT nspname, min(place) FROM (
  SELECT n.oid, 1 AS place FROM pg_namespace n WHERE nspname = '{SCHEMA}'
  UNION ALL SELECT relnamespace, 2 FROM pg_class WHERE oid = to_regclass('{VERSION_TABLE}')
  UNION ALL SELECT m.relnamespace, 3 FROM pg_constraint f JOIN pg_class m ON m.oid = f.confrelid
    WHERE f.contype = 'f' AND f.conrelid = coalesce(to_regclass('{SCHEMA}.extractions'), to_regclass('extractions'))
  UNION ALL SELECT extnamespace, 4 FROM pg_extension WHERE extname = 'vector'
) AS s JOIN pg_namespace n USING (oid) GROUP BY nspname ORDER BY 2
"""


def schemas(connection: Connection[Any]) -> list[str]:
    """The schemas that hopgate's statements name tables, functions and types of, in the order of search."""
    return [row[0] for row in connection.execute(_SCHEMAS)]


def search_path(connection: Connection[Any]) -> str:
    """What `search_path` must be for hopgate's statements; empty where the session's own is right.

    It is for `hopgate`'s own user, as whom the embedded server is reached: PostgreSQL searches the schema of that name.
    """
    wanted = schemas(connection)
    row = connection.execute("SELECT current_schemas(false)").fetchone()
    return "" if row and list(row[0])[: len(wanted)] == wanted else quoted(wanted)


def quoted(names: list[str]) -> str:
    """Names of schemas as the value of `search_path`.

    Examples
    --------
    >>> quoted(["hopgate", 'o"dd'])
    '"hopgate", "o""dd"'
    """
    return ", ".join('"' + name.replace('"', '""') + '"' for name in names)


def owners_schema(table: str) -> str:
    """The schema of the memories table that an owner names.

    Examples
    --------
    >>> owners_schema("public.memories")
    'public'
    """
    schema, _, name = table.rpartition(".")
    if name != "memories" or not schema:
        raise HopgateError(
            f"{table!r} does not name a schema and a table called memories: write public.memories, {OWN} for a table "
            "of hopgate's own, or copy the rows in with hopgate ingest"
        )
    return schema.strip('"')


def strange_memories(connection: Connection[Any]) -> str | None:
    """The table of memories that a session sees and hopgate does not own, with its schema."""
    row = connection.execute(
        "SELECT n.nspname || '.memories' FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        f"WHERE c.oid = coalesce(to_regclass('memories'), to_regclass('public.memories')) AND n.nspname <> '{SCHEMA}'"
    ).fetchone()
    return str(row[0]) if row else None
