"""What people decided about concepts, kept when names are clustered anew: what they merged, and what they split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopgate.store.graph import concept_rows, name_rows
from hopgate.store.graph.concept_rows import BY_HAND, BulkMerge

if TYPE_CHECKING:
    from psycopg import Connection


@dataclass(frozen=True, slots=True)
class Ruling:
    """Names that a person put together with another name, or took apart from it."""

    name_ids: tuple[int, ...]
    partner_id: int
    together: bool


def take_apart(connection: Connection[Any]) -> list[Ruling]:
    """Give every name a concept of its own, as before any clustering; return what people had decided."""
    decided = concept_rows.rulings(connection)
    rulings = [Ruling(tuple(ids), partner, together) for ids, partner, together in decided if partner is not None]
    concept_rows.forget_merges(connection)
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
            concept_rows.merge_many(connection, _merges(connection, first, others), method="kept together")
        elif ruling.together:
            outside = sorted({row.concept_id for row in told} - {partner.concept_id})
            concept_rows.merge_many(connection, _merges(connection, partner.concept_id, outside), method=BY_HAND)


def _merges(connection: Connection[Any], kept: int, others: list[int]) -> list[BulkMerge]:
    rows = name_rows.of_concepts(connection, others)
    return [BulkMerge(kept, other, tuple(row.id for row in rows if row.concept_id == other)) for other in others]
