"""The whole graph at once, for figures and exports; and what it holds of one memory."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.store.graph.edge_rows import NAME_INSIDE, named_edges
from hopgate.store.graph.visible import View, time_parameters, visible_edges, visible_memories

if TYPE_CHECKING:
    from psycopg import Connection


def counts(connection: Connection[Any]) -> dict[str, Any]:
    """Count the rows of every kind by name; sensitive memories are not counted."""
    cursor = connection.execute(
        "SELECT (SELECT version FROM graph_state) AS version, "
        "(SELECT count(*) FROM memories WHERE NOT is_sensitive) AS memories, "
        "(SELECT count(DISTINCT memory_id) FROM memory_concepts) AS linked_memories, "
        "(SELECT count(*) FROM concepts) AS concepts, (SELECT count(*) FROM concept_names) AS names, "
        "(SELECT count(*) FROM memory_concepts) AS mentions, "
        "count(*) FILTER (WHERE retired_at IS NULL AND relation <> %(inside)s) AS edges, "
        "count(*) FILTER (WHERE relation = %(inside)s) AS name_links, "
        "count(*) FILTER (WHERE retired_at IS NOT NULL) AS retired, "
        "(SELECT coalesce(round(avg(retired::int), 4), 0)::float8 FROM (SELECT bool_or(retired_at IS NOT NULL) "
        "AS retired FROM concept_edges WHERE relation <> %(inside)s GROUP BY src_id, relation, dst_id) AS f) "
        "AS invalidation_rate, "
        "(SELECT count(*) FROM journal WHERE action = 'merge' AND undone_at IS NULL) AS merges, "
        "(SELECT count(*) FROM concept_names n JOIN concept_names o ON o.id = n.ambiguous_with "
        "WHERE n.concept_id <> o.concept_id) AS ambiguous, "
        "(SELECT count(DISTINCT relation) FROM facts) AS raw_relations, "
        "count(DISTINCT relation) FILTER (WHERE relation <> %(inside)s) AS relations, "
        # Of those that are in the graph: many more are declared.
        "count(DISTINCT relation) FILTER (WHERE EXISTS (SELECT 1 FROM relations r WHERE r.scope = concept_edges.scope "
        "AND r.canonical = concept_edges.relation AND r.single_valued)) "
        "AS single_valued FROM concept_edges",
        {"inside": NAME_INSIDE},
    )
    row, columns = cursor.fetchone(), cursor.description
    assert row is not None and columns is not None
    return {column.name: value for column, value in zip(columns, row, strict=True)}


def kinds(connection: Connection[Any]) -> list[tuple[str, int]]:
    """How many concepts are of each kind; "" where no kind is known."""
    return connection.execute("SELECT coalesce(kind, ''), count(*) FROM concepts GROUP BY 1").fetchall()


def relations(connection: Connection[Any]) -> list[tuple[str, int]]:
    """How many edges each relation has now."""
    return connection.execute(
        "SELECT relation, count(*) FROM concept_edges WHERE retired_at IS NULL AND relation <> %s GROUP BY 1",
        (NAME_INSIDE,),
    ).fetchall()


def concepts(connection: Connection[Any]) -> list[tuple[Any, ...]]:
    """Every concept: id, name, aliases, kind, how many memories."""
    return connection.execute(
        "SELECT id, canonical_name, aliases, kind, memory_count FROM concepts ORDER BY id"
    ).fetchall()


def edges(connection: Connection[Any], *, as_of: datetime | None, known_at: datetime | None) -> list[tuple[Any, ...]]:
    """Edges: source, target, relation, weight, valid from and to, recorded at, evidence by external id."""
    return connection.execute(
        "SELECT src_id, dst_id, relation, weight, valid_from, valid_to, nullif(recorded_at, '-infinity'), "
        "ARRAY(SELECT m.external_id FROM memories m WHERE m.id = ANY(evidence_memory_ids) "
        f"AND NOT m.is_sensitive ORDER BY m.id) FROM concept_edges WHERE {visible_edges(as_of, known_at)} ORDER BY id",
        time_parameters(as_of, known_at),
    ).fetchall()


def facts(connection: Connection[Any]) -> list[tuple[Any, ...]]:
    """Every fact: memory, subject, relation, object, valid from and to, weight."""
    return connection.execute(
        "SELECT m.external_id, s.name, f.relation, o.name, f.valid_from, f.valid_to, f.weight "
        "FROM facts f JOIN memories m ON m.id = f.memory_id AND NOT m.is_sensitive "
        "JOIN concept_names s ON s.id = f.subject_id JOIN concept_names o ON o.id = f.object_id "
        # What two memories tell together is told by neither where it is replayed.
        "WHERE f.read_with IS NULL ORDER BY m.id, f.id"
    ).fetchall()


def spellings(connection: Connection[Any]) -> list[tuple[str, str, str | None]]:
    """Every mention: memory, the name as it is spelt there, and its kind."""
    return connection.execute(
        "SELECT m.external_id, x.spelling, x.kind FROM mentions x "
        "JOIN memories m ON m.id = x.memory_id AND NOT m.is_sensitive ORDER BY m.id, x.name_id"
    ).fetchall()


def mentions(connection: Connection[Any], *, known_at: datetime | None) -> list[tuple[Any, ...]]:
    """Which memory talks about which concept: external id, concept, as what, how much."""
    return connection.execute(
        "SELECT m.external_id, x.concept_id, x.relation, x.weight FROM memory_concepts x "
        f"JOIN (SELECT * FROM memories WHERE {visible_memories(known_at, superseded=True)}) AS m ON m.id = x.memory_id "
        "ORDER BY m.id, x.concept_id",
        time_parameters(None, known_at),
    ).fetchall()


# A hub's memories are no neighbours of each other, and reading them all would cost too much.
_NEIGHBOURS = """
SELECT m.external_id, array_agg(c.canonical_name ORDER BY c.memory_count, c.id)
FROM memory_concepts mine JOIN concepts c ON c.id = mine.concept_id AND c.memory_count < 1000
JOIN memory_concepts x ON x.concept_id = c.id AND x.memory_id <> mine.memory_id
JOIN memories m ON m.id = x.memory_id AND NOT m.is_sensitive AND m.superseded_at IS NULL
WHERE mine.memory_id = %s GROUP BY m.id, m.external_id
ORDER BY sum(1.0 / greatest(c.memory_count, 1)) DESC, m.id LIMIT %s
"""


def memory_mentions(connection: Connection[Any], memory_id: int) -> list[tuple[str, str, str]]:
    """Names as they are spelt, the concepts they stand for, and their kinds."""
    return connection.execute(
        "SELECT m.spelling, c.canonical_name, coalesce(m.kind, c.kind, '') FROM mentions m "
        "JOIN concept_names n ON n.id = m.name_id JOIN concepts c ON c.id = n.concept_id "
        "WHERE m.memory_id = %s ORDER BY 2, 1",
        (memory_id,),
    ).fetchall()


def memory_facts(connection: Connection[Any], memory_id: int) -> list[tuple[Any, ...]]:
    """Subject, relation, object, valid from and to, weight."""
    return connection.execute(
        "SELECT s.name, f.relation, o.name, f.valid_from, f.valid_to, f.weight FROM facts f "
        "JOIN concept_names s ON s.id = f.subject_id JOIN concept_names o ON o.id = f.object_id "
        "WHERE f.memory_id = %s ORDER BY f.id",
        (memory_id,),
    ).fetchall()


def memory_edges(connection: Connection[Any], memory_id: int, *, limit: int) -> list[tuple[Any, ...]]:
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
