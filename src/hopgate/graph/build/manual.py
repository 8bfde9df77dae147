"""Two concepts become one, and one becomes two again: recorded, explained, reversible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.graph.build.derive import derive
from hopgate.graph.build.naming import rename
from hopgate.graph.names.links import link, relink
from hopgate.graph.names.normal import normalise
from hopgate.store.graph import concept_rows, edge_rows, fact_rows, merge_rows, name_rows, version
from hopgate.store.graph.merge_rows import BY_HAND, BulkMerge

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
    merge_rows.record_merge(connection, kept_id, merged, ids, method=method, score=score)
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
    merges = merge_rows.merges_into(connection, concept_id)
    if not merges:
        raise HopgateError(f"nothing was merged into {kept.name!r}: hopgate concepts show tells what it is made of")
    changes = []
    for made in merges:
        rows = [row for row in name_rows.of_concepts(connection, [concept_id]) if row.id in made.name_ids]
        ids = [row.id for row in rows]
        memories = edge_rows.memories_of_concepts(connection, [concept_id])
        before = fact_rows.groups_of_names(connection, ids)
        merge_rows.restore(connection, made)
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


@dataclass(frozen=True, slots=True)
class Ruling:
    """Names that a person put together with another name, or took apart from it."""

    name_ids: tuple[int, ...]
    partner_id: int
    together: bool


def take_apart(connection: Connection[Any]) -> list[Ruling]:
    """Give every name a concept of its own, as before any clustering; return what people had decided."""
    decided = merge_rows.rulings(connection)
    rulings = [Ruling(tuple(ids), partner, together) for ids, partner, together in decided if partner is not None]
    merge_rows.forget_merges(connection)
    name_rows.separate(connection)
    return rulings


def apply(connection: Connection[Any], rulings: list[Ruling]) -> None:
    """Bring the clustering into line with what people decided."""
    for ruling in rulings:
        rows = {row.id: row for row in name_rows.by_id(connection, [*ruling.name_ids, ruling.partner_id])}
        partner = rows.get(ruling.partner_id)
        told = [rows[key] for key in ruling.name_ids if key in rows]
        if partner is None or not told:
            continue
        inside = [row.id for row in told if row.concept_id == partner.concept_id]
        if not ruling.together and inside:
            name_rows.separate(connection, inside)
            first, *others = (row.concept_id for row in name_rows.by_id(connection, inside))
            merge_rows.merge_many(connection, _merges(connection, first, others), method="kept together")
        elif ruling.together:
            outside = sorted({row.concept_id for row in told} - {partner.concept_id})
            merge_rows.merge_many(connection, _merges(connection, partner.concept_id, outside), method=BY_HAND)


def _merges(connection: Connection[Any], kept: int, others: list[int]) -> list[BulkMerge]:
    rows = name_rows.of_concepts(connection, others)
    return [BulkMerge(kept, other, tuple(row.id for row in rows if row.concept_id == other)) for other in others]
