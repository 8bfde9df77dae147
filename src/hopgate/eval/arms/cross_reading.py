"""A cross-encoder over the arms of a gate: every pair of query and memory is read once, whichever arm asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hopgate.eval.arms.fused_runs import READ, reread
from hopgate.eval.data.queries import Query
from hopgate.eval.data.runs import Run
from hopgate.eval.gate.evidence import Arm
from hopgate.memory import Cleared

Score = Callable[[str, Sequence[tuple[str, Cleared]]], Mapping[str, float]]
"""Query and texts by id → a score for each."""


@dataclass(frozen=True)
class CrossReading:
    """Re-reads the first memories of an arm's rankings.

    Parameters
    ----------
    queries : mapping of id to Query
    texts : mapping of id to cleared text
        From the sensitivity guard; a memory that is not among them is not read and keeps its place.
    score : callable
        The cross-encoder.
    """

    queries: Mapping[str, Query] = field(repr=False)
    texts: Mapping[str, Cleared] = field(repr=False)
    score: Score = field(repr=False)
    _known: dict[tuple[str, str], float] = field(default_factory=dict, repr=False)

    @staticmethod
    def name(arm: str) -> str:
        """What an arm is called once it was re-read."""
        return f"{arm}, re-read"

    def run(self, run: Run) -> tuple[dict[str, list[tuple[str, float]]], dict[str, list[tuple[str, float]]]]:
        """Give a run in its new order, and what was scored for it."""
        read = {
            query: sorted(self._scores(query, [name for name, _ in found[:READ]]).items())
            for query, found in run.items()
        }
        return {query: reread(found, dict(read[query])) for query, found in run.items()}, read

    def arm(self, arm: Arm) -> Arm:
        """Give the arm with its rankings re-read."""
        run, read = self.run(arm.run)
        return replace(arm, name=self.name(arm.name), run=run, read=read)

    def _scores(self, query: str, memories: Sequence[str]) -> dict[str, float]:
        wanted = [memory for memory in memories if memory in self.texts]
        new = [(memory, self.texts[memory]) for memory in wanted if (query, memory) not in self._known]
        if new:
            for memory, score in self.score(self.queries[query].text, new).items():
                self._known[query, memory] = score
        return {memory: self._known[query, memory] for memory in wanted}


def bundled_reading(queries: Mapping[str, Query], texts: Mapping[str, Cleared]) -> CrossReading:
    """Read with recall's own cross-encoder, with all the time that it takes."""
    from hopgate.recall.rerank import load_reranker
    from hopgate.recall.settings import MAX_TIMEOUT_S

    reranker = load_reranker()

    def score(query: str, found: Sequence[tuple[str, Cleared]]) -> dict[str, float]:
        order = reranker.rerank(query, found, MAX_TIMEOUT_S).order
        return {memory: value for memory, value in order if value is not None}

    return CrossReading(queries, texts, score)
