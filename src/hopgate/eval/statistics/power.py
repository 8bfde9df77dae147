"""How many queries would decide: from the spread, the effect, and what the honest interval adds."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

POWER = 0.8


def spread(differences: ArrayLike) -> float:
    """Estimate the standard deviation of the differences, as if one more query had differed from the mean by 1.

    Ties never make it 0: "nothing happened" on few queries is not certainty.

    Examples
    --------
    >>> round(spread([0.0] * 15), 3), round(spread([0.0] * 3 + [1.0]), 3)
    (0.25, 0.592)
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.size == 0:
        return 1.0
    return float(np.sqrt((((values - values.mean()) ** 2).sum() + 1.0) / (values.size + 1)))


def queries_needed(sd: float, effect: float, *, level: float = 0.025, power: float = POWER) -> int:
    """Number of queries with which an effect of this size is decided with the given power.

    The smallest n with (z_level + z_power) · sd / √n + (1 + effect) / n ≤ effect. The same number serves a gain to be
    shown against 0, a worthwhile gain to be excluded where there is none, and a harm to be excluded by its margin.

    Examples
    --------
    >>> queries_needed(0.25, 0.03), queries_needed(0.25, 0.10)
    (612, 70)
    """
    if not effect > 0:
        raise ValueError("the effect to be found must be above 0")
    slope, constant = (_z(level) + _z(1 - power)) * sd, 1.0 + min(effect, 1.0)
    root = (-slope + math.sqrt(slope * slope + 4 * constant * effect)) / (2 * constant)
    return math.ceil(1.0 / root**2)


def smallest_effect(sd: float, n: int, *, level: float = 0.025, power: float = POWER) -> float:
    """Smallest effect that n queries would have decided with the given power; `queries_needed` turned round.

    Examples
    --------
    >>> round(smallest_effect(0.25, 100), 3)
    0.081
    """
    if n < 2:
        return 1.0
    return min(1.0, ((_z(level) + _z(1 - power)) * sd / math.sqrt(n) + 1.0 / n) / (1 - 1.0 / n))


def _z(level: float) -> float:
    from scipy.special import ndtri

    return float(-ndtri(level))
