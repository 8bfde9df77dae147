"""Where a walk starts: names in the query, the nearest facts and the dense hits, as one restart vector."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.graph.walk.walk_graph import WalkGraph

Reason = Literal["name", "fact", "memory"]


class NearFact(NamedTuple):
    """A fact near the query: the two concepts it joins, its cosine, and a number its owner knows it by."""

    source: int
    target: int
    similarity: float
    fact: int = -1


class Seed(NamedTuple):
    """A node where walks start, how many of them, and why.

    `origin` is the number of the fact that gave the largest part of the weight, or -1.
    """

    node: int
    weight: float
    reason: Reason
    origin: int = -1


@dataclass(frozen=True, kw_only=True)
class Seeding:
    """How the restart mass is shared out. The defaults were measured on dev queries: docs/research/walking.md.

    Parameters
    ----------
    names, facts, memories : float
        Shares of the three sources; a source that finds nothing leaves its share to the others.
    temperature : float
        A fact or memory weighs ``exp((cosine - best cosine) / temperature)``.
    specificity : float
        A concept's weight is divided by its document frequency to this power.
    near_facts, near_memories : int
        How many of each are looked at.

    Examples
    --------
    >>> Seeding(temperature=0.05)
    Seeding(names=0.3, facts=0.4, memories=0.3, temperature=0.05, specificity=0.75, near_facts=20, near_memories=50)
    """

    names: float = 0.3
    facts: float = 0.4
    memories: float = 0.3
    temperature: float = 0.03
    specificity: float = 0.75
    near_facts: int = 20
    near_memories: int = 50

    def __post_init__(self) -> None:
        shares = (self.names, self.facts, self.memories)
        if not (np.isfinite(shares).all() and min(shares) >= 0 and sum(shares) > 0):
            raise HopgateError(f"the shares of names, facts and memories must not be negative nor all 0, not {shares}")
        if not self.temperature > 0:
            raise HopgateError(f"temperature must be above 0, not {self.temperature}")
        if not (np.isfinite(self.specificity) and self.specificity >= 0):
            raise HopgateError(f"specificity must be 0 or more, not {self.specificity}")
        if min(self.near_facts, self.near_memories) < 0:
            raise HopgateError("near_facts and near_memories count from 0")


@dataclass(frozen=True, eq=False, repr=False)
class Restart:
    """Where walks start: one number a node, and the seeds that explain it, heaviest first."""

    vector: NDArray[np.float64]
    seeds: tuple[Seed, ...]

    def __repr__(self) -> str:
        return f"Restart(nodes={len(self.vector)}, seeds={len(self.seeds)})"

    def __bool__(self) -> bool:
        return bool(self.seeds)


def restart(
    graph: WalkGraph,
    *,
    names: Iterable[int] = (),
    facts: Sequence[NearFact] = (),
    memories: Sequence[tuple[int, float]] = (),
    seeding: Seeding | None = None,
) -> Restart:
    """Turn what the query found into a restart vector that sums to 1, or to 0 when it found nothing.

    Parameters
    ----------
    names : iterable of int
        Concepts whose names occur in the query, numbered from 0.
    facts : sequence of NearFact
        The facts nearest the query, best first; their concepts are numbered from 0.
    memories : sequence of (int, float)
        The dense hits with their cosines, best first.

    Examples
    --------
    >>> from hopgate.graph.walk.walk_graph import mention_graph
    >>> graph = mention_graph(2, 2, memory=[0, 1, 1], concept=[0, 0, 1])
    >>> start = restart(graph, names=[1], facts=[NearFact(0, 1, 0.8)])
    >>> start.vector.round(3).tolist()
    [0.0, 0.0, 0.213, 0.787]
    >>> [(seed.node, seed.reason) for seed in start.seeds]
    [(3, 'name'), (3, 'fact'), (2, 'fact')]
    """
    seeding = seeding or Seeding()
    sources: list[tuple[float, Reason, dict[int, tuple[float, int]]]] = [
        (seeding.names, "name", _from_names(graph, names, seeding)),
        (seeding.facts, "fact", _from_facts(graph, facts[: seeding.near_facts], seeding)),
        (seeding.memories, "memory", _from_memories(graph, memories[: seeding.near_memories], seeding)),
    ]
    used = [(share, reason, weights) for share, reason, weights in sources if share and weights]
    vector = np.zeros(graph.nodes)
    seeds: list[Seed] = []
    for share, reason, weights in used:
        scale = share / sum(other for other, _, _ in used) / sum(weight for weight, _ in weights.values())
        for node, (weight, origin) in weights.items():
            vector[node] += weight * scale
            seeds.append(Seed(node, weight * scale, reason, origin))
    return Restart(vector, tuple(sorted(seeds, key=lambda seed: (-seed.weight, seed.node, seed.reason))))


def _from_names(graph: WalkGraph, names: Iterable[int], seeding: Seeding) -> dict[int, tuple[float, int]]:
    return {graph.memories + concept: (_specific(graph, concept, seeding), -1) for concept in sorted(set(names))}


def _from_facts(graph: WalkGraph, facts: Sequence[NearFact], seeding: Seeding) -> dict[int, tuple[float, int]]:
    found: dict[int, tuple[float, int]] = {}
    best = max((fact.similarity for fact in facts), default=0.0)
    # Best first, so that a concept keeps the number of its nearest fact.
    for fact in sorted(facts, key=lambda fact: -fact.similarity):
        near = float(np.exp((fact.similarity - best) / seeding.temperature))
        for concept in {fact.source, fact.target}:
            weight, origin = found.get(graph.memories + concept, (0.0, fact.fact))
            found[graph.memories + concept] = (weight + near * _specific(graph, concept, seeding), origin)
    return found


def _from_memories(
    graph: WalkGraph, memories: Sequence[tuple[int, float]], seeding: Seeding
) -> dict[int, tuple[float, int]]:
    best = max((cosine for _, cosine in memories), default=0.0)
    for memory, _ in memories:
        if not 0 <= memory < graph.memories:
            raise HopgateError(f"memory {memory} is not one of the graph's {graph.memories}")
    return {memory: (float(np.exp((cosine - best) / seeding.temperature)), -1) for memory, cosine in memories}


def _specific(graph: WalkGraph, concept: int, seeding: Seeding) -> float:
    """One over the concept's document frequency, to the power asked for; a concept in no memory counts as in one."""
    if not 0 <= concept < graph.concepts:
        raise HopgateError(f"concept {concept} is not one of the graph's {graph.concepts}")
    node = graph.memories + concept
    neighbours = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
    frequency = float(np.count_nonzero(neighbours < graph.memories))
    return float(max(1.0, frequency) ** -seeding.specificity)
