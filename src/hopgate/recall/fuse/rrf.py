"""Weighted reciprocal rank fusion.

Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods",
SIGIR 2009; k = 60 is theirs.
"""

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
class RRF(Weighted):
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
                name: [(id, weights[name] / (self.k + rank)) for rank, (id, _) in enumerate(leg, start=1)]
                for name, leg in weighted_legs(legs, weights).items()
            },
            {name: self.top(weight) for name, weight in weights.items()},
            unseen,
        )

    def top(self, weight: float) -> float:
        """Give the most that a leg of this weight can contribute: its first rank."""
        return weight / (self.k + 1)

    def weight_for(self, score: float) -> float:
        """Give the weight at which `top` is this score: every weight above it scores more."""
        return math.inf if math.isinf(score) else score * (self.k + 1)

    def steepest(self, weight: float, depth: int) -> list[float]:
        """Give what a leg this deep contributes, rank by rank, at the least."""
        return [weight / (self.k + rank) for rank in range(1, depth + 1)]

    def flattest(self, weight: float, depth: int) -> list[float]:
        """Give what a leg this deep contributes, rank by rank, at the most: ranks leave no choice."""
        return self.steepest(weight, depth)
