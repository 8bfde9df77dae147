"""Measures as values: `Recall(10)` prints as `recall@10`, hashes, and scores one ranking at a time.

All lie in 0..1. A memory is relevant whose grade is at least `relevant_from`; what is below counts nothing, in any of
them. Of a ranking, best first and no id twice, the first `k` count, or all where no `k` is given.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hopgate.errors import HopgateError

_SHAPE = re.compile(r"(?P<name>[a-z]+)(?:@(?P<k>[1-9][0-9]{0,6}))?")


@dataclass(frozen=True, repr=False)
class Measure(ABC):
    """What every measure shares: a name and a cut-off.

    Parameters
    ----------
    k : int, optional
        How many of the first ids count; all of them when not given.

    Examples
    --------
    >>> Recall(10), MAP()
    (recall@10, map)
    >>> ranked, grades = ["a", "x", "b"], {"a": 2, "b": 1}
    >>> Recall(2).score(ranked, grades), Recall(2).score(ranked, grades, relevant_from=2)
    (0.5, 1.0)
    >>> MRR().score(ranked[1:], grades), round(MAP().score(ranked, grades), 3), Success(1).score(ranked, grades)
    (0.5, 0.833, 1.0)
    >>> NDCG(2).score(["a", "b"], grades)
    1.0
    """

    k: int | None = None

    def __post_init__(self) -> None:
        if self.k is not None and self.k < 1:
            raise HopgateError(f"{self} counts nothing: the cut-off must be at least 1")

    def __repr__(self) -> str:
        name = type(self).__name__.lower()
        return name if self.k is None else f"{name}@{self.k}"

    def score(self, ranked: Sequence[str], grades: Mapping[str, int], relevant_from: int = 1) -> float:
        """Score one ranking; 0 where nothing is relevant."""
        gains = {memory: grade for memory, grade in grades.items() if grade >= max(1, relevant_from)}
        return self._of([gains.get(memory, 0) for memory in ranked[: self.k]], gains) if gains else 0.0

    @abstractmethod
    def _of(self, ranking: Sequence[int], gains: Mapping[str, int]) -> float:
        """Score the gains in the order of the ranking, where `gains` are all that there are."""


class Recall(Measure):
    """The share of the relevant memories that was found."""

    def _of(self, ranking: Sequence[int], gains: Mapping[str, int]) -> float:
        return sum(map(bool, ranking)) / len(gains)


class NDCG(Measure):
    """Gains by grade, linear and discounted by rank as in trec_eval, over what the best order would have given."""

    def _of(self, ranking: Sequence[int], gains: Mapping[str, int]) -> float:
        return _discounted(ranking) / _discounted(sorted(gains.values(), reverse=True)[: self.k])


class MRR(Measure):
    """One over the rank of the first relevant memory."""

    def _of(self, ranking: Sequence[int], gains: Mapping[str, int]) -> float:  # noqa: ARG002
        return next((1.0 / rank for rank, gain in enumerate(ranking, 1) if gain), 0.0)


class MAP(Measure):
    """The precision at each relevant memory's rank, averaged over all relevant memories."""

    def _of(self, ranking: Sequence[int], gains: Mapping[str, int]) -> float:
        ranks = [rank for rank, gain in enumerate(ranking, 1) if gain]
        return sum(count / rank for count, rank in enumerate(ranks, 1)) / len(gains)


class Success(Measure):
    """1 where anything relevant was found at all, else 0."""

    def _of(self, ranking: Sequence[int], gains: Mapping[str, int]) -> float:  # noqa: ARG002
        return float(any(ranking))


KINDS: dict[str, type[Measure]] = {kind.__name__.lower(): kind for kind in (Recall, NDCG, MRR, MAP, Success)}


def _discounted(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1) if gain)


def parse_measure(text: str) -> Measure:
    """Read a measure as it prints, in any case.

    Examples
    --------
    >>> parse_measure("nDCG@10"), parse_measure("mrr")
    (ndcg@10, mrr)
    """
    match = _SHAPE.fullmatch(text.strip().lower())
    if match is None or match["name"] not in KINDS:
        known = ", ".join(f"{name}@k" for name in KINDS)
        raise HopgateError(f"{text!r} is not a measure: use one of {known}, or leave out @k to count the whole ranking")
    return KINDS[match["name"]](int(match["k"]) if match["k"] else None)
