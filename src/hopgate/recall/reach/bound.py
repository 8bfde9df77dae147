"""Reachability by closed form: the smallest weight at which a candidate of one leg alone can enter the top k.

What is asked: a memory x that only this leg sees, put first by it. The other legs each return as many memories as they
are deep. x enters the top k when fewer than k of theirs score at least as much: a tie does not count, because it would
be broken by id, which no setting controls. So the leg's weight must *exceed* what is given here.

What is free, and ranges from best to worst: how the other legs' lists overlap (see `Needed`); under `TM2C2` how fast
their scores fall (`best` takes the steepest lists, the other three the flattest, that is, the hardest); under an
importance prior the importances (favourable: x has 1 and the memories in its way 0; unfavourable: the reverse); under
an exact-match bonus who matches (favourable: x alone; unfavourable: all but x).

This is about fusion by score. After it, `recall` lifts the first of every leg into the top k (`recall.fuse.lift`), so
that a leg that is barred here still shows its first hit there, and nothing else of what it alone finds.

What is not counted against the leg: its own list may also hold, and so lift, memories in x's way. Where the other legs
together return fewer than k memories there is room, and any weight above 0 suffices.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hopgate.errors import HopgateError
from hopgate.recall.fuse import Bounded, ExactMatch, Fuser, Importance
from hopgate.recall.reach import kth_score
from hopgate.recall.reach.needed_weight import Needed, Reachability, bounded, in_words, opening

DEPTH = 50
"""Each leg's depth where none is given: the default of recall."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What a leg can do to the top k, whatever the query.

    Parameters
    ----------
    leg, weight, fuser, k, depths, prior, exact
        What was asked; `depths` names the other legs that are on.
    ceiling : float
        The most a candidate of this leg alone can score, before the prior.
    base_floor : float
        The least the last candidate of another leg can score, before the prior; 0 without other legs.
    needed : Needed
        The weight to exceed without prior and bonus.
    favourable, unfavourable : Needed
        The same at the two extremes of prior and bonus; equal to `needed` where there is neither.
    worst_is_exact : bool
        False where `worst` is only an upper bound (possible from three other legs on).
    """

    leg: str
    weight: float
    fuser: Fuser
    k: int
    depths: Mapping[str, int]
    prior: Importance | None
    exact: ExactMatch | None
    ceiling: float
    base_floor: float
    needed: Needed
    favourable: Needed
    unfavourable: Needed
    worst_is_exact: bool

    @property
    def verdict(self) -> Reachability:
        """Whether the leg's weight clears the best and the worst case, prior and bonus included."""
        if self.weight == 0:
            return Reachability.OFF
        if self.weight <= self.favourable.best:
            return Reachability.BARRED
        return Reachability.REACHABLE if self.weight > self.unfavourable.worst else Reachability.AT_BEST

    @property
    def lifted(self) -> bool:
        """Whether recall lifts what the leg has first into the top k, whatever it scores: from a k of all legs on."""
        return self.weight > 0 and self.k > len(self.depths)

    def to_dict(self) -> dict[str, Any]:
        """Give the bound ready for JSON."""
        return {
            "leg": self.leg,
            "weight": self.weight,
            "verdict": self.verdict.value,
            "lifted": self.lifted,
            "fuser": repr(self.fuser),
            "k": self.k,
            "depths": dict(self.depths),
            "prior": repr(self.prior) if self.prior else None,
            "exact": repr(self.exact) if self.exact else None,
            "ceiling": self.ceiling,
            "base_floor": self.base_floor,
            "needed": self.needed.to_dict(),
            "needed_at_extremes": {
                "favourable": self.favourable.to_dict(),
                "unfavourable": self.unfavourable.to_dict(),
            },
            "worst_is_exact": self.worst_is_exact,
        }

    def __str__(self) -> str:
        need = self.needed
        line = (
            f"{opening(self.leg, self.weight, self.verdict, self.k, self.fuser)}; weight needed: "
            f"{in_words(need.best)} at best, {in_words(need.disjoint)} on disjoint lists, "
            f"{in_words(need.identical)} on identical ones, {in_words(need.worst)} at worst"
        )
        if self.prior or self.exact:
            extras = " and ".join(repr(extra) for extra in (self.prior, self.exact) if extra)
            low, high = in_words(self.favourable.best), in_words(self.unfavourable.worst)
            line += f"; with {extras} {low} at best, {high} at worst"
        return f"{line}; recall lifts its first hit into the top {self.k} all the same" if self.lifted else line


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
    >>> from hopgate.recall.fuse import RRF
    >>> print(bound(RRF(graph=0.35), prior=Importance()))
    graph at weight 0.35 is barred in the top 10 of RRF(k=60, lexical=1, dense=1, graph=0.35); weight needed:
    over 0.871 at best, over 0.938 on disjoint lists, over 1.743 on identical ones, over 1.863 at worst;
    with Importance(floor=0.7) over 0.610 at best, over 2.661 at worst;
    recall lifts its first hit into the top 10 all the same
    """
    fuser = bounded(fuser, leg, k)
    deep = {name: _depth(name, depths) for name, weight in fuser.weights.items() if weight > 0 and name != leg}
    steep = [fuser.steepest(fuser.weights[name], depth) for name, depth in deep.items()]
    flat = [fuser.flattest(fuser.weights[name], min(depth, k)) for name, depth in deep.items()]
    worst, exact_worst = kth_score.hardest(flat, k)
    scores = (kth_score.least(steep, k), kth_score.disjoint(flat, k), kth_score.identical(flat, k), worst)
    floor = prior.floor if prior else 1.0
    bonus = fuser.top(exact.bonus) if exact else 0.0
    return Bound(
        leg=leg,
        weight=fuser.weights[leg],
        fuser=fuser,
        k=k,
        depths=deep,
        prior=prior,
        exact=exact,
        ceiling=fuser.top(fuser.weights[leg]),
        base_floor=min((column[-1] for column in steep if column), default=0.0),
        needed=_needed(fuser, scores),
        favourable=_needed(fuser, scores, scale=floor, shift=-bonus),
        unfavourable=_needed(fuser, scores, scale=1 / floor if floor else math.inf, shift=bonus),
        worst_is_exact=exact_worst,
    )


def _needed(fuser: Bounded, scores: tuple[float | None, ...], *, scale: float = 1.0, shift: float = 0.0) -> Needed:
    """Turn the scores in the way into weights.

    Favourably x scores (c + bonus)·1 against floor·score, unfavourably c·floor against (score + bonus)·1.
    """

    def weight(score: float | None) -> float:
        if score is None:
            return 0.0
        barrier = (score + shift) * scale if shift > 0 else score * scale + shift
        return fuser.weight_for(barrier) if barrier > 0 else 0.0

    return Needed(*map(weight, scores))


def _depth(name: str, depths: int | Mapping[str, int]) -> int:
    depth = depths.get(name, DEPTH) if isinstance(depths, Mapping) else depths
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 0:
        raise HopgateError(f"the depth of the {name} leg must be a whole number of at least 0, not {depth!r}")
    return depth
