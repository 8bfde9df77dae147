"""Values → percentages of a plot's width, and round ticks to read them by."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class AxisScale:
    """A linear scale from a range of values to percentages.

    Everything is drawn in percentages, so that one drawing fits a desk and a phone with its text at the same size.

    Examples
    --------
    >>> AxisScale(0.0, 2.0).at(0.5)
    25.0
    >>> AxisScale(0.0, 2.0, 10.0, 90.0).at(2.0)
    90.0
    """

    low: float
    high: float
    start: float = 0.0
    end: float = 100.0

    def at(self, value: float) -> float:
        """Give a value's place; one outside is put at the edge."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 3)

    def ticks(self, about: int = 5) -> list[float]:
        """Give round values to label."""
        step = _round_step((self.high - self.low) / about)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(index * step, 10) for index in range(first, last + 1)]


def fitted(values: Iterable[float], *, start: float = 3.0, end: float = 97.0, floor: float | None = None) -> AxisScale:
    """Make a scale that holds all the values with a little room, on round numbers.

    Examples
    --------
    >>> fitted([0.53, 0.81])
    AxisScale(low=0.5, high=0.9, start=3.0, end=97.0)
    """
    found = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(found), max(found)
    if high - low < 1e-9:
        low, high = low - 0.05, high + 0.05
    step = _round_step((high - low) / 5)
    low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    if floor is not None:
        low = max(low, floor)
    return AxisScale(round(low, 10), round(high, 10), start, end)


def _round_step(rough: float) -> float:
    size = math.pow(10, math.floor(math.log10(rough)))
    return next(nice * size for nice in (1, 2, 2.5, 5, 10) if nice * size >= rough * 0.999)
