"""How the table of memories is laid out: one table or parts, its columns and indexes, what is in the way."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.errors import HopgateError
from hopgate.store.schema import OWN, SCHEMA

if TYPE_CHECKING:
    from psycopg import Connection

# The copy that takes the table's place, the list of what changed meanwhile, and how far a run has come.
NEXT = f"{SCHEMA}.memories_next"
CHANGED = f"{SCHEMA}.memories_changed"
RUN = f"{SCHEMA}.partition_run"
KEYS = f"{SCHEMA}.memory_keys"
# A part a core or two of a server, or a few thousand scopes a part: more parts than this cost every plan more.
MOST_PARTS = 1024
# What is unique in one table, and is kept unique by `memory_keys` where there are parts.
_UNIQUE = {"memories_pkey", "memories_external_id"}


class RunState(NamedTuple):
    """A run that was not finished: into how many parts, and up to which id it has copied."""

    parts: int
    copied_to: int


class TableColumn(NamedTuple):
    """A column of the table: what must be alike in its copy."""

    number: int
    name: str
    type: str
    generated: str


def parts(connection: Connection[Any], table: str = OWN) -> int:
    """Into how many parts memories are divided: 1 where they are one table, or the owner's."""
    row = connection.execute(
        "SELECT count(*) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent "
        "WHERE c.oid = to_regclass(%s) AND c.relkind = 'p'",
        (table,),
    ).fetchone()
    return max(1, int(row[0])) if row else 1


def leaves(connection: Connection[Any], table: str = OWN) -> list[str]:
    """The tables that the parts lie in; none where there is one table."""
    rows = connection.execute(
        "SELECT inhrelid::regclass::text FROM pg_inherits JOIN pg_class c ON c.oid = inhparent "
        "WHERE c.oid = to_regclass(%s) AND c.relkind = 'p' ORDER BY inhrelid",
        (table,),
    )
    return [row[0] for row in rows]


def run_state(connection: Connection[Any]) -> RunState | None:
    """The run that was not finished, if there is one."""
    row = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (RUN,)).fetchone()
    if not (row and row[0]):
        return None
    found = connection.execute(f"SELECT parts, copied_to FROM {RUN}").fetchone()
    return RunState(*found) if found else None


def made_of(connection: Connection[Any]) -> str:
    """The memories' columns in one line, by which a copy knows later whether they are still the same."""
    return json.dumps(columns(connection, OWN))


def columns(connection: Connection[Any], table: str) -> list[TableColumn]:
    """The columns, by name, with what a generated one is made of; one that was made anew has another number."""
    rows = connection.execute(
        "SELECT a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), "
        "CASE WHEN a.attgenerated <> '' THEN pg_get_expr(d.adbin, d.adrelid) ELSE '' END FROM pg_attribute a "
        "LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum WHERE a.attrelid = to_regclass(%s) "
        "AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attname",
        (table,),
    )
    return [TableColumn(*row) for row in rows]


def index_statements(connection: Connection[Any], parts: int) -> dict[str, str]:
    """By name the statement that makes each index of the memories on their copy, whose names have `next` in them."""
    rows = connection.execute(
        "SELECT c.relname, pg_get_indexdef(c.oid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
        "WHERE i.indrelid = to_regclass(%s) AND i.indisvalid AND NOT i.indisprimary AND c.relname <> 'memories_id' "
        "ORDER BY 1",
        (OWN,),
    )
    return {name: index_statement(name, definition, parts) for name, definition in rows}


def index_statement(name: str, definition: str, parts: int) -> str:
    """Rewrite an index's definition for the copy.

    Examples
    --------
    >>> index_statement("memories_scope", "CREATE INDEX memories_scope ON ONLY hopgate.memories USING btree (scope)", 1)
    'CREATE INDEX "memories_next_scope" ON hopgate.memories_next USING btree (scope)'
    >>> index_statement(
    ...     "memories_external_id",
    ...     "CREATE UNIQUE INDEX memories_external_id ON hopgate.memories USING btree (external_id)", 4)
    'CREATE INDEX "memories_next_external_id" ON hopgate.memories_next USING btree (external_id)'
    """
    how = re.sub(r"^CREATE (UNIQUE )?INDEX .*? ON (ONLY )?\S+ USING", "USING", definition)
    unique = "UNIQUE " if parts == 1 and name in _UNIQUE else ""
    return f'CREATE {unique}INDEX "{next_name(name)}" ON {NEXT} {how}'


def next_name(name: str) -> str:
    """What an index or a sequence of the copy is called.

    Examples
    --------
    >>> next_name("memories_scope"), next_name("by_hand")
    ('memories_next_scope', 'memories_next__by_hand')
    """
    rest = name.removeprefix("memories_")
    return f"memories_next_{rest}" if rest != name else f"memories_next__{name}"


def check(connection: Connection[Any]) -> None:
    """Refuse a table that is not hopgate's own, or has more than it knows how to keep."""
    row = connection.execute(
        "SELECT c.relkind, pg_get_userbyid(c.relowner) = current_user FROM pg_class c WHERE c.oid = to_regclass(%s) "
        "AND c.oid = to_regclass('memories')",
        (OWN,),
    ).fetchone()
    if row is None:
        raise HopgateError(
            f"these memories are in a table of yours, not in {OWN}: hopgate does not partition what it did not make"
        )
    if not row[1]:
        raise HopgateError(f"{OWN} belongs to another user: partition it as that one")
    unique = connection.execute(
        "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = to_regclass(%s) "
        "AND i.indisunique AND c.relname <> ALL(%s) ORDER BY 1",
        (OWN, sorted(_UNIQUE)),
    ).fetchone()
    if unique:
        raise HopgateError(f"{OWN} has a unique index of yours, {unique[0]}, which parts cannot have: drop it first")
    refers = connection.execute(
        "SELECT conname FROM pg_constraint WHERE contype = 'f' AND conrelid = to_regclass(%s) ORDER BY 1", (OWN,)
    ).fetchone()
    if refers:
        raise HopgateError(f"{OWN} has a foreign key of yours, {refers[0]}, which would be lost: drop it first")
