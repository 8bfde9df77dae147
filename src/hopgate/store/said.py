"""What extractors said: mentions and facts, each knowing its memory. All else in the graph follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection


@dataclass(frozen=True, slots=True)
class FactRow:
    """A fact by the ids of its names, told by one memory at `recorded_at`."""

    memory_id: int
    subject_id: int
    relation: str
    object_id: int
    weight: float
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Group:
    """Facts that decide each other's validity: same source and relation, and same target unless single-valued."""

    src_id: int
    relation: str
    dst_id: int | None


@dataclass(frozen=True, slots=True)
class Told:
    """A fact between concepts, with its canonical relation."""

    src_id: int
    relation: str
    dst_id: int
    weight: float
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    memory_id: int


def ensure_relations(connection: Connection[Any], raw: Iterable[str]) -> None:
    """Make raw relations known; each is its own canonical one until relations are canonicalised."""
    connection.execute(
        "INSERT INTO relations (raw, canonical) SELECT r, r FROM unnest(%s::text[]) AS r ON CONFLICT DO NOTHING",
        (sorted(set(raw)),),
    )


def add_mentions(connection: Connection[Any], rows: Iterable[tuple[int, int, str | None]]) -> None:
    """Record mentions as (memory, name, kind); a name that a memory mentions twice counts once."""
    unique = {(memory_id, name_id): kind for memory_id, name_id, kind in rows}
    memory_ids, name_ids = [key[0] for key in unique], [key[1] for key in unique]
    connection.execute(
        "INSERT INTO mentions (memory_id, name_id, kind) "
        "SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::text[]) ON CONFLICT DO NOTHING",
        (memory_ids, name_ids, list(unique.values())),
    )


def add_facts(connection: Connection[Any], rows: Iterable[FactRow]) -> None:
    """Record facts."""
    with (
        connection.cursor() as cursor,
        cursor.copy(
            "COPY facts (memory_id, subject_id, relation, object_id, weight, valid_from, valid_to, recorded_at) "
            "FROM STDIN"
        ) as copy,
    ):
        for row in rows:
            copy.write_row(
                (row.memory_id, row.subject_id, row.relation, row.object_id, row.weight, row.valid_from, row.valid_to,
                 row.recorded_at)
            )  # fmt: skip


def names_of_memories(connection: Connection[Any], memory_ids: Sequence[int]) -> list[int]:
    """The names that memories mention or state facts about."""
    rows = connection.execute(
        "SELECT name_id FROM mentions WHERE memory_id = ANY(%(ids)s) "
        "UNION SELECT subject_id FROM facts WHERE memory_id = ANY(%(ids)s) "
        "UNION SELECT object_id FROM facts WHERE memory_id = ANY(%(ids)s) ORDER BY 1",
        {"ids": list(memory_ids)},
    )
    return [row[0] for row in rows]


def remove(connection: Connection[Any], memory_ids: Sequence[int]) -> None:
    """Take back all that was said of memories."""
    connection.execute("DELETE FROM mentions WHERE memory_id = ANY(%s)", (list(memory_ids),))
    connection.execute("DELETE FROM facts WHERE memory_id = ANY(%s)", (list(memory_ids),))
    connection.execute("DELETE FROM extractions WHERE memory_id = ANY(%s)", (list(memory_ids),))


_GROUP = (
    "SELECT DISTINCT s.concept_id, r.canonical, CASE WHEN r.single_valued THEN NULL ELSE o.concept_id END "
    "FROM facts f JOIN concept_names s ON s.id = f.subject_id JOIN concept_names o ON o.id = f.object_id "
    "JOIN relations r ON r.raw = f.relation WHERE "
)


def groups_of_memories(connection: Connection[Any], memory_ids: Sequence[int]) -> list[Group]:
    """The groups that memories' facts belong to."""
    return [Group(*row) for row in connection.execute(_GROUP + "f.memory_id = ANY(%s)", (list(memory_ids),))]


def groups_of_names(connection: Connection[Any], name_ids: Sequence[int]) -> list[Group]:
    """The groups of all facts about names."""
    ids = list(name_ids)
    return [Group(*row) for row in connection.execute(
        _GROUP + "f.subject_id = ANY(%s) OR f.object_id = ANY(%s)", (ids, ids))]  # fmt: skip


def groups_of_relations(connection: Connection[Any], raw: Sequence[str]) -> list[Group]:
    """The groups of all facts with these raw relations."""
    return [Group(*row) for row in connection.execute(_GROUP + "f.relation = ANY(%s)", (list(raw),))]


def facts_of_groups(connection: Connection[Any], groups: Sequence[Group]) -> list[Told]:
    """The facts of groups, in the order in which they became known."""
    rows = connection.execute(
        "SELECT s.concept_id, r.canonical, o.concept_id, f.weight, f.valid_from, f.valid_to, f.recorded_at, "
        "f.memory_id "
        "FROM unnest(%s::bigint[], %s::text[], %s::bigint[]) AS g (src_id, relation, dst_id) "
        "JOIN concept_names s ON s.concept_id = g.src_id JOIN facts f ON f.subject_id = s.id "
        "JOIN relations r ON r.raw = f.relation AND r.canonical = g.relation "
        "JOIN concept_names o ON o.id = f.object_id AND (g.dst_id IS NULL OR o.concept_id = g.dst_id) "
        "ORDER BY f.recorded_at, f.id",
        ([g.src_id for g in groups], [g.relation for g in groups], [g.dst_id for g in groups]),
    )
    return [Told(*row) for row in rows]


def all_groups(connection: Connection[Any]) -> list[Group]:
    """Every group, sources together."""
    return [Group(*row) for row in connection.execute(_GROUP + "true ORDER BY 1, 2, 3")]


def uses(connection: Connection[Any]) -> dict[int, int]:
    """How many memories use each name."""
    return dict(connection.execute("SELECT name_id, count(*) FROM mentions GROUP BY name_id").fetchall())


def contexts(connection: Connection[Any]) -> dict[int, list[tuple[tuple[str, str], ...]]]:
    """What is said of each name, one entry a memory: its (relation, object) pairs, and as an object its subjects."""
    rows = connection.execute(
        "SELECT m.name_id, coalesce(array_agg(ARRAY[f.relation, o.normal_name]) FILTER (WHERE f.id IS NOT NULL), '{}') "
        "FROM mentions m LEFT JOIN facts f ON f.memory_id = m.memory_id AND f.subject_id = m.name_id "
        "LEFT JOIN concept_names o ON o.id = f.object_id GROUP BY m.memory_id, m.name_id "
        "ORDER BY m.name_id, m.memory_id"
    )
    told: dict[int, list[tuple[tuple[str, str], ...]]] = {}
    for name_id, pairs in rows:
        told.setdefault(name_id, []).append(tuple((relation, name) for relation, name in pairs))
    return told


def declare_single_valued(connection: Connection[Any], relations: Iterable[str]) -> None:
    """Declare relations of which a source has one at a time; known facts follow at the next derivation."""
    connection.execute(
        "INSERT INTO relations (raw, canonical, single_valued) SELECT r, r, true FROM unnest(%s::text[]) AS r "
        "ON CONFLICT (raw) DO UPDATE SET single_valued = true",
        (sorted(set(relations)),),
    )
    # Relations that mean the same are single-valued together.
    connection.execute(
        "UPDATE relations r SET single_valued = true FROM relations d "
        "WHERE d.single_valued AND d.canonical = r.canonical AND NOT r.single_valued"
    )
