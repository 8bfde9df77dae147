"""What a set of queries could have shown: the smallest detectable effect, and how many queries one would need."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

ALPHA = 0.05
POWER = 0.8


def spread(differences: ArrayLike) -> float:
    """Estimate the standard deviation of the paired differences.

    Where all are equal the sample cannot tell how much queries vary; it is then taken as if one query of them had
    differed by 1, so that "nothing happened" on few queries is not mistaken for certainty.

    Examples
    --------
    >>> spread([0.0, 1.0, 0.0, 1.0])
    0.5773502691896257
    >>> spread([0.0] * 4)
    0.5
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.size < 2:
        return 1.0
    measured = float(values.std(ddof=1))
    return measured if measured > 1e-12 else 1.0 / math.sqrt(values.size)


def smallest_effect(sd: float, n: int, *, alpha: float = ALPHA, power: float = POWER) -> float:
    """Mean difference that a two-sided paired test of `n` queries would find with the given power.

    Examples
    --------
    >>> round(smallest_effect(0.3, 100), 3)
    0.085
    """
    return (_quantile(1 - alpha / 2, n) + _quantile(power, n)) * sd / math.sqrt(n) if n > 1 else math.inf


def queries_needed(sd: float, effect: float, *, alpha: float = ALPHA, power: float = POWER) -> int:
    """Smallest number of queries whose `smallest_effect` is at most `effect`.

    Examples
    --------
    >>> queries_needed(0.3, 0.05)
    285
    """
    if not effect > 0:
        raise ValueError("the effect to be found must be above 0")
    n = 2
    # The quantiles depend on n through the degrees of freedom: iterate the closed form until it settles.
    for _ in range(50):
        wanted = max(2, math.ceil(((_quantile(1 - alpha / 2, n) + _quantile(power, n)) * sd / effect) ** 2))
        if wanted == n:
            break
        n = wanted
    while smallest_effect(sd, n, alpha=alpha, power=power) > effect:
        n += 1
    while n > 2 and smallest_effect(sd, n - 1, alpha=alpha, power=power) <= effect:
        n -= 1
    return n


def _quantile(level: float, n: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(max(1, n - 1), level))
