"""Walk from all that a query found and rank memories by the walk: pure, so that a control can repeat it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.config import COMMON_SHARES, Shares, Walk
from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.pagerank import near_walks, pagerank
from hopgate.graph.walk.seeds import NEAR_FACTS, NearFact, starts
from hopgate.graph.walk.walk_graph import WalkGraph, top_k


class QuerySeeds(NamedTuple):
    """What a query found to start from, by the store's own ids: it holds for any graph of the same memories.

    The concepts that it names, the edges near it with their cosines, best first, and how much of the walk from memories
    starts at each.
    """

    concepts: list[int]
    facts: list[tuple[int, float]]
    mass: dict[int, float]


class Seeded(NamedTuple):
    """A query's seeds as nodes of one graph; `linked` are the memories of the mass that the graph has."""

    mass: dict[int, float]
    linked: dict[int, int]
    starts: dict[int, float]

    @property
    def unseen(self) -> frozenset[int]:
        """Where walks should start and cannot: memories that the graph does not have."""
        return frozenset(self.mass.keys() - self.linked.keys())


class WalkRanking(NamedTuple):
    """The memories that walks visit most, and the scores of all that they started from."""

    hits: list[tuple[int, float]]
    scores: dict[int, float]


def seeded(matrix: GraphMatrix, found: QuerySeeds, shares: Shares = COMMON_SHARES) -> Seeded:
    """Place a query's seeds in a graph; what it does not have is left out."""
    graph = matrix.graph
    names = [int(at) for at in matrix.concepts(found.concepts) if at >= 0]
    rows = matrix.edge_rows([edge for edge, _ in found.facts])
    facts = [
        NearFact(int(matrix.edges.source[row]), int(matrix.edges.target[row]), cosine)
        for row, (_, cosine) in zip(rows, found.facts, strict=True)
        if row >= 0
    ][:NEAR_FACTS]
    places = dict(zip(found.mass, matrix.memories(list(found.mass)).tolist(), strict=True))
    linked = {memory: at for memory, at in places.items() if at >= 0 and not graph.dangling[at]}
    inside = {at: found.mass[memory] for memory, at in linked.items()}
    return Seeded(found.mass, linked, starts(graph, memories=inside, names=names, facts=facts, shares=shares))


def ranked(
    matrix: GraphMatrix,
    begun: Seeded,
    walk: Walk,
    *,
    allowed: NDArray[np.bool_] | None = None,
    near: bool = False,
) -> WalkRanking:
    """Walk, and rank memories by where the walks are; see `walk_scores`."""
    scores = walk_scores(matrix.graph, begun.starts, walk, near=near)
    best = top_k(scores, walk.depth, allowed=allowed).tolist()
    hits = [(int(matrix.memory_ids[node]), float(scores[node])) for node in best]
    return WalkRanking(hits, pool_scores(scores, begun.linked, begun.mass))


def walk_scores(graph: WalkGraph, start: Mapping[int, float], walk: Walk, *, near: bool = False) -> NDArray[np.float64]:
    """Give each memory's share of the walks that are at memories; together they are as many as started.

    Where only the first `walk.depth` memories must be right (`near`) a large graph is walked near the seeds alone.
    """
    mass = sum(start.values())
    restart = np.zeros(graph.nodes)
    restart[list(start)] = list(start.values())
    if not mass:
        return restart[: graph.memories]
    visits = None
    if near and not walk.degree_correction:
        visits = near_walks(graph, restart / mass, damping=walk.damping, top=walk.depth)
    if visits is None:
        visits = pagerank(graph, restart, damping=walk.damping, tolerance=walk.tolerance)
    scores = visits[: graph.memories].astype(np.float64)
    if walk.degree_correction:
        scores *= graph.divisor[: graph.memories] ** -walk.degree_correction
    return scores * (mass / (scores.sum() or 1.0))


def pool_scores(scores: NDArray[Any], linked: Mapping[int, int], mass: Mapping[int, float]) -> dict[int, float]:
    """Score every memory that walks started from; one that the graph does not have gets what its mass is worth.

    A memory that is sensitive, new or without links was not seen by the walk, which is not the same as being far: it
    gets its mass times what a linked memory of the pool has for its own on average (its mass itself where none is
    linked). Measured on half-built stores: docs/measurements.md.

    `linked` gives the places in `scores` of those memories that the graph has, `mass` where walks from memories start.
    """
    started = sum(mass[memory] for memory in linked if memory in mass)
    arrived = sum(float(scores[at]) for memory, at in linked.items() if memory in mass)
    worth = arrived / started if started > 0 else 1.0
    return {
        memory: float(scores[linked[memory]]) if memory in linked else worth * of_memory
        for memory, of_memory in mass.items()
    }
