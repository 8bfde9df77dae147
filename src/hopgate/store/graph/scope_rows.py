"""What some memories alone say: their names, their facts and which concepts they talk about, by no one else's words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.store import vectors
from hopgate.store.graph.edge_rows import NAME_INSIDE
from hopgate.store.graph.fact_rows import CanonicalFact
from hopgate.store.graph.visible import time_parameters, visible_memories

if TYPE_CHECKING:
    from psycopg import Connection


class OwnName(NamedTuple):
    """A name as these memories have it: the first spelling and kind, how many mention it, and which did first."""

    concept_id: int
    normal: str
    name: str
    kind: str | None
    uses: int
    first: int


class OwnFact(NamedTuple):
    """A fact of one of these memories, as it was worded, and whether its relation has one object at a time."""

    fact: CanonicalFact
    raw: str
    single_valued: bool


def names(connection: Connection[Any], memory_ids: Sequence[int]) -> list[OwnName]:
    """The names that memories mention, in the order in which they first do."""
    rows = connection.execute(
        "SELECT n.concept_id, n.normal_name, (array_agg(x.spelling ORDER BY x.memory_id))[1], "
        "(array_agg(x.kind ORDER BY x.memory_id) FILTER (WHERE x.kind IS NOT NULL))[1], count(*)::integer, "
        "min(x.memory_id) AS first FROM mentions x JOIN concept_names n ON n.id = x.name_id "
        'WHERE x.memory_id = ANY(%s) GROUP BY n.id ORDER BY first, n.normal_name COLLATE "C"',
        (list(memory_ids),),
    )
    return [OwnName(*row) for row in rows]


def facts(connection: Connection[Any], memory_ids: Sequence[int]) -> list[OwnFact]:
    """The facts that memories state, in the order in which they became known."""
    rows = connection.execute(
        "SELECT s.concept_id, r.canonical, o.concept_id, f.weight, f.valid_from, f.valid_to, f.recorded_at, "
        "f.memory_id, f.relation, r.single_valued FROM facts f JOIN concept_names s ON s.id = f.subject_id "
        "JOIN concept_names o ON o.id = f.object_id JOIN relations r ON r.raw = f.relation "
        "WHERE f.memory_id = ANY(%s) ORDER BY f.recorded_at, f.memory_id, f.id",
        (list(memory_ids),),
    )
    return [OwnFact(CanonicalFact(*row[:8]), row[8], row[9]) for row in rows]


def edge_ids(connection: Connection[Any], memory_ids: Sequence[int]) -> dict[tuple[int, str, int], int]:
    """The row of `concept_edges` with the vector of each (source, relation, target) that memories are evidence of."""
    embedded = "embedding IS NULL, " if vectors.space(connection) is not None else ""
    rows = connection.execute(
        "SELECT DISTINCT ON (src_id, relation, dst_id) src_id, relation, dst_id, id FROM concept_edges "
        "WHERE evidence_memory_ids && %s::bigint[] AND relation <> %s "
        f"ORDER BY src_id, relation, dst_id, {embedded}retired_at IS NOT NULL, id",
        (list(memory_ids), NAME_INSIDE),
    )
    return {(row[0], row[1], row[2]): row[3] for row in rows}


def memory_counts(connection: Connection[Any], memory_ids: Sequence[int]) -> dict[int, int]:
    """How many of these memories talk about each concept."""
    rows = connection.execute(
        "SELECT concept_id, count(*)::integer FROM memory_concepts WHERE memory_id = ANY(%s) GROUP BY 1",
        (list(memory_ids),),
    )
    return dict(rows.fetchall())


def company(connection: Connection[Any], concept_id: int, memory_ids: Sequence[int]) -> dict[int, int]:
    """The concepts that those of these memories talk about that talk about one, with how many do."""
    rows = connection.execute(
        "SELECT x.concept_id, count(*)::integer FROM memory_concepts mine JOIN memory_concepts x "
        "ON x.memory_id = mine.memory_id AND x.concept_id <> mine.concept_id "
        "WHERE mine.concept_id = %s AND mine.memory_id = ANY(%s) GROUP BY 1",
        (concept_id, list(memory_ids)),
    )
    return dict(rows.fetchall())


def last_memories(connection: Connection[Any], memory_ids: Sequence[int]) -> dict[int, datetime]:
    """When the last of these memories that talks about a concept was made."""
    rows = connection.execute(
        "SELECT x.concept_id, max(m.created_at) FROM memory_concepts x JOIN memories m ON m.id = x.memory_id "
        "WHERE m.id = ANY(%s) AND m.created_at IS NOT NULL GROUP BY 1",
        (list(memory_ids),),
    )
    return dict(rows.fetchall())


def memories_of_scopes(
    connection: Connection[Any], scopes: Sequence[str], known_at: datetime | None, *, superseded: bool = True
) -> list[int]:
    """The memories of some scopes that models may read, in the order of arrival; those made later are not known."""
    visible = visible_memories(known_at, superseded=superseded)
    rows = connection.execute(
        f"SELECT id FROM memories WHERE scope = ANY(%(scopes)s) AND {visible} ORDER BY id",
        {**time_parameters(None, known_at), "scopes": list(scopes)},
    )
    return [row[0] for row in rows]


def any_in(
    connection: Connection[Any], scopes: Sequence[str], memory_ids: Sequence[int], edge_ids: Sequence[int]
) -> bool:
    """Whether one of the memories is of these scopes, or one of the edges has evidence that is."""
    row = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM memories WHERE id = ANY(%(memories)s) AND scope = ANY(%(scopes)s)) OR EXISTS ("
        "SELECT 1 FROM concept_edges e JOIN memories m ON m.id = ANY(e.evidence_memory_ids) "
        "WHERE e.id = ANY(%(edges)s) AND m.scope = ANY(%(scopes)s))",
        {"scopes": list(scopes), "memories": list(memory_ids), "edges": list(edge_ids)},
    ).fetchone()
    return bool(row and row[0])


def scopes_of(connection: Connection[Any], memory_ids: Sequence[int]) -> list[str | None]:
    """The scopes that memories have, in the order in which they first do."""
    rows = connection.execute(
        "SELECT scope FROM memories WHERE id = ANY(%s) GROUP BY scope ORDER BY min(id)", (list(memory_ids),)
    )
    return [row[0] for row in rows]


def first_named(
    connection: Connection[Any], name_ids: Sequence[int], memory_ids: Sequence[int], scope: str | None
) -> list[tuple[int, str, str]]:
    """Those of the names that no other memory of the scope mentions: id, and spelling and kind in these memories."""
    rows = connection.execute(
        "SELECT x.name_id, (array_agg(x.spelling ORDER BY x.memory_id))[1], "
        "coalesce((array_agg(x.kind ORDER BY x.memory_id) FILTER (WHERE x.kind IS NOT NULL))[1], '') FROM mentions x "
        "JOIN memories m ON m.id = x.memory_id WHERE x.name_id = ANY(%(names)s) AND x.memory_id = ANY(%(ids)s) "
        "AND m.scope IS NOT DISTINCT FROM %(scope)s AND NOT EXISTS (SELECT 1 FROM mentions o "
        "JOIN memories p ON p.id = o.memory_id WHERE o.name_id = x.name_id AND o.memory_id <> ALL(%(ids)s) "
        "AND p.scope IS NOT DISTINCT FROM %(scope)s) GROUP BY x.name_id ORDER BY x.name_id",
        {"names": list(name_ids), "ids": list(memory_ids), "scope": scope},
    )
    return [(row[0], row[1], row[2]) for row in rows]


def known_names(connection: Connection[Any], normals: Sequence[str], scope: str | None) -> list[OwnName]:
    """Names by their normal forms, as the memories of one scope have them."""
    rows = connection.execute(
        "SELECT n.concept_id, n.normal_name, (array_agg(x.spelling ORDER BY x.memory_id))[1], "
        "(array_agg(x.kind ORDER BY x.memory_id) FILTER (WHERE x.kind IS NOT NULL))[1], count(*)::integer, "
        "min(x.memory_id) FROM concept_names n JOIN mentions x ON x.name_id = n.id "
        "JOIN memories m ON m.id = x.memory_id AND m.scope IS NOT DISTINCT FROM %s "
        "WHERE n.normal_name = ANY(%s) GROUP BY n.id ORDER BY n.normal_name",
        (scope, list(normals)),
    )
    return [OwnName(*row) for row in rows]
