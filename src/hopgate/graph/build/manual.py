"""Two concepts become one, and one becomes two again: recorded, explained, reversible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.graph.build.derive import derive
from hopgate.graph.build.naming import rename
from hopgate.graph.names.linking import link, relink
from hopgate.graph.names.normal import normalise
from hopgate.store.graph import concept_rows, edge_rows, fact_rows, name_rows, version
from hopgate.store.graph.concept_rows import BY_HAND

if TYPE_CHECKING:
    from psycopg import Connection


@dataclass(frozen=True, slots=True)
class Change:
    """What a merge or a split does, or would do: names, memories and edges that change hands."""

    kept: str
    other: str
    names: tuple[str, ...]
    memories: int
    edges: int


def named(connection: Connection[Any], name: str) -> int:
    """The concept that a name belongs to; an unknown name is refused."""
    return concept_rows.find(connection, normalise(name), name).id


def merge(
    connection: Connection[Any], kept_id: int, merged_id: int, *, method: str = BY_HAND, score: float | None = None
) -> Change:
    """Make the second concept's names the first one's; everything that follows from them follows."""
    if kept_id == merged_id:
        raise HopgateError("a concept cannot be merged with itself: name two")
    name_rows.lock(connection)
    kept, merged = concept_rows.get(connection, kept_id), concept_rows.get(connection, merged_id)
    moved = name_rows.of_concepts(connection, [merged_id])
    ids = [row.id for row in moved]
    memories = edge_rows.memories_of_concepts(connection, [merged_id])
    before = fact_rows.groups_of_names(connection, ids)
    concept_rows.record_merge(connection, kept_id, merged, ids, method=method, score=score)
    name_rows.move(connection, ids, kept_id)
    _follow(connection, memories, before, ids)
    name_rows.drop_nameless(connection, [merged_id])
    rename(connection, [kept_id])
    version.bump(connection)
    return Change(kept.name, merged.name, tuple(row.name for row in moved), len(memories), len(before))


def split(connection: Connection[Any], concept_id: int) -> list[Change]:
    """Undo every merge into a concept, the last one first; edges and mentions come back as they were."""
    name_rows.lock(connection)
    kept = concept_rows.get(connection, concept_id)
    merges = concept_rows.merges_into(connection, concept_id)
    if not merges:
        raise HopgateError(f"nothing was merged into {kept.name!r}: hopgate concepts show tells what it is made of")
    changes = []
    for made in merges:
        rows = [row for row in name_rows.of_concepts(connection, [concept_id]) if row.id in made.name_ids]
        ids = [row.id for row in rows]
        memories = edge_rows.memories_of_concepts(connection, [concept_id])
        before = fact_rows.groups_of_names(connection, ids)
        concept_rows.restore(connection, made)
        name_rows.move(connection, ids, made.merged_id)
        _follow(connection, memories, before, ids)
        name_rows.drop_nameless(connection, [made.merged_id])
        rename(connection, [concept_id, made.merged_id])
        changes.append(Change(kept.name, made.merged_name, tuple(row.name for row in rows), len(memories), len(before)))
    version.bump(connection)
    return changes


def _follow(
    connection: Connection[Any], memories: list[int], before: list[fact_rows.FactGroup], name_ids: list[int]
) -> None:
    """After names changed hands: memories' concepts, and the edges of the groups they left and joined."""
    link(connection, memories)
    derive(connection, [*before, *fact_rows.groups_of_names(connection, name_ids)])
    relink(connection, name_rows.by_id(connection, name_ids))
