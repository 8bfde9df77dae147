"""What every measure shares: a name, a cut-off, per-query values first and the mean second."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from hopgate.errors import HopgateError
from hopgate.eval.data.runs import Qrels, Run, ordered


@dataclass(frozen=True, repr=False)
class Measure(ABC):
    """A measure, as a value.

    Parameters
    ----------
    k : int, optional
        How many of the first ids count; all of them when not given.
    """

    k: int | None = None
    name: ClassVar[str]

    def __post_init__(self) -> None:
        if self.k is not None and self.k < 1:
            raise HopgateError(f"{self.name}@{self.k} counts nothing: the cut-off must be at least 1")

    def __repr__(self) -> str:
        return self.name if self.k is None else f"{self.name}@{self.k}"

    @abstractmethod
    def score(self, ranked: Sequence[str], gold: Mapping[str, int]) -> float:
        """Score one ranking, best first and no id twice, already cut at `k`."""

    def of(self, ranked: Sequence[str], gold: Mapping[str, int]) -> float:
        """Score one ranking of any length."""
        return self.score(ranked if self.k is None else ranked[: self.k], gold)

    def per_query(self, run: Run, qrels: Qrels) -> dict[str, float]:
        """Score every judged query; one that the run lacks counts 0, so nothing gains by skipping."""
        return {query: self.of(ordered(run.get(query, ())), gold) for query, gold in qrels.items()}

    def mean(self, run: Run, qrels: Qrels, queries: Iterable[str] | None = None) -> float:
        """Average over the judged queries, or over those named."""
        values = self.per_query(run, qrels)
        chosen = list(values.values()) if queries is None else [values[query] for query in queries]
        return sum(chosen) / len(chosen) if chosen else 0.0


def score_all(run: Run, qrels: Qrels, measures: Iterable[Measure]) -> dict[Measure, dict[str, float]]:
    """Score every judged query by several measures, each ranking ordered once.

    The same as `per_query` for each of them.
    """
    wanted = list(dict.fromkeys(measures))
    values: dict[Measure, dict[str, float]] = {measure: {} for measure in wanted}
    for query, gold in qrels.items():
        ranked = ordered(run.get(query, ()))
        for measure in wanted:
            values[measure][query] = measure.of(ranked, gold)
    return values
