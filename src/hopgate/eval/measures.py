"""Measures as values: `Recall(10)` prints as `recall@10`, hashes, and scores one ranking at a time.

All lie in 0..1. A memory is relevant whose grade is at least `relevant_from`; what is below counts nothing, in any of
them. Of a ranking, best first and no id twice, the first `k` count, or all where no `k` is given.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from hopgate.errors import HopgateError

_SHAPE = re.compile(r"(?P<name>[a-z]+)(?:@(?P<k>[1-9][0-9]{0,6}))?")


def _discounted(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1) if gain)


def _precisions(gains: Sequence[int]) -> float:
    """The sum of the precisions at each relevant memory's rank."""
    ranks = [rank for rank, gain in enumerate(gains, 1) if gain]
    return sum(count / rank for count, rank in enumerate(ranks, 1))


KINDS: Mapping[str, Callable[[Sequence[int], Sequence[int], int | None], float]] = {
    # The share of the relevant memories that was found.
    "recall": lambda ranking, gains, _: sum(map(bool, ranking)) / len(gains),
    # Gains by grade, linear and discounted by rank as in trec_eval, over what the best order would have given.
    "ndcg": lambda ranking, gains, k: _discounted(ranking) / _discounted(sorted(gains, reverse=True)[:k]),
    # One over the rank of the first relevant memory.
    "mrr": lambda ranking, *_: next((1 / rank for rank, gain in enumerate(ranking, 1) if gain), 0.0),
    # The precision at each relevant memory's rank, averaged over all relevant memories.
    "map": lambda ranking, gains, _: _precisions(ranking) / len(gains),
    # 1 where anything relevant was found at all, else 0.
    "success": lambda ranking, *_: float(any(ranking)),
}
"""Measure → the gains in the order of a ranking, all gains that there are, the cut-off → its value."""


@dataclass(frozen=True, repr=False)
class Measure:
    """One of `KINDS` with a cut-off, such as `Recall(10)`.

    Examples
    --------
    >>> Recall(10), Measure("map")
    (recall@10, map)
    >>> ranked, grades = ["a", "x", "b"], {"a": 2, "b": 1}
    >>> Recall(2).score(ranked, grades), Recall(2).score(ranked, grades, relevant_from=2)
    (0.5, 1.0)
    >>> MRR().score(ranked[1:], grades), round(Measure("map").score(ranked, grades), 3), NDCG(2).score("ab", grades)
    (0.5, 0.833, 1.0)
    """

    name: str
    k: int | None = None

    def __post_init__(self) -> None:
        if self.k is not None and self.k < 1:
            raise HopgateError(f"{self} counts nothing: the cut-off must be at least 1")

    def __repr__(self) -> str:
        return self.name if self.k is None else f"{self.name}@{self.k}"

    def score(self, ranked: Sequence[str], grades: Mapping[str, int], relevant_from: int = 1) -> float:
        """Score one ranking; 0 where nothing is relevant."""
        gains = {memory: grade for memory, grade in grades.items() if grade >= max(1, relevant_from)}
        ranking = [gains.get(memory, 0) for memory in ranked[: self.k]]
        return KINDS[self.name](ranking, [*gains.values()], self.k) if gains else 0.0


Recall, NDCG, MRR = (partial(Measure, name) for name in ("recall", "ndcg", "mrr"))


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
    return Measure(match["name"], int(match["k"]) if match["k"] else None)
