"""Walk from every source at once, mix the walks and rank memories by them: pure, so that a control can repeat it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.config import Shares, Walk
from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.mixture import TOP, Mixture, bundled_model, leg_features, walk_features
from hopgate.graph.walk.pagerank import near_walks, pagerank
from hopgate.graph.walk.seeds import NEAR_FACTS, NearFact, Scored, Starts, starts
from hopgate.graph.walk.walk_graph import WalkGraph, top_k


class QuerySeeds(NamedTuple):
    """What a query found to start from, by the store's own ids: it holds for any graph of the same memories.

    Parameters
    ----------
    concepts : list of int
        What the query names.
    facts : list of (int, float)
        Edges near it with their cosines, best first.
    mass : dict
        How much of the walk from memories starts at each.
    """

    concepts: list[int]
    facts: list[tuple[int, float]]
    mass: dict[int, float]


class Seeded(NamedTuple):
    """A query's seeds as nodes of one graph; `linked` are the memories of the mass that the graph has."""

    names: list[int]
    facts: list[NearFact]
    mass: dict[int, float]
    linked: dict[int, int]
    starts: Starts

    @property
    def blind(self) -> frozenset[int]:
        """Where walks should start and cannot: memories that the graph does not have."""
        return frozenset(self.mass.keys() - self.linked.keys())


class WalkRanking(NamedTuple):
    """The memories that walks visit most, the scores of all that they started from, and how walks were mixed."""

    hits: list[tuple[int, float]]
    scores: dict[int, float]
    mixture: Mixture


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
    return Seeded(names, facts, found.mass, linked, begun)


def source_walks(
    graph: WalkGraph, start: Starts, walk: Walk | None = None, *, near: bool = False
) -> NDArray[np.float64]:
    """Walk from each source that found something, side by side; give the share of walks at every memory.

    Parameters
    ----------
    near : bool
        Whether only the first `walk.depth` memories of each walk must be right: a large graph is then walked near the
        seeds alone, where that is compiled.

    Returns
    -------
    array of shape (memories, 3)
        A column a source. It sums to 1, or to 0 where its walk starts nowhere; that of memories sums to less where a
        part of the base's mass is outside the graph.

    Examples
    --------
    Memory 1 does not mention the concept that the query names, and is reached over the edge between the concepts:

    >>> from hopgate.graph.walk.seeds import starts
    >>> from hopgate.graph.walk.walk_graph import Pairs, mention_graph
    >>> graph = mention_graph(3, 3, Pairs([0, 1, 2], [0, 1, 2]), edges=Pairs([0], [1]))
    >>> source_walks(graph, starts(graph, names=[0])).round(2).tolist()
    [[0.0, 0.63, 0.0], [0.0, 0.37, 0.0], [0.0, 0.0, 0.0]]
    """
    return batched_walks(graph, [start], walk, near=near)[0]


def batched_walks(
    graph: WalkGraph, queries: Sequence[Starts], walk: Walk | None = None, *, near: bool = False
) -> list[NDArray[np.float64]]:
    """Walk for many queries at once: what `source_walks` gives, one array a query, for one reading of the matrix."""
    walk = walk or Walk()
    columns = np.concatenate([start.columns for start in queries], axis=1)
    mass = columns.sum(axis=0)
    used = np.flatnonzero(mass > 0)
    restarts = columns[:, used] / mass[used]
    # A column after the other in memory: what follows looks at one walk at a time.
    walks = np.zeros((graph.memories, len(mass)), order="F")
    whole = list(range(len(used)))
    if near and not walk.degree_correction:
        for column, scores in enumerate(near_walks(graph, restarts, damping=walk.damping, top=walk.depth)):
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
    return np.split(walks, len(queries), axis=1)


def ranked_by_walks(
    matrix: GraphMatrix,
    found: Seeded,
    walks: NDArray[np.float64],
    walk: Walk,
    base: Scored,
    legs: Mapping[str, Scored],
    *,
    allowed: NDArray[np.bool_] | None = None,
) -> WalkRanking:
    """Mix the walks as it is set, or by what is known of this query, and rank memories by where they are.

    Parameters
    ----------
    walks : array of shape (memories, 3)
        As `source_walks` gives them for `found.starts`.
    base, legs
        The base's ranking and its legs' lists, which the adaptive mixture looks at.
    allowed : array of bool, optional
        The memories that may be returned.
    """
    if walk.shares != "adaptive":
        mixture = Mixture(walk.shares)
    else:
        first = [found.linked.get(memory, -1) for memory, _ in base[:TOP]]
        cosines = [fact.similarity for fact in found.facts]
        known = walk_features(matrix.graph, walks, names=found.names, base=first, facts=cosines)
        known |= leg_features(legs, base, cosines)
        mixture = bundled_model().mixture(known, [bool(each.any()) for each in walks.T])
    mixed = mixed_walks(walks, mixture.shares)
    best = top_k(mixed, walk.depth, allowed=allowed).tolist()
    hits = [(int(matrix.memory_ids[node]), float(mixed[node])) for node in best]
    return WalkRanking(hits, pool_scores(mixed, found.linked, found.mass), mixture)


def mixed_walks(walks: NDArray[np.float64], shares: Shares) -> NDArray[np.float64]:
    """Mix the walks: one score a memory. Those that start nowhere leave their shares to the others.

    Examples
    --------
    >>> mixed_walks(np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 0.0]]), (0.4, 0.4, 0.2)).tolist()
    [0.75, 0.25]
    """
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
    linked). Measured on half-built stores: docs/research/neighbours.md.

    Parameters
    ----------
    scores : array
        One number a memory of the graph.
    linked : mapping of id to int
        The places in `scores` of those memories that the graph has and links.
    mass : mapping of id to float
        The pool: where walks from memories start, and with how much.

    Examples
    --------
    >>> pool_scores(np.array([0.25, 0.125]), {7: 0, 8: 1}, {7: 0.5, 8: 0.25, 9: 0.25})
    {7: 0.25, 8: 0.125, 9: 0.125}
    """
    started = sum(mass[memory] for memory in linked if memory in mass)
    arrived = sum(float(scores[at]) for memory, at in linked.items() if memory in mass)
    worth = arrived / started if started > 0 else 1.0
    return {
        memory: float(scores[linked[memory]]) if memory in linked else worth * of_memory
        for memory, of_memory in mass.items()
    }
