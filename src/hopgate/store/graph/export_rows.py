"""The graph's rows by id, for export."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.store.graph.arrays import visible_edges, visible_memories

if TYPE_CHECKING:
    from psycopg import Connection


def concepts(connection: Connection[Any]) -> list[tuple[Any, ...]]:
    """Every concept: id, name, aliases, kind, how many memories."""
    return connection.execute(
        "SELECT id, canonical_name, aliases, kind, memory_count FROM concepts ORDER BY id"
    ).fetchall()


def edges(connection: Connection[Any], *, as_of: datetime | None, known_at: datetime | None) -> list[tuple[Any, ...]]:
    """Edges: source, target, relation, weight, valid from and to, recorded at, evidence by external id."""
    return connection.execute(
        "SELECT src_id, dst_id, relation, weight, valid_from, valid_to, nullif(recorded_at, '-infinity'), "
        "ARRAY(SELECT coalesce(m.external_id, m.id::text) FROM memories m WHERE m.id = ANY(evidence_memory_ids) "
        f"AND NOT m.is_sensitive ORDER BY m.id) FROM concept_edges WHERE {visible_edges(as_of, known_at)} ORDER BY id",
        {"as_of": as_of, "known_at": known_at},
    ).fetchall()


def mentions(connection: Connection[Any], *, known_at: datetime | None) -> list[tuple[Any, ...]]:
    """Which memory talks about which concept: external id, concept, as what, how much."""
    return connection.execute(
        "SELECT coalesce(m.external_id, m.id::text), x.concept_id, x.relation, x.weight FROM memory_concepts x "
        f"JOIN (SELECT * FROM memories WHERE {visible_memories(known_at, superseded=True)}) AS m ON m.id = x.memory_id "
        "ORDER BY m.id, x.concept_id",
        {"known_at": known_at},
    ).fetchall()
