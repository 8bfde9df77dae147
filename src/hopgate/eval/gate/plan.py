"""What counts as enough for a verdict."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Policy:
    """What counts as enough.

    Parameters
    ----------
    alpha : float
        The level of the test, after Holm's correction.
    worthwhile : float
        The smallest gain at the primary measure that would be worth a graph leg; CLOSED needs it excluded.
    harm : float
        The largest loss that is put up with elsewhere.
    fewest : int
        With fewer queries there is no verdict: no bootstrap interval of so few can be trusted.
    reachable : float
        The share of queries on which a graph-only candidate must have been able to enter the top k.
    permutations, resamples, seed : int
        Of the randomisation test and the bootstrap.
    """

    alpha: float = 0.05
    worthwhile: float = 0.03
    harm: float = 0.02
    fewest: int = 10
    reachable: float = 0.5
    permutations: int = 10_000
    resamples: int = 5_000
    seed: int = 0
