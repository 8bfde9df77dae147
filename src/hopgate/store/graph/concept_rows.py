"""Concepts: one, many, which memories talk about which, and names that were left undecided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.store.graph.edge_rows import NAME_INSIDE
from hopgate.store.graph.visible import View

if TYPE_CHECKING:
    from psycopg import Connection


@dataclass(frozen=True, slots=True)
class Concept:
    """A canonical node of a scope, "" for memories without one, with its aliases."""

    id: int
    name: str
    aliases: tuple[str, ...]
    kind: str | None
    memory_count: int
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A name that resolution left apart from its near neighbour, for a person or a model to decide."""

    name: str
    concept_id: int
    near: str
    score: float
    scope: str = ""


_CONCEPT = "SELECT id, canonical_name, aliases, kind, memory_count, scope FROM concepts"
_ANY = View()


def get(connection: Connection[Any], concept_id: int, view: View = _ANY) -> Concept:
    """One concept by id; an unknown id, or one of another scope, is refused."""
    row = connection.execute(
        f"{_CONCEPT} WHERE id = %(id)s AND {view.concepts()}", view.parameters(id=concept_id)
    ).fetchone()
    if row is None:
        raise HopgateError(f"there is no concept {concept_id}: hopgate concepts list shows them")
    return _concept(row)


def find(connection: Connection[Any], normal_name: str, shown: str, view: View = _ANY) -> Concept:
    """The concept that a name belongs to, where several scopes have it that of most memories."""
    return get(connection, find_all(connection, normal_name, shown, view)[0])


def find_all(connection: Connection[Any], normal_name: str, shown: str, view: View = _ANY) -> list[int]:
    """The concepts that a name belongs to, one a scope, that of most memories first; an unknown name is refused."""
    rows = connection.execute(
        "SELECT id FROM concepts WHERE id IN (SELECT concept_id FROM concept_names WHERE normal_name = %(name)s) "
        f"AND {view.concepts()} ORDER BY memory_count DESC, id",
        view.parameters(name=normal_name),
    ).fetchall()
    if not rows:
        where = " in this scope: hopgate concepts list --scope NAME shows them"
        raise HopgateError(
            f"there is no concept {shown!r}{where if view.scopes else ': hopgate concepts list shows them'}"
        )
    return [row[0] for row in rows]


def pairs(connection: Connection[Any], normal_name: str, other: str, scope: str | None) -> list[tuple[int, int]]:
    """The concepts of two names in each scope that has both, or in this one."""
    return connection.execute(
        "SELECT n.concept_id, o.concept_id FROM concept_names n JOIN concept_names o ON o.scope = n.scope "
        "WHERE n.normal_name = %(name)s AND o.normal_name = %(other)s "
        "AND (%(scope)s::text IS NULL OR n.scope = %(scope)s) ORDER BY n.scope",
        {"name": normal_name, "other": other, "scope": scope},
    ).fetchall()


def listed(
    connection: Connection[Any],
    view: View = _ANY,
    *,
    kind: str | None = None,
    search: str | None = None,
    limit: int | None = 50,
    offset: int = 0,
) -> list[Concept]:
    """Concepts by how many memories talk about them.

    Parameters
    ----------
    view : View
        With an as-of only concepts with an edge that was true then; with a known-at memories made later do not count.
    search : str, optional
        Only concepts with a name that holds this text, in any case.
    """
    count, source = "c.memory_count", "concepts c"
    if view.known_at is not None or (view.shared and view.scopes is not None):
        count = "n.known"
        source += (
            " JOIN (SELECT concept_id, count(*)::integer AS known FROM memory_concepts x JOIN memories m "
            f"ON m.id = x.memory_id WHERE {view.memories('m')} GROUP BY concept_id) AS n ON n.concept_id = c.id"
        )
    conditions = f"(%(kind)s::text IS NULL OR c.kind = %(kind)s) AND {view.concepts('c')}"
    if search:
        conditions += (
            " AND EXISTS (SELECT 1 FROM unnest(c.aliases || c.canonical_name) AS a (name) "
            "WHERE strpos(lower(a.name), lower(%(search)s)) > 0)"
        )
    if view.as_of is not None:
        conditions += (
            " AND EXISTS (SELECT 1 FROM concept_edges e WHERE (e.src_id = c.id OR e.dst_id = c.id) "
            f"AND e.relation <> %(inside)s AND {view.edges('e')})"
        )
    rows = connection.execute(
        f"SELECT c.id, c.canonical_name, c.aliases, c.kind, {count}, c.scope FROM {source} WHERE {conditions} "
        f"ORDER BY {count} DESC, c.id LIMIT %(limit)s OFFSET %(offset)s",
        view.parameters(kind=kind, search=search, limit=limit, offset=offset, inside=NAME_INSIDE),
    )
    return [_concept(row) for row in rows]


def memories_about(connection: Connection[Any], concept_id: int, view: View, *, limit: int = 20) -> list[str]:
    """The memories that talk about a concept, by external id, the newest first; never a sensitive one."""
    rows = connection.execute(
        "SELECT m.external_id FROM memories m "
        "WHERE m.id IN (SELECT memory_id FROM memory_concepts WHERE concept_id = %(concept)s) "
        f"AND {view.memories('m')} ORDER BY m.created_at DESC, m.id LIMIT %(limit)s",
        view.parameters(concept=concept_id, limit=limit),
    )
    return [row[0] for row in rows]


def ambiguous(connection: Connection[Any], *, limit: int = 50) -> list[Ambiguous]:
    """Names left undecided, the most alike first."""
    rows = connection.execute(
        "SELECT n.name, n.concept_id, o.name, n.ambiguous_score, n.scope FROM concept_names n "
        "JOIN concept_names o ON o.id = n.ambiguous_with WHERE n.concept_id <> o.concept_id "
        "ORDER BY n.ambiguous_score DESC, n.id LIMIT %s",
        (limit,),
    )
    return [Ambiguous(*row) for row in rows]


def mark_ambiguous(connection: Connection[Any], name_id: int, near_id: int, score: float) -> None:
    """Note that a name may be the same as another."""
    connection.execute(
        "UPDATE concept_names SET ambiguous_with = %s, ambiguous_score = %s WHERE id = %s", (near_id, score, name_id)
    )


def undecided(connection: Connection[Any], name: str) -> tuple[int, int, float] | None:
    """The id of a name that was left undecided, that of the one it resembles, and how alike they are."""
    return connection.execute(
        "SELECT n.id, n.ambiguous_with, n.ambiguous_score FROM concept_names n JOIN concept_names o "
        "ON o.id = n.ambiguous_with WHERE n.name = %s AND n.concept_id <> o.concept_id",
        (name,),
    ).fetchone()


def decide(connection: Connection[Any], name_id: int) -> None:
    """Note that one name is decided: it stays apart from the one it resembled."""
    connection.execute(
        "UPDATE concept_names SET ambiguous_with = NULL, ambiguous_score = NULL WHERE id = %s", (name_id,)
    )


def settle(connection: Connection[Any], concept_id: int) -> None:
    """Note that a concept's names are decided: they stay apart from those they resembled."""
    connection.execute(
        "UPDATE concept_names SET ambiguous_with = NULL, ambiguous_score = NULL WHERE concept_id = %s", (concept_id,)
    )


def _concept(row: Sequence[Any]) -> Concept:
    return Concept(row[0], row[1], tuple(row[2]), row[3], row[4], row[5])


def names(connection: Connection[Any], concept_ids: Sequence[int]) -> dict[int, str]:
    """Canonical names by id."""
    rows = connection.execute("SELECT id, canonical_name FROM concepts WHERE id = ANY(%s)", (list(concept_ids),))
    return dict(rows.fetchall())


# The column `relation` says where a row comes from: an extractor mentioned the concept, or the memory's title names it.
MENTIONS = "mentions"
TITLED = "titled"
# A condition on `memories`: it talks about one of the concepts.
LINKED_TO = "id IN (SELECT memory_id FROM memory_concepts WHERE concept_id = ANY(%(concepts)s::bigint[]))"

_UNLINK = (
    "WITH gone AS (DELETE FROM memory_concepts WHERE memory_id = ANY(%(ids)s) RETURNING concept_id), "
    "counted AS (SELECT concept_id, count(*) AS n FROM gone GROUP BY concept_id) "
    "UPDATE concepts c SET memory_count = memory_count - n FROM counted WHERE c.id = counted.concept_id"
)


def link_mentions(connection: Connection[Any], memory_ids: Sequence[int]) -> None:
    """Derive anew which concepts memories talk about, from their mentions, and count them."""
    with connection.pipeline():
        connection.execute(_UNLINK, {"ids": list(memory_ids)})
        connection.execute(
            "WITH made AS (INSERT INTO memory_concepts (memory_id, concept_id, relation, weight) SELECT DISTINCT "
            "memory_id, concept_id, %(relation)s, 1 FROM mentions JOIN concept_names n ON n.id = name_id "
            "WHERE memory_id = ANY(%(ids)s) RETURNING concept_id), "
            "counted AS (SELECT concept_id, count(*) AS n FROM made GROUP BY concept_id) "
            "UPDATE concepts c SET memory_count = memory_count + n FROM counted WHERE c.id = counted.concept_id",
            {"ids": list(memory_ids), "relation": MENTIONS},
        )


def lock_mentioning(connection: Connection[Any]) -> None:
    """Let nobody delete a memory that is about to be linked, as the check of a key would."""
    connection.execute("SELECT FROM memories WHERE id IN (SELECT memory_id FROM mentions) ORDER BY id FOR KEY SHARE")


def link_all_mentions(connection: Connection[Any]) -> None:
    """Derive anew which concepts all memories talk about, from their mentions, and count them.

    The memories are locked: see `lock_mentioning`.
    """
    connection.execute("DELETE FROM memory_concepts")
    connection.execute(
        # In the order of the key: its index then grows at its end, and not all over.
        "WITH made AS (INSERT INTO memory_concepts (memory_id, concept_id, relation, weight) "
        "SELECT DISTINCT memory_id, concept_id, %s, 1::real FROM mentions JOIN concept_names n ON n.id = name_id "
        "ORDER BY memory_id, concept_id RETURNING concept_id) "
        "UPDATE concepts c SET memory_count = coalesce(k.n, 0) FROM concepts o LEFT JOIN (SELECT concept_id, "
        "count(*) AS n FROM made GROUP BY concept_id) AS k ON k.concept_id = o.id "
        "WHERE c.id = o.id AND c.memory_count <> coalesce(k.n, 0)",
        (MENTIONS,),
    )


def link_titles(connection: Connection[Any], links: Sequence[tuple[int, int]], weight: float) -> None:
    """Link memories to the concepts that their titles name, in the place of a mention where there is one."""
    connection.execute(
        "WITH made AS (INSERT INTO memory_concepts AS old (memory_id, concept_id, relation, weight) "
        "SELECT m, c, %(relation)s, %(weight)s FROM unnest(%(memories)s::bigint[], %(concepts)s::bigint[]) AS l (m, c) "
        "ON CONFLICT (memory_id, concept_id) DO UPDATE SET relation = excluded.relation, weight = excluded.weight "
        "WHERE old.relation <> excluded.relation RETURNING concept_id, xmax = 0 AS is_new), "
        "counted AS (SELECT concept_id, count(*) AS n FROM made WHERE is_new GROUP BY concept_id) "
        "UPDATE concepts c SET memory_count = memory_count + n FROM counted WHERE c.id = counted.concept_id",
        {
            "memories": [memory for memory, _ in links],
            "concepts": [concept for _, concept in links],
            "relation": TITLED,
            "weight": weight,
        },
    )


def unlink(connection: Connection[Any], memory_ids: Sequence[int]) -> bool:
    """Forget which concepts memories talk about; say whether they talked about any."""
    return connection.execute(_UNLINK, {"ids": list(memory_ids)}).rowcount > 0


def memories_of_concepts(connection: Connection[Any], concept_ids: Sequence[int]) -> list[int]:
    """The memories that talk about concepts."""
    rows = connection.execute(
        "SELECT DISTINCT memory_id FROM memory_concepts WHERE concept_id = ANY(%s) ORDER BY 1", (list(concept_ids),)
    )
    return [row[0] for row in rows]


def is_linked(connection: Connection[Any], memory_id: int, concept_ids: Sequence[int]) -> bool:
    """Whether a memory talks about one of these concepts."""
    row = connection.execute(
        "SELECT 1 FROM memory_concepts WHERE memory_id = %s AND concept_id = ANY(%s) LIMIT 1",
        (memory_id, list(concept_ids)),
    ).fetchone()
    return row is not None
