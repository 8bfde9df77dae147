"""What memories support in the graph: the concepts they talk about and the edges they are evidence of, by identity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection

EdgeKey = tuple[int, str, int]
"""Source, relation and target: what an edge is, whatever its intervals."""


def concepts(connection: Connection[Any], memory_ids: Sequence[int]) -> dict[int, str]:
    """The names of the concepts that these memories talk about, by id."""
    rows = connection.execute(
        "SELECT id, canonical_name FROM concepts WHERE id IN (SELECT n.concept_id FROM mentions x "
        "JOIN concept_names n ON n.id = x.name_id WHERE x.memory_id = ANY(%s))",
        (list(memory_ids),),
    )
    return dict(rows.fetchall())


def edges(connection: Connection[Any], memory_ids: Sequence[int]) -> dict[EdgeKey, str]:
    """The edges known now that these memories are evidence of, each in words."""
    rows = connection.execute(
        "SELECT DISTINCT e.src_id, e.relation, e.dst_id, s.canonical_name, d.canonical_name FROM concept_edges e "
        "JOIN concepts s ON s.id = e.src_id JOIN concepts d ON d.id = e.dst_id "
        "WHERE e.evidence_memory_ids && %s::bigint[] AND e.retired_at IS NULL",
        (list(memory_ids),),
    )
    return {(row[0], row[1], row[2]): f"{row[3]} — {row[1]} → {row[4]}" for row in rows}


def known(connection: Connection[Any], edge_keys: Sequence[EdgeKey]) -> set[EdgeKey]:
    """Which of these edges are known now."""
    rows = connection.execute(
        "SELECT DISTINCT e.src_id, e.relation, e.dst_id FROM concept_edges e "
        "JOIN unnest(%s::bigint[], %s::text[], %s::bigint[]) AS g (src_id, relation, dst_id) "
        "USING (src_id, relation, dst_id) WHERE e.retired_at IS NULL",
        ([key[0] for key in edge_keys], [key[1] for key in edge_keys], [key[2] for key in edge_keys]),
    )
    return {(row[0], row[1], row[2]) for row in rows}
