"""Rows for a picture of the graph: a concept's neighbours, ring by ring, and what lies between the concepts chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hopgate.store.graph.visible import View

if TYPE_CHECKING:
    from psycopg import Connection


def largest(connection: Connection[Any], view: View, *, limit: int) -> tuple[list[int], int]:
    """The concepts that most memories talk about; and how many there are."""
    rows = connection.execute(
        f"SELECT id, count(*) OVER () FROM concepts WHERE {view.concepts()} "
        "ORDER BY memory_count DESC, id LIMIT %(limit)s",
        view.parameters(limit=limit),
    ).fetchall()
    return [row[0] for row in rows], rows[0][1] if rows else 0


def known(connection: Connection[Any], view: View, concept_ids: Sequence[int]) -> list[int]:
    """Those of the concepts that are looked at, in the order given."""
    rows = connection.execute(
        f"SELECT id FROM concepts WHERE id = ANY(%(ids)s) AND {view.concepts()}",
        view.parameters(ids=list(concept_ids)),
    )
    there = {row[0] for row in rows}
    return [key for key in concept_ids if key in there]


def joined(
    connection: Connection[Any], view: View, concept_ids: Sequence[int], seen: Sequence[int], *, limit: int
) -> tuple[list[int], int]:
    """Concepts that an edge joins to some of these, the heaviest first, less those seen; and how many there are."""
    rows = connection.execute(
        "WITH near AS (SELECT other, sum(weight) AS weight FROM ("
        f"SELECT e.dst_id AS other, e.weight FROM concept_edges e WHERE e.src_id = ANY(%(ids)s) AND {view.edges('e')} "
        f"UNION ALL SELECT e.src_id, e.weight FROM concept_edges e WHERE e.dst_id = ANY(%(ids)s) AND {view.edges('e')}"
        ") AS e GROUP BY other) "
        # Joined and not compared: `<> ALL` of thousands, for every edge, takes a second and more.
        "SELECT other, count(*) OVER () FROM near LEFT JOIN unnest(%(seen)s::bigint[]) AS s (id) ON s.id = other "
        "WHERE s.id IS NULL ORDER BY weight DESC, other LIMIT %(limit)s",
        view.parameters(ids=list(concept_ids), seen=list(seen), limit=limit),
    ).fetchall()
    return [row[0] for row in rows], rows[0][1] if rows else 0


def beside(connection: Connection[Any], view: View, concept_id: int, seen: Sequence[int], *, limit: int) -> list[int]:
    """Concepts that the same memories talk about, rare company first: a hub is in everybody's."""
    rows = connection.execute(
        "SELECT x.concept_id FROM memory_concepts mine JOIN memory_concepts x ON x.memory_id = mine.memory_id "
        "JOIN concepts c ON c.id = x.concept_id WHERE mine.concept_id = %(concept)s AND x.concept_id <> ALL(%(seen)s) "
        f"AND {view.concepts('c')} GROUP BY x.concept_id, c.memory_count "
        "ORDER BY count(*) / sqrt(greatest(c.memory_count, 1)) DESC, 1 LIMIT %(limit)s",
        view.parameters(concept=concept_id, seen=list(seen), limit=limit),
    )
    return [row[0] for row in rows]


def concepts(connection: Connection[Any], view: View, concept_ids: Sequence[int]) -> list[tuple[Any, ...]]:
    """Concepts to draw: id, name, kind, how many memories, and when one last talked about it; in the order given."""
    return connection.execute(
        "SELECT c.id, c.canonical_name, c.kind, c.memory_count, t.last "
        "FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY AS g (id, place) JOIN concepts c ON c.id = g.id "
        "LEFT JOIN (SELECT x.concept_id, max(m.created_at) AS last FROM memory_concepts x "
        f"JOIN memories m ON m.id = x.memory_id WHERE x.concept_id = ANY(%(ids)s) AND {view.memories('m')} GROUP BY 1) "
        "AS t ON t.concept_id = c.id ORDER BY g.place",
        view.parameters(ids=list(concept_ids)),
    ).fetchall()


def edges(
    connection: Connection[Any], view: View, concept_ids: Sequence[int], *, limit: int | None
) -> tuple[list[tuple[int, int, str, float]], int]:
    """Edges between these concepts, the heaviest first, one row however many intervals; and how many there are.

    A row is source, target, relation and weight.
    """
    rows = connection.execute(
        "SELECT e.src_id, e.dst_id, e.relation, sum(e.weight)::float8, count(*) OVER () FROM concept_edges e "
        f"WHERE e.src_id = ANY(%(ids)s) AND e.dst_id = ANY(%(ids)s) AND {view.edges('e')} "
        "GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT %(limit)s",
        view.parameters(ids=list(concept_ids), limit=limit),
    ).fetchall()
    return [(row[0], row[1], row[2], row[3]) for row in rows], rows[0][4] if rows else 0


def together(
    connection: Connection[Any], concept_ids: Sequence[int], *, limit: int | None = None
) -> list[tuple[int, int, float]]:
    """Pairs of these concepts that the same memories talk about, with how many, the most first."""
    return connection.execute(
        "SELECT a.concept_id, b.concept_id, count(*)::float8 FROM memory_concepts a JOIN memory_concepts b "
        "ON b.memory_id = a.memory_id AND b.concept_id > a.concept_id WHERE a.concept_id = ANY(%(ids)s) "
        "AND b.concept_id = ANY(%(ids)s) GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT %(limit)s",
        {"ids": list(concept_ids), "limit": limit},
    ).fetchall()


def all_pairs(connection: Connection[Any], view: View) -> list[tuple[int, int, float]]:
    """Which concepts are joined by what is known now, with the edges' weights: for what lies between clusters."""
    return connection.execute(
        f"SELECT src_id, dst_id, sum(weight)::float8 FROM concept_edges WHERE {view.edges()} GROUP BY 1, 2",
        view.parameters(),
    ).fetchall()
