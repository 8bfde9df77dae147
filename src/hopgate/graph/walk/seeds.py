"""Where walks start: the base's hits and statements, names in the query, the nearest facts; each a source of its own.

PageRank is linear in its restart, so that a walk from several sources at once is the mixture of one walk from each.
They are walked apart, and how much each counts may be decided after all are known (`hopgate.graph.walk.mixture`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, log
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.graph.walk.config import COMMON_SHARES, Seeding, Shares
from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.walk_graph import WalkGraph

Reason = Literal["memory", "name", "fact"]
Scored = Sequence[tuple[int, float]]
SOURCES: tuple[Reason, Reason, Reason] = ("memory", "name", "fact")


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
class Restart:
    """Where walks start on a graph of so many nodes: its seeds, heaviest first.

    Examples
    --------
    >>> Restart(3, (Seed(2, 0.75, "name"), Seed(0, 0.25, "memory"))).vector
    array([0.25, 0.  , 0.75])
    """

    nodes: int
    seeds: tuple[Seed, ...]

    @cached_property
    def vector(self) -> NDArray[np.float64]:
        """One number a node."""
        vector = np.zeros(self.nodes)
        for seed in self.seeds:
            vector[seed.node] += seed.weight
        return vector


@dataclass(frozen=True, eq=False)
class Starts:
    """Where the walk from each source starts, on a graph of so many nodes.

    What names and facts give sums to 1, or to 0 where they found nothing; what memories give to the part of the base's
    mass that is in the graph. A source has a node at most once.
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

    def mixed(self, shares: Shares = COMMON_SHARES) -> Restart:
        """Give one restart of all sources, in these shares of those that found something; it sums to 1, or to 0."""
        mass = dict.fromkeys(SOURCES, 0.0)
        for seed in self.seeds:
            mass[seed.reason] += seed.weight
        parts = {reason: share for reason, share in zip(SOURCES, shares, strict=True) if mass[reason] > 0 and share > 0}
        whole = sum(parts.values())
        seeds = [
            seed._replace(weight=seed.weight * parts[seed.reason] / (whole * mass[seed.reason]))
            for seed in self.seeds
            if seed.reason in parts
        ]
        return Restart(self.nodes, tuple(sorted(seeds, key=lambda seed: (-seed.weight, seed.node))))


def memory_mass(base: Scored, statements: Scored = (), seeding: Seeding | None = None) -> dict[int, float]:
    """Share the walks that start at memories out among the base's hits and the memories of the nearest statements.

    Parameters
    ----------
    base : sequence of (int, float)
        The base's ranking with its scores.
    statements : sequence of (int, float)
        The memories of the nearest statements with their cosines; a memory adds up its statements.

    Returns
    -------
    dict
        Memories' mass, which sums to 1, or nothing.

    Examples
    --------
    >>> {memory: round(mass, 3) for memory, mass in memory_mass([(7, 1.0), (8, 0.85)], [(9, 0.8)]).items()}
    {7: 0.475, 8: 0.175, 9: 0.35}
    """
    seeding = seeding or Seeding()
    parts = [
        (1 - seeding.statements if statements else 1.0, base, seeding.base_temperature),
        (seeding.statements if base else 1.0, statements, seeding.statement_temperature),
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
    seeding: Seeding | None = None,
) -> Starts:
    """Turn what the query found into where walks start; nodes that nothing leaves start none.

    Parameters
    ----------
    memories : mapping of int to float
        The mass of memories, numbered as in the graph.
    names : iterable of int
        Concepts whose names occur in the query, numbered from 0.
    facts : sequence of NearFact
        The facts nearest the query.

    Examples
    --------
    >>> from hopgate.graph.walk.walk_graph import Pairs, mention_graph
    >>> graph = mention_graph(2, 2, Pairs([0, 1, 1], [0, 0, 1]))
    >>> start = starts(graph, names=[1], facts=[NearFact(0, 1, 0.8)], memories={0: 1.0})
    >>> start.columns.round(3).T.tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.373, 0.627]]
    >>> [(seed.node, seed.reason) for seed in start.mixed((0, 0.5, 0.5)).seeds]
    [(3, 'name'), (3, 'fact'), (2, 'fact')]
    """
    seeding = seeding or Seeding()
    near = sorted(facts, key=lambda fact: -fact.similarity)[: seeding.near_facts]
    weights: dict[Reason, dict[int, float]] = {"memory": dict(memories or {}), "name": {}, "fact": {}}
    for memory in weights["memory"]:
        if not 0 <= memory < graph.memories:
            raise HopgateError(f"memory {memory} is not one of the graph's {graph.memories}")
    for concept in sorted(set(names)):
        weights["name"][graph.memories + concept] = _specific(graph, concept, seeding)
    for fact in near:
        weight = exp((fact.similarity - near[0].similarity) / seeding.temperature)
        for concept in {fact.source, fact.target}:
            node = graph.memories + concept
            weights["fact"][node] = weights["fact"].get(node, 0.0) + weight * _specific(graph, concept, seeding)
    seeds: list[Seed] = []
    for reason, of_node in weights.items():
        kept = {node: weight for node, weight in of_node.items() if not graph.dangling[node] and weight > 0}
        whole = 1.0 if reason == "memory" else sum(kept.values())
        seeds += [Seed(node, weight / whole, reason) for node, weight in kept.items()]
    return Starts(graph.nodes, tuple(seeds))


def _specific(graph: WalkGraph, concept: int, seeding: Seeding) -> float:
    """One over the concept's document frequency, to the power asked for; a concept in no memory counts as in one."""
    return float(max(1, mentioned_in(graph, concept)) ** -seeding.specificity)


def mentioned_in(graph: WalkGraph, concept: int) -> int:
    """How many memories of the graph mention a concept.

    Examples
    --------
    >>> from hopgate.graph.walk.walk_graph import Pairs, mention_graph
    >>> mentioned_in(mention_graph(2, 2, Pairs([0, 1, 1], [0, 0, 1])), 0)
    2
    """
    if not 0 <= concept < graph.concepts:
        raise HopgateError(f"concept {concept} is not one of the graph's {graph.concepts}")
    node = graph.memories + concept
    return int(np.count_nonzero(graph.indices[graph.indptr[node] : graph.indptr[node + 1]] < graph.memories))


def share_without_neighbours(matrix: GraphMatrix, mass: Mapping[int, float]) -> float:
    """Give the part of some memories' mass, of those that the graph links, that is at memories without neighbours.

    In a conversation a weak hit is worth walking from, because the turns around it are often hits too and their walks
    meet. A passage that follows nothing brings itself alone, and so starts walks by its cosine (`by_cosine`): the base
    stretches cosines over what the pool has, however little that differs. Measured: docs/research/passages.md.
    """
    graph = matrix.graph
    linked = alone = 0.0
    for memory, at in zip(mass, matrix.memories(list(mass)).tolist(), strict=True):
        if at >= 0 and not graph.dangling[at]:
            linked += mass[memory]
            # Each row is in order: memories come first.
            alone += mass[memory] * bool(graph.indices[graph.indptr[at]] >= graph.memories)
    return alone / linked if linked else 0.0


def by_cosine(
    base: Scored, cosines: Mapping[int, float], part: float, *, dense: float, seeding: Seeding | None = None
) -> Scored:
    """Give the base's scores as they are where all hits have neighbours, and in cosines where none has.

    Then a difference of `Seeding.cosine_temperature` between cosines weighs as one of `Seeding.base_temperature`
    between scores, however much the pool's cosines differ. What words give stays as it is. A hit that has no cosine
    keeps its part of the mass: it could not be seen, which is not the same as being far.

    Parameters
    ----------
    cosines : mapping of int to float
        Those of the hits that have one: all of the pool, since the base stretched them from its least to its most.
    part : float
        How much of the base stands alone, from 0 to 1.
    dense : float
        The weight that the base gives to stretched cosines.

    Examples
    --------
    The second hit's cosine is .1 below the first's, which is two temperatures, and all that the pool has:

    >>> base = [(1, 1.0), (2, 0.3)]
    >>> by_cosine(base, {1: 0.7, 2: 0.6}, 0, dense=0.7)
    [(1, 1.0), (2, 0.3)]
    >>> [(memory, round(score, 2)) for memory, score in by_cosine(base, {1: 0.7, 2: 0.6}, 1, dense=0.7)]
    [(1, 1.0), (2, 0.7)]
    """
    seeding = seeding or Seeding()
    near = {memory: cosines[memory] for memory, _ in base if memory in cosines}
    span = max(cosines.values()) - min(cosines.values()) if cosines else 0.0
    if not part or not seeding.cosine_temperature or not near or not span > 0:
        return base
    wide, nearest = seeding.base_temperature, max(near.values())
    steeper = part * (wide / seeding.cosine_temperature - dense / span)
    moved = {memory: steeper * (cosine - nearest) for memory, cosine in near.items()}
    unseen = 0.0
    if len(near) < len(base):
        # What a hit with a cosine keeps of its mass on average; from the highest down, so that no exponential is too
        # large.
        mass, highest = memory_mass(base, seeding=seeding), max(moved.values())
        kept = sum(mass[memory] * exp((by - highest) / wide) for memory, by in moved.items())
        if kept > 0:
            unseen = highest + wide * log(kept / sum(mass[memory] for memory in near))
    return [(memory, score + moved.get(memory, unseen)) for memory, score in base]
