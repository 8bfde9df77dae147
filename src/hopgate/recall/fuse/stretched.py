"""Rank-stretched reciprocal rank fusion: the weight scales the rank instead of the contribution."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from hopgate.recall.fuse.fused import Fused, Id
from hopgate.recall.fuse.pool import pooled, weighted_legs
from hopgate.recall.fuse.unseen import ALL_SEEN
from hopgate.recall.fuse.weights import Weighted, finite


@dataclass(frozen=True, kw_only=True, repr=False)
class StretchedRRF(Weighted):
    """Score = Σ 1 / (k + rank / weight) over the legs that saw the memory.

    A leg of weight 0.5 is read as if only every other rank were filled. Its first hits therefore stay comparable with
    another leg's (at k = 60 a leg of weight 0.35 opens at rank 2.9, not at a third of the score), while its tail fades
    sooner. At weight 1 throughout it is `RRF`. The price: however large the weight, a leg contributes less than 1 / k,
    so that a candidate of one leg alone can never pass one that two other legs both put first.

    Parameters
    ----------
    k : float
        As in `RRF`.
    lexical, dense, graph, others
        See `Weighted`.

    Examples
    --------
    >>> fuser = StretchedRRF(graph=0.5)
    >>> fuser
    StretchedRRF(k=60, lexical=1, dense=1, graph=0.5)
    >>> [hit.id for hit in fuser.fuse({"lexical": [("a", 3.0), ("b", 2.0), ("c", 1.0)], "graph": [("d", 0.2)]})]
    ['a', 'b', 'd', 'c']
    """

    k: float = 60.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "k", finite("k", self.k, 0))

    def fuse(
        self, legs: Mapping[str, Sequence[tuple[Id, float]]], *, unseen: Mapping[str, AbstractSet[Id]] = ALL_SEEN
    ) -> list[Fused[Id]]:
        """Rank the pool of the legs, best first; `unseen` names, leg by leg, what it could not have listed."""
        weights = self.weights
        return pooled(
            {
                name: [(id, self._at(weights[name], rank)) for rank, (id, _) in enumerate(leg, start=1)]
                for name, leg in weighted_legs(legs, weights).items()
            },
            {name: self.top(weight) for name, weight in weights.items()},
            unseen,
        )

    def top(self, weight: float) -> float:
        """Give the most that a leg of this weight can contribute: its first rank."""
        return self._at(weight, 1)

    def weight_for(self, score: float) -> float:
        """Give the weight at which `top` is this score; infinite where no weight gets there."""
        if score <= 0:
            return 0.0
        gap = 1 / score - self.k
        return 1 / gap if gap > 0 else math.inf

    def steepest(self, weight: float, depth: int) -> list[float]:
        """Give what a leg this deep contributes, rank by rank, at the least."""
        return [self._at(weight, rank) for rank in range(1, depth + 1)]

    def flattest(self, weight: float, depth: int) -> list[float]:
        """Give what a leg this deep contributes, rank by rank, at the most: ranks leave no choice."""
        return self.steepest(weight, depth)

    def _at(self, weight: float, rank: int) -> float:
        return 1 / (self.k + rank / weight) if weight > 0 else 0.0
