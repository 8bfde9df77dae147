"""Edges between concepts: derived from facts, replaced group by group, and read as they were at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.store import vectors
from hopgate.store.graph.fact_rows import FactGroup
from hopgate.store.graph.visible import View

if TYPE_CHECKING:
    from psycopg import Connection


NAME_INSIDE = "has in its name"
"""The relation of a concept to one whose name is inside its own: no fact, and so neither dated nor embedded."""

# What a statement that derives the whole graph may take of memory for each sort: 50,000 memories need 20 MB.
SORTED_IN = "64MB"


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """A row of `concept_edges`: true from `valid_from` to `valid_to`, known from `recorded_at` to `retired_at`."""

    src_id: int
    dst_id: int
    relation: str
    weight: float
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    retired_at: datetime | None
    evidence: tuple[int, ...]


def replace(connection: Connection[Any], groups: Sequence[FactGroup], rows: Iterable[EdgeRow]) -> None:
    """Put new rows in the place of all edges of these groups; an edge that was there before keeps its vector."""
    new = list(rows)
    vector = vectors.has_space(connection)
    column, kept = (", embedding", ", was.embedding") if vector else ("", "")
    join = (
        "LEFT JOIN (SELECT DISTINCT ON (src_id, relation, dst_id) src_id, relation, dst_id, embedding FROM gone "
        "ORDER BY src_id, relation, dst_id, embedding IS NULL) AS was "
        "ON was.src_id = r.src AND was.relation = r.relation AND was.dst_id = r.dst"
        if vector
        else ""
    )
    connection.execute(
        # A UNION of two joins: with an OR the planner would read all edges of a hub to find one.
        "WITH g AS (SELECT * FROM unnest(%s::bigint[], %s::text[], %s::bigint[]) AS g (src_id, relation, dst_id)), "
        "old AS (SELECT e.id FROM g JOIN concept_edges e USING (src_id, relation, dst_id) "
        "UNION ALL SELECT e.id FROM g JOIN concept_edges e USING (src_id, relation) WHERE g.dst_id IS NULL), "
        "gone AS (DELETE FROM concept_edges e USING old WHERE e.id = old.id "
        f"RETURNING e.src_id, e.relation, e.dst_id{column}) "
        "INSERT INTO concept_edges (scope, src_id, dst_id, relation, weight, valid_from, valid_to, recorded_at, "
        f"retired_at, evidence_memory_ids{column}) SELECT c.scope, r.src, r.dst, r.relation, r.weight, r.valid_from, "
        f"r.valid_to, r.recorded_at, r.retired_at, r.evidence::bigint[]{kept} "
        "FROM unnest(%s::bigint[], %s::bigint[], %s::text[], "
        "%s::real[], %s::timestamptz[], %s::timestamptz[], %s::timestamptz[], %s::timestamptz[], %s::text[]) "
        f"AS r (src, dst, relation, weight, valid_from, valid_to, recorded_at, retired_at, evidence) "
        f"JOIN concepts c ON c.id = r.src {join}",
        (
            *([g.src_id for g in groups], [g.relation for g in groups], [g.dst_id for g in groups]),
            *([r.src_id for r in new], [r.dst_id for r in new], [r.relation for r in new], [r.weight for r in new]),
            *([r.valid_from for r in new], [r.valid_to for r in new]),
            *([r.recorded_at for r in new], [r.retired_at for r in new]),
            ["{" + ",".join(map(str, row.evidence)) + "}" for row in new],
        ),
    )


def replace_name_links(
    connection: Connection[Any], concept_ids: Sequence[int] | None, links: Sequence[tuple[int, int]], weight: float
) -> None:
    """Put links (concept, other concept) by names alone in the place of all that leave `concept_ids`, or of all.

    They are always known, true at all times, and have no evidence.
    """
    connection.execute(
        "DELETE FROM concept_edges WHERE relation = %(inside)s"
        + ("" if concept_ids is None else " AND src_id = ANY(%(ids)s)"),
        {"inside": NAME_INSIDE, "ids": None if concept_ids is None else list(concept_ids)},
    )
    if not links:
        return
    connection.execute(
        "INSERT INTO concept_edges (scope, src_id, dst_id, relation, weight, recorded_at, evidence_memory_ids) "
        "SELECT c.scope, s, d, %s, %s, '-infinity', '{}' FROM unnest(%s::bigint[], %s::bigint[]) AS l (s, d) "
        "JOIN concepts c ON c.id = s",
        (NAME_INSIDE, weight, [source for source, _ in links], [target for _, target in links]),
    )


def sort_in_memory(connection: Connection[Any]) -> None:
    """Let the statements of this transaction, which read all of the graph, sort it in memory and not on disk."""
    connection.execute(
        "SELECT set_config('work_mem', %(most)s, true) "
        "WHERE pg_size_bytes(current_setting('work_mem')) < pg_size_bytes(%(most)s)",
        {"most": SORTED_IN},
    )


def analyse(connection: Connection[Any]) -> None:
    """Refresh the planner's statistics of the tables that are derived."""
    connection.execute("ANALYZE concepts, concept_edges, memory_concepts")


def named_edges(view: View, columns: str = "") -> str:
    """A statement, without its WHERE, for edges `e` with their ends `s` and `d` by name.

    A row is source, relation, target, weight, the four times, and the evidence in the order of the memories' ids. A
    link by names alone is recorded at -infinity, which Python's datetime does not have: it comes as None.
    """
    return (
        f"SELECT {columns}s.canonical_name, e.relation, d.canonical_name, e.weight, e.valid_from, e.valid_to, "
        "nullif(e.recorded_at, '-infinity'), e.retired_at, ARRAY(SELECT m.external_id "
        "FROM memories m WHERE m.id = ANY(e.evidence_memory_ids) AND "
        f"{View(view.scopes).memories('m')} ORDER BY m.id) "
        "FROM concept_edges e JOIN concepts s ON s.id = e.src_id JOIN concepts d ON d.id = e.dst_id"
    )


def visible(
    connection: Connection[Any],
    view: View,
    *,
    concept_ids: Sequence[int] | None = None,
    relation: str | None = None,
    limit: int | None = None,
) -> list[tuple[Any, ...]]:
    """Edges, all or some concepts', as `named_edges` gives them; the heaviest first."""
    return connection.execute(
        f"{named_edges(view)} WHERE {view.edges('e')} "
        "AND (%(relation)s::text IS NULL OR e.relation = %(relation)s) "
        "AND (%(concepts)s::bigint[] IS NULL OR e.src_id = ANY(%(concepts)s) OR e.dst_id = ANY(%(concepts)s)) "
        "ORDER BY e.relation = %(inside)s, e.weight DESC, 1, 2, 3, e.valid_from NULLS FIRST, e.id LIMIT %(limit)s",
        view.parameters(
            concepts=None if concept_ids is None else list(concept_ids),
            relation=relation,
            inside=NAME_INSIDE,
            limit=limit,
        ),
    ).fetchall()


def intervals(
    connection: Connection[Any], concept_ids: Sequence[int]
) -> dict[int, tuple[datetime | None, datetime | None]]:
    """When each known edge of these concepts holds, by its id."""
    rows = connection.execute(
        "SELECT id, valid_from, valid_to FROM concept_edges "
        "WHERE retired_at IS NULL AND (src_id = ANY(%(ids)s) OR dst_id = ANY(%(ids)s))",
        {"ids": list(concept_ids)},
    )
    return {row[0]: (row[1], row[2]) for row in rows}
