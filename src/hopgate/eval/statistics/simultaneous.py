"""One family-wise level over everything that can decide: who gets how much of it, and simultaneous intervals.

What can be decided, and wrongly: (S) "the graph helps" where the mean gain is ≤ 0; (W) "a worthwhile gain is excluded"
where it is ≥ worthwhile; for every harm comparison j, (H) "harm shown" where the loss is within the margin, or (E)
"harm excluded" where it is beyond. S and W cannot both be wrong, nor can H and E of one j: at most one of each pair is
at risk. So with

    S and W at level α/2 each            (the ordinary two-sided interval of confidence 1 − α)
    H and E of each of m harms at α/(2m)  (two-sided intervals of confidence 1 − α/m)

the chance of any wrong decision is at most α/2 + m · α/(2m) = α, whatever the truth and however the comparisons hang
together. The claim pays nothing for the number of slices and measures that are watched; the harms share their half.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Levels:
    """What each one-sided decision may err, of one declared family-wise level.

    Examples
    --------
    >>> shared(0.05, 25)
    Levels(claim=0.025, harm=0.001)
    """

    claim: float
    harm: float


def shared(alpha: float, harms: int) -> Levels:
    """Share the level out: half to the claim, half to the harms, evenly."""
    return Levels(alpha / 2, alpha / 2 / max(1, harms))


def fewest_to_decide(level: float, margin: float) -> int:
    """Give the number of queries below which not even a loss of 1 on every one of them could show harm at this level.

    It depends on the number of queries alone and not on how they came out, so comparisons on fewer may be left out of
    the family beforehand.

    Examples
    --------
    >>> fewest_to_decide(0.025, 0.02), fewest_to_decide(0.001, 0.02)
    (6, 11)
    """
    # All lost: the limit is 1 − 2 · level^(1/n), see intervals.upper_limit.
    return math.floor(math.log(level) / math.log((1 + margin) / 2)) + 1


def can_decide(sizes: Sequence[int], alpha: float, margin: float) -> list[bool]:
    """Say which comparisons, by their number of queries, can decide; the others are reported and take no level.

    Examples
    --------
    >>> can_decide([3, 12, 51, 7], 0.05, 0.02)
    [False, True, True, False]
    """
    kept = [True] * len(sizes)
    while True:
        fewest = fewest_to_decide(shared(alpha, sum(kept)).harm, margin)
        new = [size >= fewest for size in sizes]
        # Fewer in the family is more level for each, never less: begin from all and drop until it settles.
        new = [a and b for a, b in zip(kept, new, strict=True)]
        if new == kept:
            return kept
        kept = new
