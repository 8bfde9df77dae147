"""What stands in the way of hopgate's schema in a database, found before the first change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.store.schema.place import SCHEMA

if TYPE_CHECKING:
    from psycopg import Connection

_TEXT = ("text", "character varying", "character", "citext")
_ARRAY = ("text[]", "character varying[]", *_TEXT)
_NUMBER = ("real", "double precision", "numeric", "smallint", "integer", "bigint")
_TIME = ("timestamp with time zone", "timestamp without time zone", "date")
# What an owner's columns may be; those that are missing are added.
KINDS = {
    "external_id": _TEXT,
    "content": _TEXT,
    "tags": _ARRAY,
    "expanded_keywords": _ARRAY,
    "importance": _NUMBER,
    "is_sensitive": ("boolean",),
    "scope": _TEXT,
    "created_at": _TIME,
    "title_length": ("integer", "bigint"),
    "source": ("json", "jsonb"),
    "superseded_at": _TIME,
    "superseded_by": ("bigint", "integer"),
    "superseded_reason": _TEXT,
    "search_language": _TEXT,
    "search_vector": ("tsvector",),
    "dated": ("boolean",),
}
INDEXES = ("memories_external_id", "memories_search_vector", "memories_scope", "memories_created_at")


def check(connection: Connection[Any], schema: str | None, own_tables: tuple[str, ...]) -> None:
    """Refuse a database in which the upgrade would stop half-way, with all that is in its way.

    Parameters
    ----------
    schema : str, optional
        Where the owner's memories are; none for a table of hopgate's own.
    """
    found = [*_strangers(connection, own_tables), *_in_table(connection, schema or SCHEMA, schema is not None)]
    if found:
        raise HopgateError(f"nothing was changed, because of {len(found)} things in the way: {'; '.join(found)}")


def _strangers(connection: Connection[Any], own_tables: tuple[str, ...]) -> Iterator[str]:
    rows = connection.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(%s) "
        "AND relkind IN ('r', 'v', 'm', 'p', 'f') AND relname = ANY(%s) AND relname <> 'memories' ORDER BY 1",
        (SCHEMA, list(own_tables)),
    ).fetchall()
    if rows:
        names = ", ".join(row[0] for row in rows)
        yield f"the schema {SCHEMA} holds tables that hopgate did not make ({names}): move them elsewhere"


def _in_table(connection: Connection[Any], schema: str, wanted: bool) -> Iterator[str]:
    table = f'"{schema}".memories'
    columns = connection.execute(
        "SELECT a.attname, format_type(a.atttypid, NULL) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid "
        "WHERE c.relname = 'memories' AND c.relnamespace = to_regnamespace(%s) AND c.relkind IN ('r', 'p') "
        "AND a.attnum > 0 AND NOT a.attisdropped",
        (f'"{schema}"',),
    ).fetchall()
    kinds = dict(columns)
    if not kinds:
        if wanted:
            yield f"there is no table {schema}.memories: name the one that holds memories"
        return
    if kinds.get("id") not in ("bigint", "integer"):
        yield (
            f"the id of the memories table is {kinds.get('id') or 'missing'}: hopgate needs a bigint or an integer, so "
            "export the memories and ingest them into a table of its own"
        )
    elif not _unique_id(connection, table):
        yield f"the id of {schema}.memories is not unique: make it the primary key"
    for name, allowed in KINDS.items():
        if name in kinds and kinds[name] not in allowed:
            yield f"the column {name} is {kinds[name]} and should be {' or '.join(allowed[:2])}: rename it"
    if kinds.get("importance") in _NUMBER:
        count = _count(connection, f"SELECT count(*) FROM {table} WHERE importance NOT BETWEEN 0 AND 1")
        if count:
            yield f"{count:,} importances are outside 0 to 1: scale them"
    if kinds.get("external_id") in _TEXT:
        count = _count(
            connection,
            f"SELECT count(*) FROM (SELECT FROM {table} GROUP BY external_id HAVING count(external_id) > 1) d",
        )
        if count:
            yield f"{count:,} external ids stand in more than one row: make them unique"
    rows = connection.execute(
        "SELECT c.relname FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid "
        "WHERE c.relnamespace = to_regnamespace(%s) AND c.relname = ANY(%s) "
        "AND i.indrelid IS DISTINCT FROM to_regclass(%s)",
        (f'"{schema}"', list(INDEXES), table),
    )
    for (name,) in rows:
        yield f"{schema}.{name} has the name of an index that hopgate makes: rename it"


def _unique_id(connection: Connection[Any], table: str) -> bool:
    return bool(
        _count(
            connection,
            "SELECT count(*) FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attname = 'id' "
            f"WHERE i.indrelid = to_regclass('{table}') AND i.indisunique AND i.indkey::text = a.attnum::text "
            "AND i.indpred IS NULL",
        )
    )


def _count(connection: Connection[Any], statement: str) -> int:
    row = connection.execute(statement).fetchone()
    return int(row[0]) if row else 0
