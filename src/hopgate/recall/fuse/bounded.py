"""The bounds a fuser must state on its contributions before reachability can be proved for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol, runtime_checkable

from hopgate.recall.fuse.fused import Fused, Id


@runtime_checkable
class Bounded(Protocol):
    """A fuser that adds up contributions whose limits are known from weight and rank alone.

    `RRF`, `StretchedRRF`, `TM2C2` and `MinMax` are. A fuser that is not (a learned one, say) still fuses; its
    reachability can only be measured.

    Examples
    --------
    >>> from hopgate.recall.fuse import RRF
    >>> isinstance(RRF(), Bounded), RRF().top(0.35) == 0.35 / 61, RRF().weight_for(1 / 70)
    (True, True, 0.8714285714285714)
    """

    @property
    def weights(self) -> Mapping[str, float]:
        """The weight of every leg it knows."""
        ...

    def fuse(
        self, legs: Mapping[str, Sequence[tuple[Id, float]]], *, unseen: Mapping[str, AbstractSet[Id]] = ...
    ) -> list[Fused[Id]]:
        """Rank the pool of the legs, best first; `unseen` names, leg by leg, what it could not have listed."""
        ...

    def top(self, weight: float) -> float:
        """Give the most that a leg of this weight can contribute to a candidate."""
        ...

    def weight_for(self, score: float) -> float:
        """Give the least weight at which `top` is no less than the score, infinite where there is none."""
        ...

    def steepest(self, weight: float, depth: int) -> list[float]:
        """Give the contributions, rank by rank, of a leg of this weight and depth whose scores fall fastest."""
        ...

    def flattest(self, weight: float, depth: int) -> list[float]:
        """Give the contributions, rank by rank, of a leg of this weight and depth whose scores fall least."""
        ...
