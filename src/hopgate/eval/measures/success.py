"""Success: whether anything relevant was found at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from hopgate.eval.data.runs import relevant
from hopgate.eval.measures.measure import Measure


@dataclass(frozen=True, repr=False)
class Success(Measure):
    """1 when one relevant memory is among the first `k`, else 0.

    Examples
    --------
    >>> Success(k=1).of(["x", "a"], {"a": 1}), Success(k=2).of(["x", "a"], {"a": 1})
    (0.0, 1.0)
    """

    name: ClassVar[str] = "success"

    def score(self, ranked: Sequence[str], gold: Mapping[str, int]) -> float:
        """Score one ranking already cut at `k`."""
        return float(not relevant(gold).isdisjoint(ranked))
