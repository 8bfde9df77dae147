"""Mean reciprocal rank: how far down the first relevant memory is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from hopgate.eval.data.runs import relevant
from hopgate.eval.measures.measure import Measure


@dataclass(frozen=True, repr=False)
class MRR(Measure):
    """One over the rank of the first relevant memory; 0 when there is none.

    Examples
    --------
    >>> MRR()
    mrr
    >>> MRR().of(["x", "a"], {"a": 1})
    0.5
    """

    name: ClassVar[str] = "mrr"

    def score(self, ranked: Sequence[str], gold: Mapping[str, int]) -> float:
        """Score one ranking already cut at `k`."""
        wanted = relevant(gold)
        return next((1.0 / rank for rank, found in enumerate(ranked, 1) if found in wanted), 0.0)
