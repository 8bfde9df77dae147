"""What fusers by score share: a leg's first gets the leg's whole weight, and the scores below may fall in any way."""

from __future__ import annotations

from hopgate.recall.fuse.weights import Weighted


class WholeWeight(Weighted):
    """The bounds of a fuser that scales each leg's scores to 0..1, its first to 1."""

    def top(self, weight: float) -> float:
        """Give the most that a leg of this weight can contribute: its first hit gets all of it."""
        return weight

    def weight_for(self, score: float) -> float:
        """Give the weight at which `top` is this score: every weight above it scores more."""
        return score

    def steepest(self, weight: float, depth: int) -> list[float]:
        """Give what a leg this deep contributes at the least: all below its first hit get nothing."""
        return [weight, *[0.0] * (depth - 1)][:depth]

    def flattest(self, weight: float, depth: int) -> list[float]:
        """Give what a leg this deep contributes at the most: all its hits tie for the first place."""
        return [weight] * depth
