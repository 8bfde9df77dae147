"""What memories state of things in any words, kept aside from the graph, and the facts that two tell together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from psycopg import Connection


class StatedRow(NamedTuple):
    """One statement, with the scope of its memory and when that was made; only one scope's follow each other."""

    memory_id: int
    place: int
    scope: str | None
    thing: str
    thing_key: str
    relation: str
    value: str
    value_key: str
    former_key: str | None
    is_change: bool
    valid_from: datetime | None
    recorded_at: datetime


class NewStatement(NamedTuple):
    """A statement as it is written; `read_with` is the memory that it was read together with, where it was."""

    memory_id: int
    place: int
    thing: str
    thing_key: str
    relation: str
    value: str
    value_key: str
    former_key: str | None
    is_change: bool
    valid_from: datetime | None
    read_with: int | None = None


class JointRow(NamedTuple):
    """A fact that is told by two memories together, by its names' ids and their normal forms."""

    fact_id: int
    memory_id: int
    subject_id: int
    subject: str
    relation: str
    object_id: int
    object: str
    valid_from: datetime | None
    valid_to: datetime | None


# Of the columns, for the arrays that are written.
_TYPES = ("bigint", "smallint", *["text"] * 6, "boolean", "timestamptz", "bigint")
COLUMNS = ", ".join(NewStatement._fields)
_ROWS = (
    "SELECT s.memory_id, s.place, m.scope, s.thing, s.thing_key, s.relation, s.value, s.value_key, s.former_key, "
    "s.is_change, s.valid_from, coalesce(m.created_at, '-infinity') AS recorded_at FROM stated_values s "
    "JOIN memories m ON m.id = s.memory_id AND NOT m.is_sensitive "
)
# A statement follows another of the same thing, also one that calls it by its last word alone, or one that says what it
# says to be over. One that tells no change follows nothing. Each key is looked up once: a thousand statements of a few
# things meet each other a million times.
_HEAD = "substring({}.thing_key FROM '[^ ]+$')"
_IS_LONGER = "{}.thing_key LIKE '%% %%'"
_BESIDE = f"""
    WITH mine AS MATERIALIZED (
        SELECT DISTINCT m.scope, s.thing_key, s.value_key, s.former_key
        FROM stated_values s JOIN memories m ON m.id = s.memory_id WHERE s.memory_id = ANY(%s)
    ),
    met AS (
        SELECT k.scope, o.memory_id FROM (SELECT DISTINCT scope, thing_key FROM mine WHERE thing_key <> '') k
        JOIN stated_values o ON o.thing_key = k.thing_key
        UNION SELECT k.scope, o.memory_id FROM (SELECT DISTINCT scope, thing_key FROM mine WHERE thing_key <> '') k
        JOIN stated_values o ON {_HEAD.format("o")} = k.thing_key AND {_IS_LONGER.format("o")}
        UNION SELECT k.scope, o.memory_id
        FROM (SELECT DISTINCT scope, {_HEAD.format("mine")} AS head FROM mine WHERE {_IS_LONGER.format("mine")}) k
        JOIN stated_values o ON o.thing_key = k.head
        UNION SELECT k.scope, o.memory_id FROM (SELECT DISTINCT scope, former_key FROM mine) k
        JOIN stated_values o ON o.value_key = k.former_key
        UNION SELECT k.scope, o.memory_id FROM (SELECT DISTINCT scope, value_key FROM mine) k
        JOIN stated_values o ON o.former_key = k.value_key
    )
    SELECT DISTINCT p.id FROM met JOIN memories p ON p.id = met.memory_id AND p.scope IS NOT DISTINCT FROM met.scope
"""
# Of scopes, as a key that can be hashed: none is not the empty one.
_KEYED = f"SELECT s.*, coalesce(':' || s.scope, '') AS owner FROM ({_ROWS}) s"
# What had another value meanwhile matters, too: all that is said of a thing that had what is over. Each list is looked
# up by `IN` and not by `EXISTS`, which beside `OR` would be asked anew for every statement.
_CHANGING = f"""
    WITH said AS MATERIALIZED ({_KEYED}),
    over AS (SELECT owner, former_key FROM said WHERE is_change AND former_key IS NOT NULL),
    things AS (
        SELECT owner, thing_key FROM said WHERE is_change
        UNION SELECT owner, thing_key FROM said WHERE (owner, value_key) IN (SELECT owner, former_key FROM over)
        UNION SELECT owner, thing_key FROM said WHERE thing_key LIKE '% %'
        AND (owner, {_HEAD.format("said")}) IN (SELECT owner, thing_key FROM said WHERE is_change)
    )
    SELECT {", ".join(StatedRow._fields)} FROM said
    WHERE is_change OR (owner, value_key) IN (SELECT owner, former_key FROM over)
    OR thing_key <> '' AND (owner, thing_key) IN (SELECT owner, thing_key FROM things)
"""


def add(connection: Connection[Any], rows: Iterable[NewStatement]) -> None:
    """Write statements; one that is there stays, as mentions and facts do."""
    if new := list(rows):
        arrays = ", ".join(f"%s::{kind}[]" for kind in _TYPES)
        connection.execute(
            f"INSERT INTO stated_values ({COLUMNS}) SELECT * FROM unnest({arrays}) ON CONFLICT DO NOTHING",
            [list(column) for column in zip(*new, strict=True)],
        )


def of_memories(connection: Connection[Any], memory_ids: Sequence[int]) -> list[StatedRow]:
    """The statements of some memories."""
    return [StatedRow(*row) for row in connection.execute(_ROWS + "WHERE s.memory_id = ANY(%s)", (list(memory_ids),))]


def changing(connection: Connection[Any]) -> list[StatedRow]:
    """The statements of all things of which one tells a change, by its name or by what is over: of others none does."""
    told = connection.execute("SELECT EXISTS (SELECT 1 FROM stated_values WHERE is_change)").fetchone()
    return [StatedRow(*row) for row in connection.execute(_CHANGING)] if told and told[0] else []


def may_tell(connection: Connection[Any], memory_ids: Iterable[int]) -> bool:
    """Whether one of these memories tells a change, or says something of what another of its scope tells one of."""
    row = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM stated_values s JOIN memories m ON m.id = s.memory_id "
        "WHERE s.memory_id = ANY(%s) AND (s.is_change OR EXISTS (SELECT 1 FROM stated_values c "
        "JOIN memories o ON o.id = c.memory_id AND o.scope IS NOT DISTINCT FROM m.scope "
        f"WHERE c.is_change AND c.thing_key IN (s.thing_key, {_HEAD.format('s')}) "
        "AND s.thing_key <> '') "
        "OR EXISTS (SELECT 1 FROM stated_values c "
        "JOIN memories o ON o.id = c.memory_id AND o.scope IS NOT DISTINCT FROM m.scope "
        "WHERE c.former_key = s.value_key)))",
        (list(memory_ids),),
    ).fetchone()
    return bool(row and row[0])


def beside(connection: Connection[Any], memory_ids: Iterable[int], known: Iterable[int] = ()) -> set[int]:
    """Other memories of the same scopes that state something of the same things, or of what one says to be over."""
    ids = set(memory_ids)
    return {row[0] for row in connection.execute(_BESIDE, (list(ids),))} - ids - set(known)


def joint(connection: Connection[Any], memory_ids: Sequence[int] | None) -> list[JointRow]:
    """The facts that these memories, or all, tell together with others."""
    which = "" if memory_ids is None else "AND f.memory_id = ANY(%s)"
    rows = connection.execute(
        "SELECT f.id, f.memory_id, f.subject_id, s.normal_name, f.relation, f.object_id, o.normal_name, f.valid_from, "
        "f.valid_to "
        "FROM facts f JOIN concept_names s ON s.id = f.subject_id JOIN concept_names o ON o.id = f.object_id "
        f"WHERE f.joint {which}",
        None if memory_ids is None else (list(memory_ids),),
    )
    return [JointRow(*row) for row in rows]


def take_back(connection: Connection[Any], rows: Sequence[JointRow]) -> None:
    """Remove facts that are told together no more, and the names that their memories kept for them alone."""
    connection.execute("DELETE FROM facts WHERE id = ANY(%s)", ([row.fact_id for row in rows],))
    connection.execute(
        "DELETE FROM mentions x WHERE silent AND memory_id = ANY(%s) AND NOT EXISTS (SELECT 1 FROM facts f "
        "WHERE f.memory_id = x.memory_id AND x.name_id IN (f.subject_id, f.object_id))",
        ([row.memory_id for row in rows],),
    )


def keep_names(connection: Connection[Any], rows: Sequence[tuple[int, int, str]]) -> None:
    """Let memories keep names that they do not mention: (memory, name, spelling)."""
    connection.execute(
        "INSERT INTO mentions (memory_id, name_id, spelling, silent) SELECT m, n, s, true "
        "FROM unnest(%s::bigint[], %s::bigint[], %s::text[]) AS k (m, n, s) ON CONFLICT DO NOTHING",
        ([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]),
    )


def add_joint(
    connection: Connection[Any],
    rows: Sequence[tuple[int, int, str, int, float, datetime | None, datetime | None, datetime, str]],
) -> None:
    """Write facts told together: memory, subject, relation, object, weight, valid from and to, known, scope."""
    kinds = ("bigint", "bigint", "text", "bigint", "real", "timestamptz", "timestamptz", "timestamptz", "text")
    connection.execute(
        "INSERT INTO facts "
        "(memory_id, subject_id, relation, object_id, weight, valid_from, valid_to, recorded_at, scope, joint) "
        f"SELECT *, true FROM unnest({', '.join(f'%s::{kind}[]' for kind in kinds)}) ON CONFLICT DO NOTHING",
        [list(column) for column in zip(*rows, strict=True)],
    )
