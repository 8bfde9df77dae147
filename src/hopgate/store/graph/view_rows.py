"""Rows for a picture of the graph: a concept's neighbours, ring by ring, and what lies between the concepts chosen."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.store.graph.visible import time_parameters, visible_edges

if TYPE_CHECKING:
    from psycopg import Connection


def largest(connection: Connection[Any], *, limit: int) -> list[int]:
    """The concepts that most memories talk about."""
    rows = connection.execute("SELECT id FROM concepts ORDER BY memory_count DESC, id LIMIT %s", (limit,))
    return [row[0] for row in rows]


def joined(
    connection: Connection[Any],
    concept_ids: Sequence[int],
    seen: Sequence[int],
    *,
    as_of: datetime | None,
    known_at: datetime | None,
    limit: int,
) -> tuple[list[int], int]:
    """Concepts that an edge joins to some of these, the heaviest first, less those seen; and how many there are."""
    shown = visible_edges(as_of, known_at)
    rows = connection.execute(
        "WITH near AS (SELECT other, sum(weight) AS weight FROM ("
        f"SELECT dst_id AS other, weight FROM concept_edges WHERE src_id = ANY(%(ids)s) AND {shown} UNION ALL "
        f"SELECT src_id, weight FROM concept_edges WHERE dst_id = ANY(%(ids)s) AND {shown}) AS e GROUP BY other) "
        # Joined and not compared: `<> ALL` of thousands, for every edge, takes a second and more.
        "SELECT other, count(*) OVER () FROM near LEFT JOIN unnest(%(seen)s::bigint[]) AS s (id) ON s.id = other "
        "WHERE s.id IS NULL ORDER BY weight DESC, other LIMIT %(limit)s",
        {**time_parameters(as_of, known_at), "ids": list(concept_ids), "seen": list(seen), "limit": limit},
    ).fetchall()
    return [row[0] for row in rows], rows[0][1] if rows else 0


def beside(connection: Connection[Any], concept_id: int, seen: Sequence[int], *, limit: int) -> list[int]:
    """Concepts that the same memories talk about, rare company first: a hub is in everybody's."""
    rows = connection.execute(
        "SELECT x.concept_id FROM memory_concepts mine JOIN memory_concepts x ON x.memory_id = mine.memory_id "
        "JOIN concepts c ON c.id = x.concept_id WHERE mine.concept_id = %s AND x.concept_id <> ALL(%s) "
        "GROUP BY x.concept_id, c.memory_count ORDER BY count(*) / sqrt(greatest(c.memory_count, 1)) DESC, 1 LIMIT %s",
        (concept_id, list(seen), limit),
    )
    return [row[0] for row in rows]


def concepts(connection: Connection[Any], concept_ids: Sequence[int]) -> list[tuple[Any, ...]]:
    """Concepts to draw: id, name, kind, how many memories, and when one last talked about it; in the order given."""
    return connection.execute(
        "SELECT c.id, c.canonical_name, c.kind, c.memory_count, t.last "
        "FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY AS g (id, place) JOIN concepts c ON c.id = g.id "
        "LEFT JOIN (SELECT x.concept_id, max(m.created_at) AS last FROM memory_concepts x "
        "JOIN memories m ON m.id = x.memory_id WHERE x.concept_id = ANY(%(ids)s) AND NOT m.is_sensitive GROUP BY 1) "
        "AS t ON t.concept_id = c.id ORDER BY g.place",
        {"ids": list(concept_ids)},
    ).fetchall()


def edges(
    connection: Connection[Any],
    concept_ids: Sequence[int],
    *,
    as_of: datetime | None,
    known_at: datetime | None,
    limit: int | None,
) -> tuple[list[tuple[int, int, str, float]], int]:
    """Edges between these concepts, the heaviest first, one row however many intervals; and how many there are.

    A row is source, target, relation and weight.
    """
    rows = connection.execute(
        "SELECT src_id, dst_id, relation, sum(weight)::float8, count(*) OVER () FROM concept_edges "
        f"WHERE src_id = ANY(%(ids)s) AND dst_id = ANY(%(ids)s) AND {visible_edges(as_of, known_at)} "
        "GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT %(limit)s",
        {**time_parameters(as_of, known_at), "ids": list(concept_ids), "limit": limit},
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


def all_pairs(connection: Connection[Any]) -> list[tuple[int, int, float]]:
    """Which concepts are joined by what is known now, with the edges' weights: for what lies between clusters."""
    return connection.execute(
        "SELECT src_id, dst_id, sum(weight)::float8 FROM concept_edges WHERE retired_at IS NULL GROUP BY 1, 2"
    ).fetchall()
