"""What a verdict rests on, as values: arms, the ladder of the graph's parts, where questions and graph come from."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np

from hopgate.eval.data.dataset import Query, folded, together
from hopgate.eval.data.runs import Qrels, relevant
from hopgate.eval.measures import MRR, NDCG, Measure, Recall
from hopgate.eval.plan import Plan
from hopgate.graph.walk.config import Part

CONCEPTS = "concepts"
"""The claim of the headline: everything from titles upwards, over the base and the threads."""
RUNS = "runs"
"""The claim about runs that somebody brought; there is nothing in them to shuffle."""
TITLES: Mapping[str, str] = {
    "threads": "the order of turns",
    "titles": "titles that memories name",
    "names": "names that memories share",
    "facts": "typed facts",
    "statements": "statements about memories",
    CONCEPTS: "the concept graph",
    RUNS: "the last run",
}
UNKNOWN = ("unknown", "who made the graph and whether it saw the questions cannot be known")
Ids: TypeAlias = Mapping[str, Sequence[str]]
"""Query → ids, best first, none twice."""


@dataclass(frozen=True)
class Cost:
    """What a part of the graph costs to build, for each query and in memory; none where it is not known."""

    build_seconds: float | None = None
    tokens: int | None = None
    query_ms: float | None = None
    megabytes: float | None = None

    def __str__(self) -> str:
        parts = [
            "building not measured" if self.build_seconds is None else f"{self.build_seconds:,.0f} s to build",
            f"{self.tokens:,} tokens" if self.tokens else "",
            f"{self.query_ms:.1f} ms a query" if self.query_ms is not None else "",
            f"{self.megabytes:.1f} MB" if self.megabytes else "",
        ]
        return ", ".join(part for part in parts if part) if self != NO_COST else "not known"


NO_COST = Cost()


@dataclass(frozen=True)
class Arm:
    """One way to rank the memories for each query."""

    run: Ids = field(repr=False)
    configuration: str = ""  # the fuser; of runs that somebody made it is not known
    # By leg: on how many queries a memory that it alone lists could be in the top k, and of how many (`entering`).
    entering: Mapping[str, Sequence[int]] = field(default_factory=dict)
    parts: Sequence[Part] = ()  # of the graph, that are walked
    reread: bool = False  # whether a cross-encoder ordered its first


@dataclass(frozen=True)
class Rung:
    """One claim of the ladder: the arm with a part of the graph against the arms without it."""

    part: str  # one of `PARTS`, `CONCEPTS` or `RUNS`
    arm: str
    over: Sequence[str]  # the arms that it must beat, each of them
    shuffled: Sequence[str] = field(default=(), repr=False)  # arms on graphs whose part was shuffled, tuned like it
    cost: Cost = field(default=NO_COST, compare=False)  # it is measured, and never the same again


@dataclass(frozen=True)
class Evidence:
    """Everything that a verdict rests on."""

    title: str
    plan: Plan
    queries: Mapping[str, Query] = field(repr=False)
    qrels: Qrels = field(repr=False)  # the judgements of the reported queries
    arms: Mapping[str, Arm] = field(default_factory=dict, repr=False)
    bases: Sequence[str] = ()  # the arms without a graph, which must be beaten
    rungs: Sequence[Rung] = ()
    tuned: Qrels = field(default_factory=dict, repr=False)  # the judgements of those that were tuned on
    slices: Mapping[str, frozenset[str]] = field(default_factory=dict, repr=False)  # guarded against harm beside all
    provenance: Sequence[str] = UNKNOWN  # how the facts passed, beside memories and questions, and what was found
    look: int = 0  # which look at these questions this is, from 1; 0 where nobody counts
    left_out: int = 0  # questions that were left out of tuning, as they are related to reported ones
    doubts: Sequence[str] = ()  # what is wrong with brought runs, and is no longer seen in their ids

    @cached_property
    def gold(self) -> Mapping[str, set[str]]:
        """What answers each reported query that has an answer, in order."""
        answers = {name: relevant(self.qrels[name], self.plan.relevant_from) for name in sorted(self.qrels)}
        return {name: gold for name, gold in answers.items() if gold}

    @property
    def reported(self) -> tuple[str, ...]:
        """The reported queries that have an answer, in order."""
        return tuple(self.gold)

    @cached_property
    def clusters(self) -> Mapping[str, str]:
        """Reported query → the first of those that are not independent of it.

        One declared cluster or scope, shared gold, or the same text. Where the plan is about these conversations alone,
        they do not count.
        """
        keys: dict[str, list[Hashable]] = {}
        for name, gold in self.gold.items():
            query = self.queries[name]
            group = None if self.plan.about == "these" else query.cluster or query.scope
            keys[name] = [("text", folded(query.text)), ("gold", frozenset(gold))]
            keys[name] += [("group", group)] if group is not None else [("memory", memory) for memory in gold]
        return together(keys)

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The measures that are shown, the primary one first."""
        return tuple(dict.fromkeys((self.plan.primary, Recall(2), Recall(5), Recall(self.plan.k), NDCG(10), MRR())))

    def values(self, arm: str, measure: Measure | None = None) -> dict[str, float]:
        """Score an arm on the reported queries; one that its run lacks counts 0."""
        run, measure, least = self.arms[arm].run, measure or self.plan.primary, self.plan.relevant_from
        return {name: measure.score(run.get(name, ()), self.qrels[name], least) for name in self.reported}

    def mean(self, arm: str, measure: Measure | None = None) -> float:
        """Score an arm on average."""
        return float(np.mean([*self.values(arm, measure).values()]))

    def strongest(self, names: Iterable[str]) -> str:
        """Give the arm with the highest mean of the primary measure, the first of equals."""
        return max(names, key=lambda name: sum(self.values(name).values()))
