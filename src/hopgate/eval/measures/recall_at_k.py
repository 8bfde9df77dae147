"""Recall: the share of what is relevant that was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from hopgate.eval.data.runs import relevant
from hopgate.eval.measures.measure import Measure


@dataclass(frozen=True, repr=False)
class Recall(Measure):
    """The share of the relevant memories among the first `k`.

    Examples
    --------
    >>> Recall(k=2)
    recall@2
    >>> Recall(k=2).of(["a", "x", "b"], {"a": 1, "b": 1})
    0.5
    """

    name: ClassVar[str] = "recall"

    def score(self, ranked: Sequence[str], gold: Mapping[str, int]) -> float:
        """Score one ranking already cut at `k`."""
        wanted = relevant(gold)
        return len(wanted.intersection(ranked)) / len(wanted) if wanted else 0.0
