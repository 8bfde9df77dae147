"""Rank-stretched reciprocal rank fusion: the weight scales the rank instead of the contribution."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hopgate.recall.fuse.reciprocal import ReciprocalRank


@dataclass(frozen=True, kw_only=True, repr=False)
class StretchedRRF(ReciprocalRank):
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

    def at(self, weight: float, rank: int) -> float:
        """Give what a leg of this weight contributes at a rank."""
        return 1 / (self.k + rank / weight) if weight > 0 else 0.0

    def weight_for(self, score: float) -> float:
        """Give the weight at which `top` is this score; infinite where no weight gets there."""
        if score <= 0:
            return 0.0
        gap = 1 / score - self.k
        return 1 / gap if gap > 0 else math.inf
