"""Concepts' edges and memories' concepts: what follows from what was said, replaced group by group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.store.said import Group

if TYPE_CHECKING:
    from psycopg import Connection


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


def link_memories(connection: Connection[Any], memory_ids: Sequence[int]) -> None:
    """Derive which concepts memories talk about, from their mentions and facts, and count them."""
    connection.execute(
        "WITH gone AS (DELETE FROM memory_concepts WHERE memory_id = ANY(%(ids)s) RETURNING concept_id), "
        "counted AS (SELECT concept_id, count(*) AS n FROM gone GROUP BY concept_id) "
        "UPDATE concepts c SET memory_count = memory_count - n FROM counted WHERE c.id = counted.concept_id",
        {"ids": list(memory_ids)},
    )
    connection.execute(
        "WITH told AS ("
        "  SELECT memory_id, name_id FROM mentions WHERE memory_id = ANY(%(ids)s)"
        "  UNION SELECT memory_id, subject_id FROM facts WHERE memory_id = ANY(%(ids)s)"
        "  UNION SELECT memory_id, object_id FROM facts WHERE memory_id = ANY(%(ids)s)), "
        "made AS (INSERT INTO memory_concepts (memory_id, concept_id, weight) "
        "  SELECT memory_id, concept_id, count(*) FROM told JOIN concept_names n ON n.id = told.name_id "
        "  GROUP BY memory_id, concept_id RETURNING concept_id), "
        "counted AS (SELECT concept_id, count(*) AS n FROM made GROUP BY concept_id) "
        "UPDATE concepts c SET memory_count = memory_count + n FROM counted WHERE c.id = counted.concept_id",
        {"ids": list(memory_ids)},
    )


def memories_of_concepts(connection: Connection[Any], concept_ids: Sequence[int]) -> list[int]:
    """The memories that talk about concepts."""
    rows = connection.execute(
        "SELECT DISTINCT memory_id FROM memory_concepts WHERE concept_id = ANY(%s) ORDER BY 1", (list(concept_ids),)
    )
    return [row[0] for row in rows]
