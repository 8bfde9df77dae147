"""Mean average precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from hopgate.eval.data.runs import relevant
from hopgate.eval.measures.measure import Measure


@dataclass(frozen=True, repr=False)
class MAP(Measure):
    """The precision at each relevant memory's rank, averaged over all relevant memories.

    Examples
    --------
    >>> MAP()
    map
    >>> MAP().of(["a", "x", "b"], {"a": 1, "b": 1})
    0.8333333333333333
    """

    name: ClassVar[str] = "map"

    def score(self, ranked: Sequence[str], gold: Mapping[str, int]) -> float:
        """Score one ranking already cut at `k`."""
        wanted = relevant(gold)
        ranks = [rank for rank, found in enumerate(ranked, 1) if found in wanted]
        return sum(seen / rank for seen, rank in enumerate(ranks, 1)) / len(wanted) if wanted else 0.0
