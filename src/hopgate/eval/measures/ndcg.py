"""Normalised discounted cumulative gain, with linear gains as in trec_eval.

Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from hopgate.eval.measures.measure import Measure


@dataclass(frozen=True, repr=False)
class NDCG(Measure):
    """Graded gains discounted by rank, over what the best order would have given.

    Examples
    --------
    >>> NDCG(k=10)
    ndcg@10
    >>> NDCG(k=10).of(["a", "b"], {"a": 2, "b": 1})
    1.0
    """

    name: ClassVar[str] = "ndcg"

    def score(self, ranked: Sequence[str], gold: Mapping[str, int]) -> float:
        """Score one ranking already cut at `k`."""
        best = sorted((grade for grade in gold.values() if grade > 0), reverse=True)[: self.k]
        if not best:
            return 0.0
        ideal = _gain(best)
        return _gain([max(0, gold.get(found, 0)) for found in ranked]) / ideal


def _gain(grades: Sequence[int]) -> float:
    """Sum the grades over the binary logarithm of rank + 1; most are 0, so that is quicker than an array."""
    return math.fsum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, 1) if grade)
