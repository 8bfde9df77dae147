"""What follows fusion, as pure functions: the exact-match bonus, the importance prior, and a cross-encoder's reading.

Recall and the gate both end with them, so that what is measured is what is shipped.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Generic

from hopgate.memory import DEFAULT_IMPORTANCE
from hopgate.recall.fusion import Id, Ranking, tie_key

# A place counts as one over this and the places before it: 3 was the first tried (docs/measurements.md).
RANK_SHIFT = 3


@dataclass(frozen=True, slots=True)
class Placed(Generic[Id]):
    """A memory of a ranking with its final score: (fused + bonus) × prior."""

    id: Id
    score: float
    bonus: float = 0.0
    prior: float = 1.0


def placed(
    ranking: Ranking[Id],
    importance: Mapping[Id, float],
    prior: float = 1.0,
    exact_match: float = 0.0,
    matched: AbstractSet[Id] = frozenset(),
) -> list[Placed[Id]]:
    """Apply bonus and prior to what fusion ranked, best first; what ties keeps the order of fusion.

    A memory keeps `prior` of its score at importance 0 and all at 1: score × (prior + (1 − prior) · importance), 0.5
    where it is missing. The bonus of those that are `matched` counts as a further leg of the weight `exact_match` that
    puts each of them first, so that the same number means the same under every fuser.
    """
    bonus = exact_match * ranking.fuser.largest_unit
    hits = []
    for id, score in ranking.top():
        extra = bonus if id in matched else 0.0
        factor = prior + (1 - prior) * importance.get(id, DEFAULT_IMPORTANCE)
        hits.append(Placed(id, (score + extra) * factor, extra, factor))
    keys = dict(zip((hit.id for hit in hits), tie_key([hit.score for hit in hits]), strict=True))
    return sorted(hits, key=lambda hit: -keys[hit.id])


def half_and_half(order: Sequence[Id], scores: Mapping[Id, float]) -> list[Id]:
    """Order what a cross-encoder scored by its places in both orders, fusion's and the reader's; the rest stays put.

    The reader alone puts better ones first and loses among the first ten what legs found together. Ties go to the
    reader, and where it gave the same score to the order of fusion.
    """
    before = [id for id in order if id in scores]
    place = {id: rank for rank, id in enumerate(before)}
    read = {id: rank for rank, id in enumerate(sorted(before, key=lambda id: -scores[id]))}
    best = iter(sorted(before, key=lambda id: (-1 / (RANK_SHIFT + place[id]) - 1 / (RANK_SHIFT + read[id]), read[id])))
    return [next(best) if id in scores else id for id in order]
