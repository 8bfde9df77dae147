"""Walk from every source at once, mix the walks and rank memories by them: pure, so that a control can repeat it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.config import Shares, Walk
from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.pagerank import near_walks, pagerank
from hopgate.graph.walk.seeds import NEAR_FACTS, NearFact, Starts, starts
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
    starts: Starts

    @property
    def blind(self) -> frozenset[int]:
        """Where walks should start and cannot: memories that the graph does not have."""
        return frozenset(self.mass.keys() - self.linked.keys())


class WalkRanking(NamedTuple):
    """The memories that walks visit most, and the scores of all that they started from."""

    hits: list[tuple[int, float]]
    scores: dict[int, float]


def seeded(matrix: GraphMatrix, found: QuerySeeds) -> Seeded:
    """Place a query's seeds in a graph; what it does not have is left out."""
    graph = matrix.graph
    names = [int(at) for at in matrix.concepts(found.concepts) if at >= 0]
    rows = matrix.edge_rows([edge for edge, _ in found.facts])
    facts = [
        NearFact(int(matrix.edge_source[row]), int(matrix.edge_target[row]), cosine)
        for row, (_, cosine) in zip(rows, found.facts, strict=True)
        if row >= 0
    ][:NEAR_FACTS]
    places = dict(zip(found.mass, matrix.memories(list(found.mass)).tolist(), strict=True))
    linked = {memory: at for memory, at in places.items() if at >= 0 and not graph.dangling[at]}
    inside = {at: found.mass[memory] for memory, at in linked.items()}
    begun = starts(graph, memories=inside, names=names, facts=facts)
    return Seeded(found.mass, linked, begun)


def source_walks(
    graph: WalkGraph, start: Starts, walk: Walk | None = None, *, near: bool = False
) -> NDArray[np.float64]:
    """Walk from each source that found something, side by side; give the share of walks at every memory.

    A column a source: it sums to 1, or to 0 where its walk starts nowhere; that of memories to less where a part of the
    base's mass is outside the graph. Where only the first `walk.depth` memories of each walk must be right (`near`) a
    large graph is walked near the seeds alone.
    """
    walk = walk or Walk()
    mass = start.columns.sum(axis=0)
    used = np.flatnonzero(mass > 0)
    restarts = start.columns[:, used] / mass[used]
    # A column after the other in memory: what follows looks at one walk at a time.
    walks = np.zeros((graph.memories, len(mass)), order="F")
    whole = list(range(len(used)))
    if near and not walk.degree_correction:
        for column, restart in enumerate(restarts.T):
            scores = near_walks(graph, restart, damping=walk.damping, top=walk.depth)
            if scores is not None:
                walks[:, used[column]] = scores[: graph.memories]
                whole.remove(column)
    if whole:
        solved = pagerank(graph, restarts[:, whole], damping=walk.damping, tolerance=walk.tolerance)
        walks[:, used[whole]] = solved[: graph.memories]
    if walk.degree_correction:
        walks *= graph.divisor[: graph.memories, None] ** -walk.degree_correction
    # Each memory's share of what is at memories. Mass outside the graph stays where it is: of the walk from memories
    # the rest is what the graph gets.
    part = np.minimum(mass, 1.0)
    there = walks.sum(axis=0)
    walks *= part / np.where(there > 0, there * part + (1 - part), 1.0)
    return walks


def ranked_by_walks(
    matrix: GraphMatrix,
    found: Seeded,
    walks: NDArray[np.float64],
    walk: Walk,
    *,
    allowed: NDArray[np.bool_] | None = None,
) -> WalkRanking:
    """Mix the walks as it is set, without those that start nowhere, and rank memories by where they are."""
    mixed = mixed_walks(walks, walk.shares)
    best = top_k(mixed, walk.depth, allowed=allowed).tolist()
    hits = [(int(matrix.memory_ids[node]), float(mixed[node])) for node in best]
    return WalkRanking(hits, pool_scores(mixed, found.linked, found.mass))


def mixed_walks(walks: NDArray[np.float64], shares: Shares) -> NDArray[np.float64]:
    """Mix the walks: one score a memory. Those that start nowhere leave their shares to the others."""
    used = np.where(walks.any(axis=0), np.asarray(shares, float), 0.0)
    mixed = np.zeros(len(walks))
    for column, share in enumerate(used / (used.sum() or 1.0)):
        # Added up here: as a product of matrices so narrow a one takes ten times as long.
        if share:
            mixed += share * walks[:, column]
    return mixed


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
