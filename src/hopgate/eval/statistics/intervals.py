"""Confidence limits for the mean of bounded differences: honest at small n, never a point, no resampling.

The bound of Gaffke ("Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
variable", Mathematical Methods of Statistics 14(4), 2005; again by Learned-Miller and Thomas, arXiv:1905.06208,
2019): add one imagined query at the worst possible value, give all queries random weights that sum to 1 (uniform on
the simplex), and take a quantile of the weighted mean. With differences of 0 and 1 alone it *is* the limit of Clopper
and Pearson; with many queries it is the Bayesian bootstrap. That it never covers too rarely is a conjecture that has
withstood every search for a counter-example, ours too; it is proved for two values.

The weighted mean lies at or below t exactly where Σ (value − t) · E ≤ 0 with E independent standard exponentials; its
probability is one integral, so that nothing is drawn and the same values give the same limits, bit for bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FLOOR, CEILING = -1.0, 1.0
"""What a difference of two measures in 0..1 cannot go beyond."""

# The path of integration: y = scale · sinh(v). The integrand is analytic and even in v, where the trapezoid rule
# converges geometrically; halving the step or doubling the end changes no limit by 1e-9 (tests/eval/statistics).
_NODES = np.arange(0.0, 14.0, 0.1)
_WEIGHTS = np.cosh(_NODES) * 0.1 * np.where(_NODES == 0, 0.5, 1.0)
_SINH = np.sinh(_NODES)
_SAME = 1e-12
# Limits are found to this width, far below what is printed, and given on the safe side of it.
_WIDTH = 1e-7


def chance_below(values: ArrayLike, at: float, *, imagined: float) -> float:
    """Probability that the randomly weighted mean of the values and one imagined value lies at or below `at`.

    With the imagined value at the floor it is the p value of "the mean is at most `at`" turned round: the chance
    is small where the data speak for a mean above `at`.

    Parameters
    ----------
    values : array of float
    at : float
    imagined : float
        The worst value that an unseen query could have.

    Examples
    --------
    >>> round(chance_below([0.0] * 10, 0.3085, imagined=1.0), 4)  # 1 − (1 − 0.3085)^10
    0.975
    """
    # Equal values are one term: most differences of a measure are ties.
    kept, counts = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
    slope = np.append(kept, imagined) - at
    shape = np.append(counts, 1.0)
    if (slope >= -_SAME).all():
        return 0.0
    if (slope <= _SAME).all():
        return 1.0
    alive = np.abs(slope) > _SAME
    return _negative(slope[alive], shape[alive])


def _negative(slope: NDArray[np.float64], shape: NDArray[np.float64]) -> float:
    """Chance that a sum of independent gamma variables, each times its slope, is negative.

    The inversion integral of the moment generating function through its saddle point, where it does not oscillate:
    small chances come out with the same relative precision as large ones (Daniels, "Tail probability approximations",
    1987).
    """
    rises = float(shape @ slope) > 0
    saddle = _saddle(slope, shape)
    scale = 1.0 / float(np.sqrt(shape @ (slope / (1 - slope * saddle)) ** 2))
    if abs(saddle) < 0.1 * scale:  # any path between the poles will do but one through 0
        saddle = -0.1 * scale if rises else 0.1 * scale
    s = saddle + 1j * scale * _SINH
    height = np.exp(-(np.log1p(-s[:, None] * slope) @ shape)) / s
    tail = abs(float((height.real * _WEIGHTS).sum()) * scale / np.pi)
    return min(1.0, tail) if rises else max(0.0, 1.0 - tail)


def _saddle(slope: NDArray[np.float64], shape: NDArray[np.float64]) -> float:
    """Where the logarithm of the moment generating function is least; near enough, by halving between the poles."""
    low, high = 1.0 / float(slope.min()), 1.0 / float(slope.max())
    for _ in range(30):
        middle = (low + high) / 2
        if float(shape @ (slope / (1 - slope * middle))) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def lower_limit(values: ArrayLike, level: float, *, floor: float = FLOOR) -> float:
    """Limit that lies above the true mean with a chance of at most `level`.

    Examples
    --------
    >>> round(lower_limit([1.0] * 5, 0.025), 4)  # five wins of five: 2 · 0.025^(1/5) − 1
    -0.0436
    """
    # Seen from below: turned round, the lower limit is an upper one.
    return -upper_limit(-np.asarray(values, dtype=np.float64), level, ceiling=-floor)


def upper_limit(values: ArrayLike, level: float, *, ceiling: float = CEILING) -> float:
    """Limit that lies below the true mean with a chance of at most `level`.

    Examples
    --------
    >>> round(upper_limit([0.0] * 100, 0.025), 4)  # a hundred ties: 1 − 0.025^(1/100)
    0.0362
    """
    found = np.asarray(values, dtype=np.float64)
    if found.size == 0:
        return ceiling
    from scipy.optimize import brentq

    def beyond(at: float) -> float:
        return chance_below(found, at, imagined=ceiling) - (1 - level)

    mean = float(found.mean())
    if mean >= ceiling - _WIDTH or beyond(ceiling - _WIDTH) <= 0:
        return ceiling
    # Rounded to the safe side: the limit is given where it has been passed for certain.
    return min(ceiling, float(brentq(beyond, mean, ceiling - _WIDTH, xtol=_WIDTH / 2)) + _WIDTH)


def mean_interval(
    values: ArrayLike, confidence: float = 0.95, *, floor: float = FLOOR, ceiling: float = CEILING
) -> tuple[float, float]:
    """Interval of the mean, each end missing the truth at most half of the time that is allowed.

    Examples
    --------
    >>> low, high = mean_interval([0.0] * 14 + [-1.0])  # 14 ties and one loss say next to nothing
    >>> round(low, 2), round(high, 2)
    (-0.32, 0.18)
    >>> mean_interval([])
    (-1.0, 1.0)
    """
    level = (1 - confidence) / 2
    return lower_limit(values, level, floor=floor), upper_limit(values, level, ceiling=ceiling)


def above(values: ArrayLike, at: float, level: float) -> bool:
    """Say whether the lower limit at this level lies above a value: the same decision as by `lower_limit`, faster.

    Examples
    --------
    >>> above([1.0] * 6, 0.0, 0.025), above([1.0] * 5, 0.0, 0.025)  # six of six, as in the sign test
    (True, False)
    """
    found = np.asarray(values, dtype=np.float64)
    return found.size > 0 and float(found.mean()) > at and chance_below(found, at, imagined=FLOOR) < level


def below(values: ArrayLike, at: float, level: float) -> bool:
    """Say whether the upper limit at this level lies below a value.

    Examples
    --------
    >>> below([0.0] * 122, 0.03, 0.025), below([0.0] * 121, 0.03, 0.025)
    (True, False)
    """
    return above(-np.asarray(values, dtype=np.float64), -at, level)
