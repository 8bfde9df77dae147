"""Concepts' edges and memories' concepts: what follows from what was said, replaced group by group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.store.said import Group

if TYPE_CHECKING:
    from psycopg import Connection


NAME_INSIDE = "has in its name"
"""The relation of a concept to one whose name stands inside its own: no fact, and so neither dated nor embedded."""


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """A row of `concept_edges`: true from `valid_from` to `valid_to`, believed from `recorded_at` to `retired_at`."""

    src_id: int
    dst_id: int
    relation: str
    weight: float
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    retired_at: datetime | None
    evidence: tuple[int, ...]


def replace(connection: Connection[Any], groups: Sequence[Group], rows: Iterable[EdgeRow]) -> None:
    """Put new rows in the place of all edges of these groups."""
    connection.execute(
        "DELETE FROM concept_edges e "
        "USING unnest(%s::bigint[], %s::text[], %s::bigint[]) AS g (src_id, relation, dst_id) "
        "WHERE e.src_id = g.src_id AND e.relation = g.relation AND (g.dst_id IS NULL OR e.dst_id = g.dst_id)",
        ([g.src_id for g in groups], [g.relation for g in groups], [g.dst_id for g in groups]),
    )
    with (
        connection.cursor() as cursor,
        cursor.copy(
            "COPY concept_edges (src_id, dst_id, relation, weight, valid_from, valid_to, recorded_at, retired_at, "
            "evidence_memory_ids) FROM STDIN"
        ) as copy,
    ):
        for row in rows:
            copy.write_row(
                (row.src_id, row.dst_id, row.relation, row.weight, row.valid_from, row.valid_to, row.recorded_at,
                 row.retired_at, list(row.evidence))
            )  # fmt: skip


def remove_of_concepts(connection: Connection[Any], concept_ids: Sequence[int]) -> None:
    """Remove every edge that touches these concepts; `replace` brings back those that are still supported."""
    ids = list(concept_ids)
    connection.execute("DELETE FROM concept_edges WHERE src_id = ANY(%s) OR dst_id = ANY(%s)", (ids, ids))


def unlink_memories(connection: Connection[Any], memory_ids: Sequence[int]) -> None:
    """Forget which concepts memories talk about."""
    connection.execute(
        "WITH gone AS (DELETE FROM memory_concepts WHERE memory_id = ANY(%(ids)s) RETURNING concept_id), "
        "counted AS (SELECT concept_id, count(*) AS n FROM gone GROUP BY concept_id) "
        "UPDATE concepts c SET memory_count = memory_count - n FROM counted WHERE c.id = counted.concept_id",
        {"ids": list(memory_ids)},
    )


def link_memories(connection: Connection[Any], memory_ids: Sequence[int]) -> None:
    """Derive which concepts memories talk about, from their mentions and facts, and count them."""
    unlink_memories(connection, memory_ids)
    connection.execute(
        "WITH told AS ("
        "  SELECT memory_id, name_id FROM mentions WHERE memory_id = ANY(%(ids)s)"
        "  UNION SELECT memory_id, subject_id FROM facts WHERE memory_id = ANY(%(ids)s)"
        "  UNION SELECT memory_id, object_id FROM facts WHERE memory_id = ANY(%(ids)s)), "
        "made AS (INSERT INTO memory_concepts (memory_id, concept_id, weight) "
        "  SELECT DISTINCT memory_id, concept_id, 1 FROM told JOIN concept_names n ON n.id = told.name_id "
        "  RETURNING concept_id), "
        "counted AS (SELECT concept_id, count(*) AS n FROM made GROUP BY concept_id) "
        "UPDATE concepts c SET memory_count = memory_count + n FROM counted WHERE c.id = counted.concept_id",
        {"ids": list(memory_ids)},
    )


def add_links(
    connection: Connection[Any], memory_ids: Sequence[int], concept_ids: Sequence[int], weights: Sequence[float]
) -> None:
    """Add concepts whose names stand in memories' texts; where both are linked already the heavier weight stays."""
    connection.execute(
        "WITH made AS (INSERT INTO memory_concepts AS old (memory_id, concept_id, relation, weight) "
        "SELECT m, c, CASE WHEN w > 1 THEN 'titled' ELSE 'named' END, w "
        "FROM unnest(%s::bigint[], %s::bigint[], %s::real[]) AS l (m, c, w) "
        "ON CONFLICT (memory_id, concept_id) DO UPDATE SET relation = excluded.relation, weight = excluded.weight "
        "WHERE excluded.weight > old.weight RETURNING concept_id, xmax = 0 AS is_new), "
        "counted AS (SELECT concept_id, count(*) AS n FROM made WHERE is_new GROUP BY concept_id) "
        "UPDATE concepts c SET memory_count = memory_count + n FROM counted WHERE c.id = counted.concept_id",
        (list(memory_ids), list(concept_ids), list(weights)),
    )


def add_name_links(
    connection: Connection[Any], src_ids: Sequence[int], dst_ids: Sequence[int], weights: Sequence[float]
) -> None:
    """Join concepts by their names alone: always known, true at all times, with no memory as evidence."""
    connection.execute(
        "INSERT INTO concept_edges (src_id, dst_id, relation, weight, recorded_at, evidence_memory_ids) "
        "SELECT s, d, %(inside)s, w, '-infinity', '{}' "
        "FROM unnest(%(src)s::bigint[], %(dst)s::bigint[], %(weight)s::real[]) AS l (s, d, w) WHERE NOT EXISTS "
        "(SELECT 1 FROM concept_edges e WHERE e.src_id = s AND e.relation = %(inside)s AND e.dst_id = d)",
        {"inside": NAME_INSIDE, "src": list(src_ids), "dst": list(dst_ids), "weight": list(weights)},
    )


def memories_of_concepts(connection: Connection[Any], concept_ids: Sequence[int]) -> list[int]:
    """The memories that talk about concepts."""
    rows = connection.execute(
        "SELECT DISTINCT memory_id FROM memory_concepts WHERE concept_id = ANY(%s) ORDER BY 1", (list(concept_ids),)
    )
    return [row[0] for row in rows]
