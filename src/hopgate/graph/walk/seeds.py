"""Where walks start: the base's hits and statements, names in the query, the nearest facts; each a source of its own.

PageRank is linear in its restart, so that a walk from several sources at once is the mixture of one walk from each.
They are walked apart, and how much each counts may be decided after all are known (`hopgate.graph.walk.rank`).
The numbers were measured on dev queries: docs/measurements.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.config import COMMON_SHARES, Shares
from hopgate.graph.walk.walk_graph import WalkGraph

Reason = Literal["memory", "name", "fact"]
Scored = Sequence[tuple[int, float]]
SOURCES: tuple[Reason, Reason, Reason] = ("memory", "name", "fact")

# A hit of the base weighs exp((score - best score) / this).
BASE_TEMPERATURE = 0.15
# So many facts are looked at; each weighs exp((cosine - best cosine) / this). One whose cosine is so far below that of
# the nearest memory seeds nothing.
NEAR_FACTS, FACT_TEMPERATURE, FACT_FLOOR = 20, 0.03, 0.25
# So many statements are looked at; their memories have this part of the memories' mass.
NEAR_STATEMENTS, STATEMENT_TEMPERATURE, STATEMENT_PART = 50, 0.05, 0.35
# A concept's weight is divided by its document frequency to this power.
SPECIFICITY = 0.75


class NearFact(NamedTuple):
    """A fact near the query: the two concepts it joins, numbered from 0, and its cosine."""

    source: int
    target: int
    similarity: float


class Seed(NamedTuple):
    """A node where walks start, how many of them, and why."""

    node: int
    weight: float
    reason: Reason


@dataclass(frozen=True, eq=False)
class Starts:
    """Where walks start, on a graph of so many nodes; a source has a node at most once.

    What names and facts give sums to 1, or to 0 where they found nothing; what memories give to the part of the base's
    mass that is in the graph. Mixed, all of it sums to 1 or to 0.
    """

    nodes: int
    seeds: tuple[Seed, ...]

    @cached_property
    def columns(self) -> NDArray[np.float64]:
        """An array of shape (nodes, 3), a column a source."""
        columns = np.zeros((self.nodes, len(SOURCES)))
        for seed in self.seeds:
            columns[seed.node, SOURCES.index(seed.reason)] = seed.weight
        return columns

    @property
    def vector(self) -> NDArray[np.float64]:
        """One number a node, of all sources together."""
        return np.asarray(self.columns.sum(axis=1))

    def mixed(self, shares: Shares = COMMON_SHARES) -> Starts:
        """Give one restart of all sources, in these shares of those that found something; the heaviest seeds first."""
        mass = self.columns.sum(axis=0)
        parts = np.where(mass > 0, np.asarray(shares, float), 0.0)
        factor = parts / np.where(mass > 0, mass, 1.0) / (parts.sum() or 1.0)
        seeds = [seed._replace(weight=seed.weight * float(factor[SOURCES.index(seed.reason)])) for seed in self.seeds]
        kept = [seed for seed in seeds if seed.weight > 0]
        return Starts(self.nodes, tuple(sorted(kept, key=lambda seed: (-seed.weight, seed.node))))


def memory_mass(base: Scored, statements: Scored = ()) -> dict[int, float]:
    """Share the walks that start at memories out among the base's hits and the memories of the nearest statements.

    A memory adds up its statements. What is given sums to 1, or is nothing.
    """
    parts = [
        (1 - STATEMENT_PART if statements else 1.0, base, BASE_TEMPERATURE),
        (STATEMENT_PART if base else 1.0, statements, STATEMENT_TEMPERATURE),
    ]
    mass: dict[int, float] = {}
    for part, scored, temperature in parts:
        best = max((score for _, score in scored), default=0.0)
        weights = [(memory, exp((score - best) / temperature)) for memory, score in scored]
        whole = sum(weight for _, weight in weights)
        for memory, weight in weights:
            mass[memory] = mass.get(memory, 0.0) + part * weight / whole
    return mass


def starts(
    graph: WalkGraph,
    *,
    memories: Mapping[int, float] | None = None,
    names: Iterable[int] = (),
    facts: Sequence[NearFact] = (),
) -> Starts:
    """Turn what the query found into where walks start; nodes that nothing leaves start none.

    Memories' mass, the concepts that the query names and the nearest facts are numbered from 0, as in the graph.
    """
    near = sorted(facts, key=lambda fact: -fact.similarity)[:NEAR_FACTS]
    weights: dict[Reason, dict[int, float]] = {"memory": dict(memories or {}), "name": {}, "fact": {}}
    for concept in sorted(set(names)):
        weights["name"][graph.memories + concept] = _specific(graph, concept)
    for fact in near:
        weight = exp((fact.similarity - near[0].similarity) / FACT_TEMPERATURE)
        for concept in {fact.source, fact.target}:
            node = graph.memories + concept
            weights["fact"][node] = weights["fact"].get(node, 0.0) + weight * _specific(graph, concept)
    seeds: list[Seed] = []
    for reason, of_node in weights.items():
        kept = {node: weight for node, weight in of_node.items() if not graph.dangling[node] and weight > 0}
        whole = 1.0 if reason == "memory" else sum(kept.values())
        seeds += [Seed(node, weight / whole, reason) for node, weight in kept.items()]
    return Starts(graph.nodes, tuple(seeds))


def _specific(graph: WalkGraph, concept: int) -> float:
    """One over the concept's document frequency, to the power set above; a concept in no memory counts as in one."""
    return float(max(1, mentioned_in(graph, concept)) ** -SPECIFICITY)


def mentioned_in(graph: WalkGraph, concept: int) -> int:
    """How many memories of the graph mention a concept."""
    node = graph.memories + concept
    return int(np.count_nonzero(graph.indices[graph.indptr[node] : graph.indptr[node + 1]] < graph.memories))
