"""Convex combination of scores with theoretical min–max normalisation (TM2C2).

Bruch, Gai and Ingber, "An analysis of fusion functions for hybrid retrieval", ACM TOIS 2023.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from hopgate.errors import HopgateError
from hopgate.recall.fuse.fused import Fused, Id
from hopgate.recall.fuse.pool import pooled, weighted_legs
from hopgate.recall.fuse.unseen import ALL_SEEN
from hopgate.recall.fuse.weights import Pairs, finite, mapping, number
from hopgate.recall.fuse.whole_weight import WholeWeight

MINIMA = {"lexical": 0.0, "dense": -1.0, "graph": 0.0}
"""The least score each standard leg can give in theory: ts_rank 0, cosine −1, a walk's mass 0."""

SLACK = 1e-3
"""How far below its minimum a score may lie and still count as rounding: half precision carries 11 bits (5e-4)."""


@dataclass(frozen=True, kw_only=True, repr=False)
class TM2C2(WholeWeight):
    """Score = Σ weight · (score − minimum) / (maximum − minimum) over the legs that saw the memory.

    The minimum is what the leg could give in theory, the maximum what it gave this query, so that a leg's first hit
    always contributes its whole weight. The weights are not divided by their sum: that would change no ranking, and
    a contribution would depend on the other legs' weights. The paper's α is ``dense / (lexical + dense)``.

    A candidate never counts for more than the one above it in its leg: where a leg's scores rise (a lexical leg that
    was broadened goes on with rows that match less but may rank higher), the lower of the two is taken. A leg whose
    first hit is at the minimum contributes 0.

    Parameters
    ----------
    lexical, dense, graph, others
        See `Weighted`.
    minima : mapping of leg name to float
        Theoretical minima where they differ from `MINIMA`; a leg named in neither has 0.

    Examples
    --------
    >>> fuser = TM2C2(graph=0.5)
    >>> fuser
    TM2C2(lexical=1, dense=1, graph=0.5)
    >>> hits = fuser.fuse({"lexical": [("a", 0.4), ("b", 0.1)], "dense": [("b", 0.8), ("a", 0.26)]})
    >>> [(hit.id, round(hit.score, 2)) for hit in hits]
    [('a', 1.7), ('b', 1.25)]
    """

    minima: Pairs = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        given = dict(self.minima)
        checked = {name: finite(f"the minimum of {name}", low, -math.inf) for name, low in given.items()}
        changed = {name: low for name, low in checked.items() if low != MINIMA.get(name, 0.0)}
        object.__setattr__(self, "minima", tuple(sorted(changed.items())))

    def fuse(
        self, legs: Mapping[str, Sequence[tuple[Id, float]]], *, unseen: Mapping[str, AbstractSet[Id]] = ALL_SEEN
    ) -> list[Fused[Id]]:
        """Rank the pool of the legs, best first; `unseen` names, leg by leg, what it could not have listed."""
        return pooled(self.contributed(legs), {name: self.top(weight) for name, weight in self.weights.items()}, unseen)

    def contributed(self, legs: Mapping[str, Sequence[tuple[Id, float]]]) -> dict[str, list[tuple[Id, float]]]:
        """Give what each leg that has a weight contributes to each memory that it lists."""
        weights, minima = self.weights, {**MINIMA, **dict(self.minima)}
        return {
            name: [
                (id, weights[name] * share)
                for (id, _), share in zip(leg, _shares(name, leg, minima.get(name, 0.0)), strict=True)
            ]
            for name, leg in weighted_legs(legs, weights).items()
        }

    def _own(self) -> list[str]:
        return [f"minima={mapping(dict(self.minima))}"] if self.minima else []


def _shares(name: str, leg: Sequence[tuple[Id, float]], low: float) -> list[float]:
    """Scale a leg's scores to 0..1, never rising."""
    span = leg[0][1] - low
    shares, least = [], 1.0
    for id, score in leg:
        if score < low - SLACK:
            raise HopgateError(
                f"the {name} leg scores {id!r} with {score}, below its theoretical minimum {number(low)}: "
                f"give TM2C2 the right one in minima={{{name!r}: …}}, or fuse by rank with RRF"
            )
        least = min(least, max(0.0, (score - low) / span)) if span > 0 else 0.0
        shares.append(least)
    return shares
