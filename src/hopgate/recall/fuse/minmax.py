"""Min–max fusion over the pool's real scores: the default.

Each leg's scores are stretched over what this query's pool has, from its worst to its best, so that neither the
embedder's range of cosines nor the lexical ranker's unit matters. On the shared data sets it was the best family of 424
configurations without a graph (docs/research/fusion.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from hopgate.recall.fuse.fused import Fused, Id
from hopgate.recall.fuse.pool import pooled, weighted_legs
from hopgate.recall.fuse.unseen import ALL_SEEN
from hopgate.recall.fuse.whole_weight import WholeWeight


@dataclass(frozen=True, kw_only=True, repr=False)
class MinMax(WholeWeight):
    """Score = Σ weight · (score − least) / (most − least), over the scores that a leg gives to the pool.

    It wants completed legs: lists that hold every memory of the pool that the leg could see, with its real score. In
    a list that is not completed, what is missing counts as the least. A leg's first always gets its whole weight; so
    do all of a leg that tells none of them apart.

    Parameters
    ----------
    lexical, dense, graph, others
        See `Weighted`.

    Examples
    --------
    >>> fuser = MinMax(lexical=0.3, dense=0.7, graph=0)
    >>> fuser
    MinMax(lexical=0.3, dense=0.7, graph=0)
    >>> legs = {"lexical": [("a", 9.0), ("b", 3.0), ("c", 0.0)], "dense": [("b", 0.8), ("c", 0.7)]}
    >>> [(hit.id, round(hit.score, 2)) for hit in fuser.fuse(legs)]
    [('b', 0.8), ('a', 0.3), ('c', 0.0)]

    "a" has no vector, and does not lose by it:

    >>> [(hit.id, round(hit.score, 2)) for hit in fuser.fuse(legs, unseen={"dense": {"a"}})]
    [('a', 1.0), ('b', 0.8), ('c', 0.0)]
    """

    def fuse(
        self, legs: Mapping[str, Sequence[tuple[Id, float]]], *, unseen: Mapping[str, AbstractSet[Id]] = ALL_SEEN
    ) -> list[Fused[Id]]:
        """Rank the pool of the legs, best first; `unseen` names, leg by leg, what it could not have listed."""
        return pooled(self.contributed(legs), self.weights, unseen)

    def contributed(self, legs: Mapping[str, Sequence[tuple[Id, float]]]) -> dict[str, list[tuple[Id, float]]]:
        """Give what each leg that has a weight contributes to each memory that it lists."""
        weights = self.weights
        return {name: _stretched(leg, weights[name]) for name, leg in weighted_legs(legs, weights).items()}


def _stretched(leg: Sequence[tuple[Id, float]], weight: float) -> list[tuple[Id, float]]:
    scores = [score for _, score in leg]
    least, most = min(scores), max(scores)
    span = most - least
    if not span > 0:
        return [(id, weight) for id, _ in leg]
    return [(id, weight * ((score - least) / span)) for id, score in leg]
