"""What some memories alone say: their names, their facts and which concepts they talk about, by no one else's words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.store import vectors
from hopgate.store.graph.edge_rows import NAME_INSIDE
from hopgate.store.graph.visible import time_parameters, visible_memories

if TYPE_CHECKING:
    from psycopg import Connection


class OwnName(NamedTuple):
    """A name as these memories have it: the first spelling and kind, how many mention it, and which did first.

    None mentions one that only a fact points at which two of them tell together.
    """

    concept_id: int
    normal: str
    name: str
    kind: str | None
    uses: int
    first: int
    id: int


class OwnFact(NamedTuple):
    """A fact of one of these memories, as it was worded and by its names' ids; of weight 0 or less if tentative."""

    memory_id: int
    subject_id: int
    raw: str
    object_id: int
    weight: float
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    id: int
    joint: bool = False


class OwnRelation(NamedTuple):
    """What the store knows of a wording: which relation it means, and whether that has one object at a time.

    `declared` where somebody said so of this very wording, and not of one that means the same. `tentative` where one of
    these memories has a tentative fact of it, `joint` where they have it in nothing but what two tell together.
    """

    canonical: str
    single_valued: bool
    declared: bool
    tentative: bool
    joint: bool = False


def names(connection: Connection[Any], memory_ids: Sequence[int]) -> list[OwnName]:
    """The names that memories mention, in the order in which they first do."""
    rows = connection.execute(
        "SELECT n.concept_id, n.normal_name, (array_agg(x.spelling ORDER BY x.silent, x.memory_id))[1], "
        "(array_agg(x.kind ORDER BY x.memory_id) FILTER (WHERE x.kind IS NOT NULL))[1], "
        "(count(*) FILTER (WHERE NOT x.silent))::integer, "
        "coalesce(min(x.memory_id) FILTER (WHERE NOT x.silent), min(x.memory_id)) AS first, n.id "
        "FROM mentions x JOIN concept_names n ON n.id = x.name_id "
        'WHERE x.memory_id = ANY(%s) GROUP BY n.id ORDER BY first, n.normal_name COLLATE "C"',
        (list(memory_ids),),
    )
    return [OwnName(*row) for row in rows]


_FACTS = (
    "SELECT f.memory_id, f.subject_id, f.relation, f.object_id, f.weight, f.valid_from, f.valid_to, f.recorded_at, "
    "f.id, f.joint FROM facts f "
)


def facts(connection: Connection[Any], memory_ids: Sequence[int]) -> list[OwnFact]:
    """The facts that memories state, in the order in which they became known."""
    rows = connection.execute(
        _FACTS + "WHERE f.memory_id = ANY(%s) AND f.weight > 0 ORDER BY f.recorded_at, f.memory_id, f.id",
        (list(memory_ids),),
    )
    return list(map(OwnFact._make, rows.fetchall()))


def tentative_facts(
    connection: Connection[Any], memory_ids: Sequence[int], wanted: Iterable[tuple[int, str]]
) -> list[OwnFact]:
    """The tentative facts that memories have of these subjects (a name) and wordings; of most nothing can follow."""
    pairs = list(wanted)
    if not pairs:
        return []
    rows = connection.execute(
        _FACTS + "JOIN unnest(%s::bigint[], %s::text[]) AS p (subject, raw) "
        "ON p.subject = f.subject_id AND p.raw = f.relation WHERE f.weight <= 0 AND f.memory_id = ANY(%s)",
        ([subject for subject, _ in pairs], [raw for _, raw in pairs], list(memory_ids)),
    )
    return list(map(OwnFact._make, rows.fetchall()))


def relations(connection: Connection[Any], memory_ids: Sequence[int]) -> dict[str, OwnRelation]:
    """The wordings that memories' facts have, tentative ones too, in the order of their letters."""
    rows = connection.execute(
        "SELECT r.raw, r.canonical, r.single_valued, r.declared, f.tentative, f.joint FROM relations r JOIN "
        "(SELECT relation, bool_or(weight <= 0) AS tentative, bool_and(joint) AS joint FROM facts "
        "WHERE memory_id = ANY(%s) GROUP BY 1) AS f "
        'ON f.relation = r.raw ORDER BY r.raw COLLATE "C"',
        (list(memory_ids),),
    )
    return {row[0]: OwnRelation(*row[1:]) for row in rows}


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


def mentions(connection: Connection[Any], memory_ids: Sequence[int]) -> list[tuple[int, int]]:
    """Which of these memories mentions which name, in the order of memories."""
    return connection.execute(
        "SELECT memory_id, name_id FROM mentions WHERE memory_id = ANY(%s) AND NOT silent ORDER BY 1, 2",
        (list(memory_ids),),
    ).fetchall()


def made(connection: Connection[Any], memory_ids: Sequence[int]) -> dict[int, datetime]:
    """When each of these memories was made, where that is known."""
    rows = connection.execute(
        "SELECT id, created_at FROM memories WHERE id = ANY(%s) AND created_at IS NOT NULL", (list(memory_ids),)
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


def scope_by_memory(connection: Connection[Any], memory_ids: Iterable[int]) -> dict[int, str | None]:
    """The scope of each memory."""
    rows = connection.execute("SELECT id, scope FROM memories WHERE id = ANY(%s)", (list(memory_ids),))
    return dict(rows.fetchall())


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
        "AND m.scope IS NOT DISTINCT FROM %(scope)s AND NOT x.silent AND NOT EXISTS (SELECT 1 FROM mentions o "
        "JOIN memories p ON p.id = o.memory_id WHERE o.name_id = x.name_id AND o.memory_id <> ALL(%(ids)s) "
        "AND NOT o.silent "
        "AND p.scope IS NOT DISTINCT FROM %(scope)s) GROUP BY x.name_id ORDER BY x.name_id",
        {"names": list(name_ids), "ids": list(memory_ids), "scope": scope},
    )
    return [(row[0], row[1], row[2]) for row in rows]


def known_names(connection: Connection[Any], normals: Sequence[str], scope: str | None) -> list[OwnName]:
    """Names by their normal forms, as the memories of one scope have them."""
    rows = connection.execute(
        "SELECT n.concept_id, n.normal_name, (array_agg(x.spelling ORDER BY x.memory_id))[1], "
        "(array_agg(x.kind ORDER BY x.memory_id) FILTER (WHERE x.kind IS NOT NULL))[1], count(*)::integer, "
        "min(x.memory_id), n.id FROM concept_names n JOIN mentions x ON x.name_id = n.id AND NOT x.silent "
        "JOIN memories m ON m.id = x.memory_id AND m.scope IS NOT DISTINCT FROM %s "
        "WHERE n.normal_name = ANY(%s) GROUP BY n.id ORDER BY n.normal_name",
        (scope, list(normals)),
    )
    return [OwnName(*row) for row in rows]
