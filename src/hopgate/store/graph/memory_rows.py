"""What the graph holds of one memory: its mentions, facts, edges, neighbours, and what it took the place of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hopgate.store.graph.edge_rows import named_edges
from hopgate.store.graph.visible import View

if TYPE_CHECKING:
    from psycopg import Connection


# A hub's memories are no neighbours of each other, and reading them all would cost too much.
_NEIGHBOURS = """
SELECT m.external_id, array_agg(c.canonical_name ORDER BY c.memory_count, c.id)
FROM memory_concepts mine JOIN concepts c ON c.id = mine.concept_id AND c.memory_count < 1000
JOIN memory_concepts x ON x.concept_id = c.id AND x.memory_id <> mine.memory_id
JOIN memories m ON m.id = x.memory_id AND NOT m.is_sensitive AND m.superseded_at IS NULL
WHERE mine.memory_id = %s GROUP BY m.id, m.external_id
ORDER BY sum(1.0 / greatest(c.memory_count, 1)) DESC, m.id LIMIT %s
"""


def mentions(connection: Connection[Any], memory_id: int) -> list[tuple[str, str, str]]:
    """Names as they are spelt, the concepts they stand for, and their kinds."""
    return connection.execute(
        "SELECT m.spelling, c.canonical_name, coalesce(m.kind, c.kind, '') FROM mentions m "
        "JOIN concept_names n ON n.id = m.name_id JOIN concepts c ON c.id = n.concept_id "
        "WHERE m.memory_id = %s ORDER BY 2, 1",
        (memory_id,),
    ).fetchall()


def facts(connection: Connection[Any], memory_id: int) -> list[tuple[Any, ...]]:
    """Subject, relation, object, valid from and to, weight."""
    return connection.execute(
        "SELECT s.name, f.relation, o.name, f.valid_from, f.valid_to, f.weight FROM facts f "
        "JOIN concept_names s ON s.id = f.subject_id JOIN concept_names o ON o.id = f.object_id "
        "WHERE f.memory_id = %s ORDER BY f.id",
        (memory_id,),
    ).fetchall()


def edges(connection: Connection[Any], memory_id: int, *, limit: int) -> list[tuple[Any, ...]]:
    """The edges that it is evidence of now, as `edge_rows.visible` gives them, heaviest first."""
    return connection.execute(
        f"{named_edges(View())} WHERE e.evidence_memory_ids @> ARRAY[%(memory)s::bigint] AND e.retired_at IS NULL "
        "ORDER BY e.weight DESC, 1, 2, 3, e.id LIMIT %(limit)s",
        {"memory": memory_id, "limit": limit},
    ).fetchall()


def neighbours(connection: Connection[Any], memory_id: int, *, limit: int) -> list[tuple[str, list[str]]]:
    """Memories that talk about the same concepts, those with the rarest first, and which concepts these are."""
    return connection.execute(_NEIGHBOURS, (memory_id, limit)).fetchall()


def supersedes(connection: Connection[Any], memory_id: int) -> list[str]:
    """The external ids of the memories whose place it took."""
    rows = connection.execute("SELECT external_id FROM memories WHERE superseded_by = %s ORDER BY id", (memory_id,))
    return [row[0] for row in rows]
