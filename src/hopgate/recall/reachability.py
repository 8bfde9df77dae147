"""Can what one leg alone finds enter the top k: by closed form from the weights, and on actual lists.

What is asked: a memory x that only this leg sees, put first by it. The other legs each return as many memories as they
are deep. x enters the top k when fewer than k of theirs score at least as much: a tie does not count, because no
setting decides it. So the leg's weight must *exceed* what is given here.

What is free, and ranges from best to worst: how the other legs' lists overlap (see `CASES`); under fusers by score
how fast their scores fall (`best` takes the steepest lists, the other three the flattest, that is, the hardest); under
an importance prior the importances (at best x has 1 and the memories in its way 0, at worst the reverse); under an
exact-match bonus who matches (at best x alone, at worst all but x).

What is not counted against the leg: its own list may also hold, and so promote, memories in x's way. Where the other
legs together return fewer than k memories there is room, and any weight above 0 suffices.
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from hopgate.errors import HopgateError
from hopgate.recall.fusers import RRF, Fuser, number
from hopgate.recall.fusion import Id, Pool, fused
from hopgate.recall.order import placed
from hopgate.recall.settings import DEFAULT_FUSER, Settings


class Reachability(StrEnum):
    """What a leg can do to the top k."""

    REACHABLE = "reachable"
    """A candidate that only this leg sees enters the top k wherever the leg puts it first."""
    AT_BEST = "reachable only at best"
    """It enters where the other legs' overlap and the importances allow it."""
    ON_SOME = "reachable on some queries"
    """It could enter on some of the queries looked at, and on others not."""
    BARRED = "barred"
    """It can never enter: the leg can only reorder what the others found."""
    OFF = "off"
    """The leg's weight is 0."""


CASES = {
    "best": "at best",
    "disjoint": "on disjoint lists",
    "identical": "on identical ones",
    "worst": "at worst",
    "best_after": "at best after prior and bonus",
    "worst_after": "at worst after them",
}
"""How the other legs' lists overlap: at best all share their first k − 1 memories and nothing else."""


@dataclass(frozen=True)
class Bound:
    """What a leg can do to the top k, whatever the query."""

    leg: str
    fuser: Fuser
    k: int
    # The weight to exceed by how the other legs' lists overlap, one of `CASES`: 0 for any, infinity for none.
    needed: Mapping[str, float]
    between: ClassVar[Reachability] = Reachability.AT_BEST

    @property
    def weight(self) -> float:
        """The leg's weight."""
        return self.fuser.weights[self.leg]

    @property
    def verdict(self) -> Reachability:
        """What the leg can do: whether its weight clears the best case, and every case."""
        if self.weight == 0:
            return Reachability.OFF
        if self.weight <= min(self.needed.values()):
            return Reachability.BARRED
        return Reachability.REACHABLE if self.weight > max(self.needed.values()) else self.between

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values; none for a weight that nothing reaches."""
        needed = {case: weight if math.isfinite(weight) else None for case, weight in self.needed.items()}
        report = {"leg": self.leg, "fuser": repr(self.fuser), "k": self.k, "weight": self.weight}
        return {**report, "verdict": self.verdict.value, "needed": needed}

    def __str__(self) -> str:
        needed = ", ".join(f"{in_words(weight)} {case}" for case, weight in self._cases().items())
        return (
            f"{self.leg} at weight {number(self.weight)} is {self.verdict.value} in the top {self.k} of "
            f"{self.fuser!r}; weight needed: {needed}"
        )

    def _cases(self) -> dict[str, float]:
        """What is printed: the weight to exceed by its case in words."""
        return {CASES[case]: weight for case, weight in self.needed.items()}


def bound(
    fuser: Fuser,
    *,
    leg: str = "graph",
    k: int = 10,
    depth: int = 50,
    prior: float = 1.0,
    exact_match: float = 0.0,
) -> Bound:
    """Work out by closed form which weight lets a candidate of one leg alone into the top k.

    Parameters
    ----------
    fuser : Fuser
        With the weights of all legs; legs of weight 0 are not in the way.
    leg : str
        The leg in question.
    k : int
        How many hits are looked at.
    depth : int
        How many memories each other leg returns.
    prior, exact_match : float
        What is applied after fusion: see `hopgate.recall.order.placed`.

    Examples
    --------
    >>> print(bound(RRF(late=0, graph=0.35), prior=0.7))
    graph at weight 0.35 is barred in the top 10 of RRF(k=60, lexical=1, dense=1, late=0, graph=0.35); weight needed:
    over 0.871 at best, over 0.938 on disjoint lists, over 1.743 on identical ones, over 1.863 at worst,
    over 0.610 at best after prior and bonus, over 2.661 at worst after them
    """
    _check(fuser, leg, k)
    others = [fuser.weights[other] for other in fuser.active if other != leg]
    # What the other legs give rank by rank: by ranks there is no choice, by scores from the first alone to all alike.
    if isinstance(fuser, RRF):
        steep = flat = [[weight / (fuser.k + rank) for rank in range(1, depth + 1)] for weight in others]
    else:
        steep = [[weight, *[0.0] * (depth - 1)] for weight in others]
        flat = [[weight] * depth for weight in others]
    # The k-th best score that they leave in the way; less than any where there is room.
    scores = dict.fromkeys(("best", "disjoint", "identical", "worst"), -math.inf)
    if others and depth >= k:
        # Each leg puts k scores of at least its k-th in the way. When all share their first k − 1 memories and nothing
        # else, the k-th best is no more than the largest of these.
        scores["best"] = max(column[k - 1] for column in steep)
        scores["identical"] = sum(column[k - 1] for column in flat)
    if len(others) * depth >= k:
        scores["disjoint"] = sorted((score for column in flat for score in column), reverse=True)[k - 1]
        scores["worst"] = _hardest(flat, k)
    if prior < 1 or exact_match:
        bonus = exact_match * fuser.largest_unit
        hard = scores["worst"] + bonus
        scores["best_after"] = prior * scores["best"] - bonus
        scores["worst_after"] = hard / prior if prior else hard * math.inf
    needed = {case: score / fuser.largest_unit if score > 0 else 0.0 for case, score in scores.items()}
    return Bound(leg, fuser, k, needed)


def _hardest(columns: Sequence[Sequence[float]], k: int) -> float:
    """The largest minimum that k sums of one number a column can have, whatever the columns' orders.

    For two columns it is that of opposite orders; for more no minimum exceeds the mean.
    """
    padded = [[*column[:k], *[0.0] * (k - len(column))] for column in columns]
    if len(padded) > 2:
        return sum(map(sum, padded)) / k
    padded[1:] = [column[::-1] for column in padded[1:]]
    return min(map(sum, zip(*padded, strict=True)))


def bounds(settings: Settings, legs: Sequence[str] = ()) -> list[Bound]:
    """Bound these legs, or all that are on, as recall is set.

    Examples
    --------
    >>> [found.leg for found in bounds(Settings()) if found.verdict is Reachability.BARRED]
    []
    """
    k, depth, prior, exact_match = settings.k, settings.depth, settings.floor, settings.exact_match
    return [
        bound(settings.fuser, leg=leg, k=k, depth=depth, prior=prior, exact_match=exact_match)
        for leg in legs or settings.fuser.active
    ]


@dataclass(frozen=True)
class ListReach(Bound):
    """What a leg could do to the top k of a set of queries: `needed` is by query.

    It is 0 where the other legs leave room.
    """

    between: ClassVar[Reachability] = Reachability.ON_SOME

    @property
    def entering(self) -> int:
        """On how many queries a candidate of the leg alone could enter."""
        return sum(self.weight > needed for needed in self.needed.values())

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values."""
        return super().to_dict() | {"queries": len(self.needed), "entering": self.entering}

    def _cases(self) -> dict[str, float]:
        weights = sorted(self.needed.values())
        half = weights[(len(weights) - 1) // 2]
        return {"for the first query": weights[0], "for half of them": half, "for all": weights[-1]}

    def __str__(self) -> str:
        return f"{super().__str__()}; it could enter on {self.entering} of {len(self.needed)} queries"


def on_lists(
    fuser: Fuser,
    pools: Mapping[str, Pool[Id]],
    *,
    leg: str = "graph",
    k: int = 10,
    prior: float = 1.0,
    importance: Mapping[Id, float] | None = None,
) -> ListReach:
    """Work out, query by query, whether a candidate of one leg alone could enter the top k that the others make.

    What the leg itself found is ignored, so that one that happened to find nothing is not mistaken for one that is
    barred. The candidate has importance 1.

    Parameters
    ----------
    pools : mapping of query id to Pool
        What all legs returned; of one query at least.
    prior, importance
        What a memory of importance 0 keeps of its score, and the memories' importances; one that is missing is 0.5.

    Examples
    --------
    >>> words = [(id, 1.0 / id) for id in range(1, 51)]
    >>> pools = {"q1": Pool.of({"lexical": words}), "q2": Pool.of({"lexical": words[:3]})}
    >>> print(on_lists(RRF(late=0, graph=0.35), pools))
    graph at weight 0.35 is reachable on some queries in the top 10 of RRF(k=60, lexical=1, dense=1, late=0,
    graph=0.35); weight needed: any for the first query, any for half of them, over 0.871 for all;
    it could enter on 1 of 2 queries
    """
    _check(fuser, leg, k)
    without = fuser.reweighed(**{leg: 0.0})
    needed = {}
    for query, pool in pools.items():
        hits = placed(fused(pool, without), importance or {}, prior)
        needed[query] = hits[k - 1].score / fuser.largest_unit if len(hits) >= k else 0.0
    return ListReach(leg, fuser, k, needed)


class BarredLegWarning(UserWarning):
    """A leg is on and nothing that it alone finds can enter the top k: the test that repeats this proves nothing."""


def warn_if_barred(settings: Settings, warned: set[str]) -> None:
    """Warn of each barred leg, unless these settings are among those `warned` of already; note them there.

    Of a single hit there is nothing to warn: it is one leg's or the other's. Nor of the default, which lets every leg
    into the top ten, where somebody asks for the first few.
    """
    if settings.k == 1 or settings.fuser == DEFAULT_FUSER or repr(settings) in warned:
        return
    warned.add(repr(settings))
    for found in bounds(settings):
        if found.verdict is Reachability.BARRED:
            # The warning points at the line that called `KnowledgeBase.recall`.
            warnings.warn(
                f"the {found.leg} leg is barred: at weight {number(found.weight)} nothing that it alone finds can "
                f"enter the top {found.k} (weight needed: {in_words(min(found.needed.values()))})",
                BarredLegWarning,
                stacklevel=3,
            )


def _check(fuser: Fuser, leg: str, k: int) -> None:
    if leg not in fuser.weights:
        raise HopgateError(f"{fuser!r} has no leg {leg!r}: use one of {', '.join(fuser.weights)}")
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise HopgateError(f"the top k needs a k of at least 1, not {k!r}")


def in_words(weight: float) -> str:
    """Print a weight that must be exceeded."""
    if weight == 0:
        return "any"
    return "impossible" if math.isinf(weight) else f"over {weight:.3f}"
