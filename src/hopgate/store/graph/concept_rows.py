"""Concepts: one, many, the memories that talk about one, and names that were left undecided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.store.graph.edge_rows import NAME_INSIDE
from hopgate.store.graph.visible import time_parameters, visible_edges, visible_memories

if TYPE_CHECKING:
    from psycopg import Connection


@dataclass(frozen=True, slots=True)
class Concept:
    """A canonical node with its aliases."""

    id: int
    name: str
    aliases: tuple[str, ...]
    kind: str | None
    memory_count: int


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A name that resolution left apart from its near neighbour, for a person or a model to decide."""

    name: str
    concept_id: int
    near: str
    score: float


_CONCEPT = "SELECT id, canonical_name, aliases, kind, memory_count FROM concepts"


def get(connection: Connection[Any], concept_id: int) -> Concept:
    """One concept by id; an unknown id is refused. A negative one is a scope's: the concept that has that name."""
    row = connection.execute(
        _CONCEPT + " WHERE id = %(id)s OR id = (SELECT concept_id FROM concept_names WHERE id = -%(id)s::bigint)",
        {"id": concept_id},
    ).fetchone()
    if row is None:
        raise HopgateError(f"there is no concept {concept_id}: hopgate concepts list shows them")
    return _concept(row)


def find(connection: Connection[Any], normal_name: str, shown: str) -> Concept:
    """The concept that a name belongs to; an unknown name is refused."""
    row = connection.execute(
        _CONCEPT + " WHERE id = (SELECT concept_id FROM concept_names WHERE normal_name = %s)", (normal_name,)
    ).fetchone()
    if row is None:
        raise HopgateError(f"there is no concept {shown!r}: hopgate concepts list shows them")
    return _concept(row)


def listed(
    connection: Connection[Any],
    *,
    kind: str | None = None,
    search: str | None = None,
    limit: int = 50,
    offset: int = 0,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
) -> list[Concept]:
    """Concepts by how many memories talk about them.

    Parameters
    ----------
    search : str, optional
        Only concepts with a name that holds this text, in any case.
    as_of : datetime, optional
        Only concepts with an edge that was true then.
    known_at : datetime, optional
        Only what was known then: memories made later do not count.
    """
    count, source = "c.memory_count", "concepts c"
    if known_at is not None:
        count = "n.known"
        source += (
            " JOIN (SELECT concept_id, count(*)::integer AS known FROM memory_concepts x JOIN memories m "
            "ON m.id = x.memory_id WHERE m.created_at <= %(known_at)s GROUP BY concept_id) AS n ON n.concept_id = c.id"
        )
    conditions = "(%(kind)s::text IS NULL OR c.kind = %(kind)s)"
    if search:
        conditions += (
            " AND EXISTS (SELECT 1 FROM unnest(c.aliases || c.canonical_name) AS a (name) "
            "WHERE strpos(lower(a.name), lower(%(search)s)) > 0)"
        )
    if as_of is not None:
        conditions += (
            " AND EXISTS (SELECT 1 FROM concept_edges WHERE (src_id = c.id OR dst_id = c.id) "
            f"AND relation <> %(inside)s AND {visible_edges(as_of, known_at)})"
        )
    rows = connection.execute(
        f"SELECT c.id, c.canonical_name, c.aliases, c.kind, {count} FROM {source} WHERE {conditions} "
        f"ORDER BY {count} DESC, c.id LIMIT %(limit)s OFFSET %(offset)s",
        {
            **time_parameters(as_of, known_at),
            **{"kind": kind, "search": search, "limit": limit, "offset": offset, "inside": NAME_INSIDE},
        },
    )
    return [_concept(row) for row in rows]


def memories_about(
    connection: Connection[Any], concept_id: int, *, known_at: datetime | None = None, limit: int = 20
) -> list[str]:
    """The memories that talk about a concept, by external id, the newest first; never a sensitive one."""
    about = "SELECT memory_id FROM memory_concepts WHERE concept_id = %(concept)s"
    return _newest(connection, about, {"concept": concept_id}, known_at=known_at, limit=limit)


def newest(
    connection: Connection[Any], memory_ids: Sequence[int], *, known_at: datetime | None = None, limit: int = 20
) -> list[str]:
    """Of these memories the newest, by external id; never a sensitive one."""
    these = "SELECT unnest(%(ids)s::bigint[])"
    return _newest(connection, these, {"ids": list(memory_ids)}, known_at=known_at, limit=limit)


def _newest(
    connection: Connection[Any], ids: str, parameters: dict[str, Any], *, known_at: datetime | None, limit: int
) -> list[str]:
    rows = connection.execute(
        f"SELECT coalesce(external_id, id::text) FROM memories WHERE id IN ({ids}) "
        f"AND {visible_memories(known_at, superseded=True)} ORDER BY created_at DESC, id LIMIT %(limit)s",
        {**time_parameters(None, known_at), **parameters, "limit": limit},
    )
    return [row[0] for row in rows]


def ambiguous(connection: Connection[Any], *, limit: int = 50) -> list[Ambiguous]:
    """Names left undecided, the most alike first."""
    rows = connection.execute(
        "SELECT n.name, n.concept_id, o.name, n.ambiguous_score FROM concept_names n "
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
    return Concept(row[0], row[1], tuple(row[2]), row[3], row[4])


def names(connection: Connection[Any], concept_ids: Sequence[int]) -> dict[int, str]:
    """Canonical names by id."""
    rows = connection.execute("SELECT id, canonical_name FROM concepts WHERE id = ANY(%s)", (list(concept_ids),))
    return dict(rows.fetchall())
