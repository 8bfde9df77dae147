"""Can what one leg alone finds enter the top k: by closed form from the weights, and on actual lists.

What is asked: a memory x that only this leg sees, put first by it. The other legs each return as many memories as they
are deep. x enters the top k when fewer than k of theirs score at least as much: a tie does not count, because no
setting decides it. So the leg's weight must *exceed* what is given here.

What is free, and ranges from best to worst: how the other legs' lists overlap (see `Needed`); under fusers by score
how fast their scores fall (`best` takes the steepest lists, the other three the flattest, that is, the hardest); under
an importance prior the importances (favourable: x has 1 and the memories in its way 0; unfavourable: the reverse);
under an exact-match bonus who matches (favourable: x alone; unfavourable: all but x).

What is not counted against the leg: its own list may also hold, and so promote, memories in x's way. Where the other
legs together return fewer than k memories there is room, and any weight above 0 suffices.
"""

from __future__ import annotations

import heapq
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from itertools import chain
from typing import Any

from hopgate.errors import HopgateError
from hopgate.recall.fusers import RRF, Fuser, number
from hopgate.recall.fusion import Id, Pool, fused
from hopgate.recall.order import ExactMatch, Importance, placed, prior_of
from hopgate.recall.settings import DEFAULT_FUSER, Settings

DEPTH = 50
"""Each leg's depth where none is given: the default of recall."""


class Reachability(StrEnum):
    """What a leg can do to the top k.

    Examples
    --------
    >>> str(Reachability.BARRED)
    'barred'
    """

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


@dataclass(frozen=True, slots=True)
class Needed:
    """The weight a leg must exceed, by how the other legs' lists overlap: 0 for any, infinity for none.

    Parameters
    ----------
    best : float
        The most favourable overlap: one other leg, or all share their first k − 1 memories and nothing else.
    disjoint : float
        The other legs share nothing.
    identical : float
        The other legs return the same list.
    worst : float
        Enough whatever the overlap: what the k memories in the way have on average where all legs list the same.
    """

    best: float
    disjoint: float
    identical: float
    worst: float


@dataclass(frozen=True)
class Report:
    """What is said of a leg: which, by which fuser, in the top how many, after which prior."""

    leg: str
    fuser: Fuser
    k: int
    prior: Importance | None

    @property
    def weight(self) -> float:
        """The leg's weight."""
        return self.fuser.weights[self.leg]

    @property
    def verdict(self) -> Reachability:
        """What the leg can do."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Give the report ready for JSON, None for a weight that nothing reaches."""
        values = {each.name: _plain(getattr(self, each.name)) for each in fields(self)}
        return {**values, "weight": self.weight, "verdict": self.verdict.value}

    def __str__(self) -> str:
        return (
            f"{self.leg} at weight {number(self.weight)} is {self.verdict.value} in the top {self.k} of {self.fuser!r}"
        )


# By closed form.


@dataclass(frozen=True)
class Bound(Report):
    """What a leg can do to the top k, whatever the query.

    Parameters
    ----------
    depths : mapping of leg name to int
        The other legs that are on.
    exact : ExactMatch, optional
    needed : Needed
        The weight to exceed without prior and bonus.
    favourable, unfavourable : Needed
        The same at the two extremes of prior and bonus; equal to `needed` where there is neither.
    """

    depths: Mapping[str, int]
    exact: ExactMatch | None
    needed: Needed
    favourable: Needed
    unfavourable: Needed

    @property
    def verdict(self) -> Reachability:
        """Whether the leg's weight clears the best and the worst case, prior and bonus included."""
        if self.weight == 0:
            return Reachability.OFF
        if self.weight <= self.favourable.best:
            return Reachability.BARRED
        return Reachability.REACHABLE if self.weight > self.unfavourable.worst else Reachability.AT_BEST

    def __str__(self) -> str:
        need = self.needed
        line = (
            f"{super().__str__()}; weight needed: {in_words(need.best)} at best, {in_words(need.disjoint)} on disjoint "
            f"lists, {in_words(need.identical)} on identical ones, {in_words(need.worst)} at worst"
        )
        if self.prior or self.exact:
            extras = " and ".join(repr(extra) for extra in (self.prior, self.exact) if extra)
            low, high = in_words(self.favourable.best), in_words(self.unfavourable.worst)
            line += f"; with {extras} {low} at best, {high} at worst"
        return line


def bound(
    fuser: Fuser,
    *,
    leg: str = "graph",
    k: int = 10,
    depths: int | Mapping[str, int] = DEPTH,
    prior: Importance | None = None,
    exact: ExactMatch | None = None,
) -> Bound:
    """Work out which weight lets a candidate of one leg alone into the top k.

    Parameters
    ----------
    fuser : Fuser
        With the weights of all legs; legs of weight 0 are not in the way.
    leg : str
        The leg in question.
    k : int
        How many hits are looked at.
    depths : int or mapping of leg name to int
        How many memories each other leg returns; a leg not named returns 50.
    prior, exact
        What is applied after fusion.

    Examples
    --------
    >>> from hopgate.recall.fusers import RRF
    >>> print(bound(RRF(late=0, graph=0.35), prior=Importance()))
    graph at weight 0.35 is barred in the top 10 of RRF(k=60, lexical=1, dense=1, late=0, graph=0.35); weight needed:
    over 0.871 at best, over 0.938 on disjoint lists, over 1.743 on identical ones, over 1.863 at worst;
    with Importance(floor=0.7) over 0.610 at best, over 2.661 at worst
    """
    _check(fuser, leg, k)
    deep = {name: _depth(name, depths) for name in fuser.active if name != leg}
    steep = [_columns(fuser, name, depth)[0] for name, depth in deep.items()]
    flat = [_columns(fuser, name, depth)[1] for name, depth in deep.items()]
    scores = (_least(steep, k), _disjoint(flat, k), _identical(flat, k), _hardest(flat, k))
    floor = prior.floor if prior else 1.0
    bonus = fuser.top(exact.bonus) if exact else 0.0

    def needed(scale: float = 1.0, shift: float = 0.0) -> Needed:
        # Favourably x scores (c + bonus)·1 against floor·score, unfavourably c·floor against (score + bonus)·1.
        def weight(score: float | None) -> float:
            if score is None:
                return 0.0
            barrier = (score + shift) * scale if shift > 0 else score * scale + shift
            return fuser.weight_for(barrier) if barrier > 0 else 0.0

        return Needed(*map(weight, scores))

    unfavourable = needed(1 / floor if floor else math.inf, bonus)
    return Bound(leg, fuser, k, prior, deep, exact, needed(), needed(floor, -bonus), unfavourable)


# The k-th best score that other legs can leave in the way. A leg is a column: what it gives at rank 1, 2, … None where
# fewer than k memories are in the way.


def _columns(fuser: Fuser, leg: str, depth: int) -> tuple[list[float], list[float]]:
    """What a leg gives rank by rank at the least, and at the most: by ranks there is no choice."""
    weight = fuser.weights[leg]
    if isinstance(fuser, RRF):
        column = [weight / (fuser.k + rank) for rank in range(1, depth + 1)]
        return column, column
    return [weight, *[0.0] * (depth - 1)][:depth], [weight] * depth


def _least(columns: Sequence[Sequence[float]], k: int) -> float | None:
    """The lowest of all overlaps: a leg that returns k memories puts k scores of at least its k-th in the way.

    When all share their first k − 1 memories and nothing else, no more than the larger of these is in it.
    """
    return max((column[k - 1] for column in columns if len(column) >= k), default=None)


def _disjoint(columns: Sequence[Sequence[float]], k: int) -> float | None:
    largest = heapq.nlargest(k, chain.from_iterable(columns))
    return largest[-1] if len(largest) == k else None


def _identical(columns: Sequence[Sequence[float]], k: int) -> float | None:
    deep = [column[k - 1] for column in columns if len(column) >= k]
    return sum(deep) if deep else None


def _hardest(columns: Sequence[Sequence[float]], k: int) -> float | None:
    """The largest minimum that k sums can have when the columns may be permuted.

    For two it is that of opposite orders; for more no minimum exceeds the mean.
    """
    if sum(map(len, columns)) < k:
        return None
    padded = [[*column[:k], *[0.0] * (k - len(column))] for column in columns]
    if len(padded) > 2:
        return sum(map(sum, padded)) / k
    padded[1:] = [column[::-1] for column in padded[1:]]
    return min(map(sum, zip(*padded, strict=True)))


# On actual lists.


@dataclass(frozen=True)
class ListReach(Report):
    """What a leg could do to the top k of a set of queries.

    Parameters
    ----------
    by_query : mapping of query id to float
        The weight to exceed for a candidate of the leg alone to enter; 0 where the other legs leave room.
    """

    by_query: Mapping[str, float]

    @property
    def entering(self) -> int:
        """On how many queries a candidate of the leg alone could enter."""
        return sum(self.weight > needed for needed in self.by_query.values())

    @property
    def verdict(self) -> Reachability:
        """Barred where it could enter on no query, reachable where it could on all."""
        if self.weight == 0:
            return Reachability.OFF
        if not self.entering:
            return Reachability.BARRED
        return Reachability.REACHABLE if self.entering == len(self.by_query) else Reachability.ON_SOME

    def needed(self, share: float) -> float:
        """Give the weight to exceed for a candidate of the leg alone to be able to enter on this share of the queries.

        ``needed(0)`` opens the first query, ``needed(0.5)`` half of them, ``needed(1)`` all.
        """
        weights = sorted(self.by_query.values())
        return weights[max(0, math.ceil(share * len(weights)) - 1)] if weights else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Give the summary and what each query needs, ready for JSON."""
        shares = {"first": 0.0, "half": 0.5, "all": 1.0}
        needed = {name: self.needed(share) for name, share in shares.items()}
        return super().to_dict() | {
            "queries": len(self.by_query),
            "entering": self.entering,
            "needed": _plain(needed),
        }

    def __str__(self) -> str:
        first, half, most = (in_words(self.needed(share)) for share in (0, 0.5, 1))
        return (
            f"{super().__str__()}; on {self.entering} of {len(self.by_query)} queries a candidate of it alone could "
            f"enter; weight needed: {first} for the first query, {half} for half of them, {most} for all"
        )


def on_lists(
    fuser: Fuser,
    pools: Mapping[str, Pool[Id]],
    *,
    leg: str = "graph",
    k: int = 10,
    prior: Importance | None = None,
    importance: Mapping[Id, float] | None = None,
) -> ListReach:
    """Work out, query by query, whether a candidate of one leg alone could enter the top k that the others make.

    What the leg itself found is ignored, so that one that happened to find nothing is not mistaken for one that is
    barred. The candidate has importance 1.

    Parameters
    ----------
    pools : mapping of query id to Pool
        What all legs returned.
    prior, importance
        The importance prior and the memories' importances; one that is missing is 0.5.

    Examples
    --------
    >>> from hopgate.recall.fusers import RRF
    >>> words = [(id, 1.0 / id) for id in range(1, 51)]
    >>> pools = {"q1": Pool.of({"lexical": words}), "q2": Pool.of({"lexical": words[:3]})}
    >>> print(on_lists(RRF(late=0, graph=0.35), pools))
    graph at weight 0.35 is reachable on some queries in the top 10 of RRF(k=60, lexical=1, dense=1, late=0,
    graph=0.35); on 1 of 2 queries a candidate of it alone could enter; weight needed: any for the first query,
    any for half of them, over 0.871 for all
    """
    _check(fuser, leg, k)
    factor = prior.factor(1.0) if prior else 1.0
    by_query = {}
    for query, pool in pools.items():
        hits = placed(fused(pool, fuser.reweighed(**{leg: 0.0})), importance or {}, prior)
        by_query[query] = fuser.weight_for(hits[k - 1].score / factor) if len(hits) >= k else 0.0
    return ListReach(leg, fuser, k, prior, by_query)


# The warning of recall.


class BarredLegWarning(UserWarning):
    """A leg is on and nothing that it alone finds can enter the top k: the test that repeats this proves nothing."""


def barred_legs(settings: Settings) -> tuple[str, ...]:
    """Give one sentence for each leg that is on and barred.

    Examples
    --------
    >>> from hopgate.recall.fusers import RRF
    >>> for sentence in barred_legs(Settings(fuser=RRF(late=0, graph=0.35), prior=1)):
    ...     print(sentence)
    the graph leg is barred: at weight 0.35 nothing that it alone finds can enter the top 10 (weight needed: over 0.871)
    >>> barred_legs(Settings())
    ()
    """
    prior = prior_of(settings.prior, settings.sort_by)
    exact = ExactMatch(settings.exact_match) if settings.exact_match else None
    fuser, k, depth = settings.fuser, settings.k, settings.depth
    bounds = [bound(fuser, leg=leg, k=k, depths=depth, prior=prior, exact=exact) for leg in fuser.active]
    return tuple(
        f"the {found.leg} leg is barred: at weight {number(found.weight)} nothing that it alone finds can enter the "
        f"top {found.k} (weight needed: {in_words(found.favourable.best)})"
        for found in bounds
        if found.verdict is Reachability.BARRED
    )


def warn_if_barred(settings: Settings, warned: set[str]) -> None:
    """Warn of each barred leg, unless these settings are among those `warned` of already; note them there.

    Of a single hit there is nothing to warn: it is one leg's or the other's. Nor of the default, which lets every leg
    into the top ten, where somebody asks for the first few.
    """
    if settings.k == 1 or settings.fuser == DEFAULT_FUSER or repr(settings) in warned:
        return
    warned.add(repr(settings))
    for sentence in barred_legs(settings):
        # The warning points at the line that called `KnowledgeBase.recall`.
        warnings.warn(sentence, BarredLegWarning, stacklevel=3)


def _check(fuser: Fuser, leg: str, k: int) -> None:
    if leg not in fuser.weights:
        raise HopgateError(f"{fuser!r} has no leg {leg!r}: use one of {', '.join(fuser.weights)}")
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise HopgateError(f"the top k needs a k of at least 1, not {k!r}")


def _depth(name: str, depths: int | Mapping[str, int]) -> int:
    depth = depths.get(name, DEPTH) if isinstance(depths, Mapping) else depths
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 0:
        raise HopgateError(f"the depth of the {name} leg must be a whole number of at least 0, not {depth!r}")
    return depth


def in_words(weight: float) -> str:
    """Print a weight that must be exceeded.

    Examples
    --------
    >>> in_words(61 / 70), in_words(0), in_words(math.inf)
    ('over 0.871', 'any', 'impossible')
    """
    if weight == 0:
        return "any"
    return "impossible" if math.isinf(weight) else f"over {weight:.3f}"


def _plain(value: Any) -> Any:
    """A field as JSON has it: what prints as itself by its name, and None for infinity."""
    if isinstance(value, Needed):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, float) and math.isinf(value):
        return None
    return value if value is None or isinstance(value, int | float | str) else repr(value)
