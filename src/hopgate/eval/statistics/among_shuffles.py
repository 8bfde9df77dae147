"""Where the real graph stands among shuffles of itself, each tuned like it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hopgate.eval.statistics.intervals import above, below, mean_interval

# Half of the shuffles or more are as good: the structure is not what helps, and more queries would say the same.
AMID = 0.5


class ControlOutcome(StrEnum):
    """How the control came out."""

    PASSES = "passes"
    FAILS = "fails"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Among:
    """The real graph among its shuffles.

    Parameters
    ----------
    place, shuffles : int
        1 where the real graph is better than every shuffle; a shuffle that is as good counts against it.
    p : float
        `place / (shuffles + 1)`: how often a graph that is one more shuffle would stand so high.
    difference, interval
        The challenger over the mean of the shuffles, paired by query.
    means : tuple of float
        What each shuffle scored.
    outcome : ControlOutcome
    """

    place: int
    shuffles: int
    p: float
    difference: float
    interval: tuple[float, float]
    means: tuple[float, ...]
    outcome: ControlOutcome

    def to_dict(self) -> dict[str, Any]:
        """Give it in the shape of the report."""
        return {**asdict(self), "outcome": self.outcome.value}


def rank_p(real: float, shuffles: Sequence[float]) -> float:
    """Exact p of "the real graph is one more shuffle of itself".

    Examples
    --------
    >>> round(rank_p(0.9, [0.8] * 20), 4), round(rank_p(0.8, [0.8] * 20), 4)
    (0.0476, 1.0)
    """
    return (1 + sum(value >= real - 1e-12 for value in shuffles)) / (1 + len(shuffles))


def among_shuffles(
    real: ArrayLike, shuffles: ArrayLike, *, alpha: float = 0.05, rank_alpha: float = 0.05, worthwhile: float = 0.03
) -> Among:
    """Compare per-query values of the challenger with those of its shuffles.

    It *passes* where both hold: the real graph is above all shuffles (rank p ≤ `rank_alpha`, the queries taken as they
    are), and its gain over their mean lies above 0 (lower limit at α/2, the queries taken as a sample). A verdict of
    OPEN needs this *and* the gain over the base, so neither is corrected for the other (intersection–union). It
    *fails* where half of the shuffles are as good, or a worthwhile gain over their mean is excluded; else it is
    *undecided*.

    Parameters
    ----------
    real : array of float
        One value a query.
    shuffles : array of float
        One row a shuffle, one column a query.

    Examples
    --------
    >>> found = among_shuffles([1.0] * 30 + [0.5] * 20, [[0.5] * 50] * 20)
    >>> found.place, round(found.p, 3), found.difference, found.outcome.value
    (1, 0.048, 0.3, 'passes')
    """
    mine, theirs = np.asarray(real, dtype=np.float64), np.asarray(shuffles, dtype=np.float64)
    gain = np.round(mine - theirs.mean(axis=0), 9)
    means = tuple(float(mean) for mean in theirs.mean(axis=1))
    p = rank_p(float(mine.mean()), means)
    found = control_outcome(gain, p, alpha=alpha, rank_alpha=rank_alpha, worthwhile=worthwhile)
    place = round(p * (1 + len(theirs)))
    return Among(place, len(theirs), p, float(gain.mean()), mean_interval(gain, 1 - alpha), means, found)


def control_outcome(
    gain: ArrayLike, p: float, *, alpha: float = 0.05, rank_alpha: float = 0.05, worthwhile: float = 0.03
) -> ControlOutcome:
    """Weigh the rank among the shuffles and the gain over their mean, one value a query.

    Examples
    --------
    >>> control_outcome([0.5] * 10 + [0.0] * 30, 1 / 21).value, control_outcome([0.5] * 10 + [0.0] * 30, 2 / 21).value
    ('passes', 'undecided')
    """
    if p <= rank_alpha and above(gain, 0.0, alpha / 2):
        return ControlOutcome.PASSES
    if p > AMID or below(gain, worthwhile, alpha / 2):
        return ControlOutcome.FAILS
    return ControlOutcome.UNDECIDED
