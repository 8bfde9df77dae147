"""What fusers by reciprocal rank share: a contribution for each rank, whatever the scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from hopgate.recall.fuse.fused import Fused, Id
from hopgate.recall.fuse.pool import pooled, weighted_legs
from hopgate.recall.fuse.unseen import ALL_SEEN
from hopgate.recall.fuse.weights import Weighted, finite


@dataclass(frozen=True, kw_only=True, repr=False)
class ReciprocalRank(Weighted, ABC):
    """Score = Σ of a contribution that falls with the rank, over the legs that list the memory.

    Parameters
    ----------
    k : float
        The larger, the less the first ranks stand out. At least 0.
    lexical, dense, graph, others
        See `Weighted`.
    """

    k: float = 60.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "k", finite("k", self.k, 0))

    def fuse(
        self, legs: Mapping[str, Sequence[tuple[Id, float]]], *, unseen: Mapping[str, AbstractSet[Id]] = ALL_SEEN
    ) -> list[Fused[Id]]:
        """Rank the pool of the legs, best first; `unseen` names, leg by leg, what it could not have listed."""
        return pooled(self.contributed(legs), {name: self.top(weight) for name, weight in self.weights.items()}, unseen)

    def contributed(self, legs: Mapping[str, Sequence[tuple[Id, float]]]) -> dict[str, list[tuple[Id, float]]]:
        """Give what each leg that has a weight contributes to each memory that it lists."""
        weights = self.weights
        return {
            name: [(id, self.at(weights[name], rank)) for rank, (id, _) in enumerate(leg, start=1)]
            for name, leg in weighted_legs(legs, weights).items()
        }

    @abstractmethod
    def at(self, weight: float, rank: int) -> float:
        """Give what a leg of this weight contributes at a rank."""

    def top(self, weight: float) -> float:
        """Give the most that a leg of this weight can contribute: its first rank."""
        return self.at(weight, 1)

    def steepest(self, weight: float, depth: int) -> list[float]:
        """Give what a leg this deep contributes, rank by rank, at the least."""
        return [self.at(weight, rank) for rank in range(1, depth + 1)]

    def flattest(self, weight: float, depth: int) -> list[float]:
        """Give what a leg this deep contributes, rank by rank, at the most: ranks leave no choice."""
        return self.steepest(weight, depth)
