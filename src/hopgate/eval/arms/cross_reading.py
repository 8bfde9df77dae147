"""A cross-encoder over the arms of a gate: every pair of query and memory is read once, whichever arm asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hopgate.eval.arms.fused_runs import READ, follow_walk, reread
from hopgate.eval.data.dataset import Query
from hopgate.eval.data.runs import Run
from hopgate.eval.gate.evidence import Arm
from hopgate.memory import Cleared

if TYPE_CHECKING:
    from hopgate.eval.arms.belief_walks import BeliefWalks

STAGES = f"fuse > rerank({READ})"
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
    walks : BeliefWalks, optional
        Walk from what was read, as recall does: for the arms that have a graph.
    """

    queries: Mapping[str, Query] = field(repr=False)
    texts: Mapping[str, Cleared] = field(repr=False)
    score: Score = field(repr=False)
    walks: BeliefWalks | None = field(default=None, repr=False)
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
        return replace(arm, name=self.name(arm.name), run=run, read=read, settings={**arm.settings, "stages": STAGES})

    def walked(self, arm: Arm, shuffle: int | None = None) -> Arm:
        """Give a re-read arm with a walk from what was read, on the real graph or on the shuffle of that number."""
        if self.walks is None:
            return arm
        walked = {query: self.walks.walked(query, dict(read), shuffle) for query, read in arm.read.items()}
        run = {query: follow_walk(found, walked[query], dict(arm.read[query])) for query, found in arm.run.items()}
        return replace(arm, run=run, walked=walked, settings={**arm.settings, "stages": f"{STAGES} > walk"})

    def _scores(self, query: str, memories: Sequence[str]) -> dict[str, float]:
        wanted = [memory for memory in memories if memory in self.texts]
        new = [(memory, self.texts[memory]) for memory in wanted if (query, memory) not in self._known]
        if new:
            for memory, score in self.score(self.queries[query].text, new).items():
                self._known[query, memory] = score
        return {memory: self._known[query, memory] for memory in wanted}


def bundled_reading(
    queries: Mapping[str, Query], texts: Mapping[str, Cleared], walks: BeliefWalks | None = None
) -> CrossReading:
    """Read with recall's own cross-encoder, with all the time that it takes."""
    from hopgate.recall.rerank import load_reranker
    from hopgate.recall.settings import MAX_TIMEOUT_S

    reranker = load_reranker()

    def score(query: str, found: Sequence[tuple[str, Cleared]]) -> dict[str, float]:
        order = reranker.rerank(query, found, MAX_TIMEOUT_S).order
        return {memory: value for memory, value in order if value is not None}

    return CrossReading(queries, texts, score, walks)
