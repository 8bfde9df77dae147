"""What follows fusion, as pure functions: the exact-match bonus, the importance prior, and the order asked for.

Recall and the gate both end with them, so that what is measured is what is shipped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from hopgate.errors import HopgateError
from hopgate.memory import DEFAULT_IMPORTANCE
from hopgate.recall.fusers import MAX_WEIGHT, finite, number
from hopgate.recall.fusion import Id, Ranking, tie_key
from hopgate.recall.settings import SortBy
from hopgate.times import utc

Item = TypeVar("Item")

# A place counts as one over this and the places before it: 3 was the first tried (docs/measurements.md).
RANK_SHIFT = 3


@dataclass(frozen=True, repr=False)
class Importance:
    """The importance prior: final = fused × (floor + (1 − floor) · importance).

    Parameters
    ----------
    floor : float
        What a memory of importance 0 keeps of its score, in 0..1; 1 switches the prior off.

    Examples
    --------
    >>> prior = Importance()
    >>> prior, prior.factor(0), prior.factor(0.5), prior.factor(1)
    (Importance(floor=0.7), 0.7, 0.85, 1.0)
    """

    floor: float = 0.7

    def __post_init__(self) -> None:
        object.__setattr__(self, "floor", finite("the floor of the importance prior", self.floor, 0, 1))

    def factor(self, importance: float) -> float:
        """Give what a memory of this importance has its fused score multiplied by."""
        if not 0 <= importance <= 1:  # NaN too
            raise HopgateError(f"importance must be between 0 and 1, not {importance}")
        return self.floor + (1 - self.floor) * importance

    def __repr__(self) -> str:
        return f"Importance(floor={number(self.floor)})"


@dataclass(frozen=True, repr=False)
class ExactMatch:
    """A bonus for memories that hold the query's quoted phrases or rare words: see `recall.lexical.is_exact`.

    Parameters
    ----------
    bonus : float
        Counts as a further leg of this weight (0..5) that puts every exact match first, so that the same number means
        the same under every fuser.

    Examples
    --------
    >>> ExactMatch(bonus=0.5)
    ExactMatch(bonus=0.5)
    """

    bonus: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "bonus", finite("the exact-match bonus", self.bonus, 0, MAX_WEIGHT))

    def __repr__(self) -> str:
        return f"ExactMatch(bonus={number(self.bonus)})"


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
    prior: Importance | None = None,
    bonus: ExactMatch | None = None,
    matched: AbstractSet[Id] = frozenset(),
) -> list[Placed[Id]]:
    """Apply bonus and prior to what fusion ranked, best first; what ties keeps the order of fusion.

    Parameters
    ----------
    importance : mapping from id
        Of the memories; 0.5 where it is missing.
    matched : set of ids
        Who gets the bonus.

    Examples
    --------
    >>> from hopgate.recall.fusion import MinMax, Pool, fused
    >>> ranking = fused(Pool.of({"dense": [("a", 0.9), ("b", 0.8), ("c", 0.1)]}), MinMax())
    >>> [hit.id for hit in placed(ranking, {"a": 0.1, "b": 0.9}, Importance(floor=0.5))]
    ['b', 'a', 'c']
    >>> [hit.id for hit in placed(ranking, {}, bonus=ExactMatch(2), matched={"c"})]
    ['c', 'a', 'b']
    """
    added = ranking.fuser.top(bonus.bonus) if bonus else 0.0
    hits = []
    for id, score in ranking.top():
        extra = added if id in matched else 0.0
        factor = prior.factor(importance.get(id, DEFAULT_IMPORTANCE)) if prior else 1.0
        hits.append(Placed(id, (score + extra) * factor, extra, factor))
    keys = dict(zip((hit.id for hit in hits), tie_key([hit.score for hit in hits]), strict=True))
    return sorted(hits, key=lambda hit: -keys[hit.id])


def prior_of(floor: float, sort_by: SortBy) -> Importance | None:
    """Give the prior of an order: with "importance" a memory's score is multiplied by all of its importance.

    Examples
    --------
    >>> prior_of(0.7, "relevance"), prior_of(1, "relevance"), prior_of(0.7, "importance")
    (Importance(floor=0.7), None, Importance(floor=0))
    """
    floor = 0.0 if sort_by == "importance" else floor
    return Importance(floor) if floor < 1 else None


def newest_first(hits: Sequence[Item], times: Sequence[datetime | None]) -> list[Item]:
    """Order hits by their times, the unknown last; a time without a zone is UTC, and what ties stays as it is.

    Examples
    --------
    >>> newest_first(["a", "b", "c"], [datetime(2024, 1, 1), None, datetime(2025, 1, 1)])
    ['c', 'a', 'b']
    """
    seconds = [-math.inf if time is None else utc(time).timestamp() for time in times]
    return [hits[at] for at in sorted(range(len(hits)), key=lambda at: -seconds[at])]


def half_and_half(found: Sequence[Id], read: Sequence[Id]) -> list[Id]:
    """Order what a cross-encoder read by its places in both lists, of fusion and of the reader; ties go to the reader.

    The reader alone puts better ones first and loses among the first ten what legs found together.

    Examples
    --------
    >>> half_and_half(["a", "b", "c", "d"], ["d", "b", "a", "c"])
    ['a', 'd', 'b', 'c']
    """
    place = {id: rank for rank, id in enumerate(found)}
    return [
        id
        for _, _, id in sorted(
            (-1 / (RANK_SHIFT + place[id]) - 1 / (RANK_SHIFT + rank), rank, id) for rank, id in enumerate(read)
        )
    ]
