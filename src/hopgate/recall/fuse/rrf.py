"""Weighted reciprocal rank fusion.

Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods",
SIGIR 2009; k = 60 is theirs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hopgate.recall.fuse.reciprocal import ReciprocalRank


@dataclass(frozen=True, kw_only=True, repr=False)
class RRF(ReciprocalRank):
    """Score = Σ weight / (k + rank) over the legs that saw the memory.

    Only ranks count: any change of a leg's scores that keeps its order keeps the result.

    Parameters
    ----------
    k : float
        The larger, the less the first ranks stand out. At least 0.
    lexical, dense, graph, others
        See `Weighted`.

    Examples
    --------
    >>> fuser = RRF(k=60, lexical=1, dense=1, graph=1.2)
    >>> fuser
    RRF(k=60, lexical=1, dense=1, graph=1.2)
    >>> hits = fuser.fuse({"lexical": [("a", 0.9), ("b", 0.2)], "graph": [("b", 0.01)]})
    >>> [(hit.id, round(hit.score, 4), dict(hit.ranks)) for hit in hits]
    [('b', 0.0358, {'lexical': 2, 'graph': 1}), ('a', 0.0164, {'lexical': 1})]
    """

    def at(self, weight: float, rank: int) -> float:
        """Give what a leg of this weight contributes at a rank."""
        return weight / (self.k + rank)

    def weight_for(self, score: float) -> float:
        """Give the weight at which `top` is this score: every weight above it scores more."""
        return math.inf if math.isinf(score) else score * (self.k + 1)
