"""Edges to look at."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hopgate.store.graph.arrays import visible_edges
from hopgate.store.graph.edge_rows import NAME_INSIDE

if TYPE_CHECKING:
    from psycopg import Connection


def standing(
    connection: Connection[Any],
    *,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    concept_id: int | None = None,
    limit: int | None = None,
) -> list[tuple[Any, ...]]:
    """Edges by names: source, relation, target, weight, the four times, evidence; the heaviest first.

    An edge by names alone is always known, which PostgreSQL writes as -infinity and Python cannot: no time.
    """
    times = {"as_of": _zoned(as_of), "known_at": _zoned(known_at)}
    return connection.execute(
        "SELECT s.canonical_name, e.relation, d.canonical_name, e.weight, e.valid_from, e.valid_to, "
        "nullif(e.recorded_at, '-infinity'), e.retired_at, "
        "(SELECT coalesce(array_agg(coalesce(m.external_id, m.id::text) ORDER BY m.id), '{}') FROM memories m "
        "WHERE m.id = ANY(e.evidence_memory_ids) AND NOT m.is_sensitive) "
        "FROM (SELECT * FROM concept_edges WHERE "
        f"{visible_edges(as_of, known_at)} AND "
        "(%(concept)s::bigint IS NULL OR src_id = %(concept)s OR dst_id = %(concept)s)) AS e "
        "JOIN concepts s ON s.id = e.src_id JOIN concepts d ON d.id = e.dst_id "
        "ORDER BY e.relation = %(inside)s, e.weight DESC, 1, 2, 3, e.valid_from NULLS FIRST, e.id LIMIT %(limit)s",
        {**times, "concept": concept_id, "inside": NAME_INSIDE, "limit": limit},
    ).fetchall()


def _zoned(moment: datetime | None) -> datetime | None:
    """A time without a zone is UTC, whatever zone the server's session is in."""
    return moment if moment is None or moment.tzinfo else moment.replace(tzinfo=UTC)
