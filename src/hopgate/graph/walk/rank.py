"""Walk from all that a query found, and rank memories by the walk."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.config import COMMON_SHARES, Shares, Walk
from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.pagerank import near_walks, pagerank
from hopgate.graph.walk.seeds import NearFact, starts
from hopgate.graph.walk.walk_graph import WalkGraph, top_k


class Seeded(NamedTuple):
    """A query's seeds in one graph: how much of the walks starts at each node, and the places of memories by id.

    A memory that the graph does not have, or that is linked to nothing in it, has no place.
    """

    starts: dict[int, float]
    linked: dict[int, int]


def seeded(
    matrix: GraphMatrix,
    mass: Mapping[int, float],
    concepts: Sequence[int] = (),
    facts: Sequence[tuple[int, float]] = (),
    shares: Shares = COMMON_SHARES,
) -> Seeded:
    """Place what a query found in a graph; what it does not have is left out.

    `mass` is how much of the walk from memories starts at each; `concepts` are those that the query names, `facts` the
    edges near it with their cosines, best first.
    """
    graph = matrix.graph
    names = [int(at) for at in matrix.concepts(concepts) if at >= 0]
    rows = matrix.edge_rows([edge for edge, _ in facts])
    near = [
        NearFact(int(matrix.edges.source[row]), int(matrix.edges.target[row]), cosine)
        for row, (_, cosine) in zip(rows, facts, strict=True)
        if row >= 0
    ]
    places = dict(zip(mass, matrix.memories(list(mass)).tolist(), strict=True))
    linked = {memory: at for memory, at in places.items() if at >= 0 and not graph.dangling[at]}
    inside = {at: mass[memory] for memory, at in linked.items()}
    return Seeded(starts(graph, memories=inside, names=names, facts=near, shares=shares), linked)


def ranked(
    matrix: GraphMatrix, begun: Seeded, walk: Walk, *, allowed: NDArray[np.bool_] | None = None, near: bool = False
) -> tuple[list[tuple[int, float]], dict[int, float]]:
    """Walk, and give the memories where most walks are, and the scores of those it started from; see `walk_scores`."""
    scores = walk_scores(matrix.graph, begun.starts, walk, near=near)
    best = top_k(scores, walk.depth, allowed=allowed).tolist()
    hits = [(int(matrix.memory_ids[node]), float(scores[node])) for node in best]
    return hits, {memory: float(scores[at]) for memory, at in begun.linked.items()}


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
