"""A query's seeds on a graph, its walks mixed, and memories ranked by them: pure, so that a control can repeat it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.adaptive import Mixture, bundled_model
from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.query_features import TOP, leg_features, walk_features
from hopgate.graph.walk.rank import Walk, mixed_walks, pool_scores
from hopgate.graph.walk.seeds import NearFact, Seeding, Starts, starts
from hopgate.graph.walk.top_k import top_k

Scored = Sequence[tuple[int, float]]


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


def seeded(matrix: GraphMatrix, found: QuerySeeds, seeding: Seeding) -> Seeded:
    """Place a query's seeds in a graph; what it does not have is left out."""
    graph = matrix.graph
    names = [int(at) for at in matrix.concepts(found.concepts) if at >= 0]
    rows = matrix.edge_rows([edge for edge, _ in found.facts])
    facts = [
        NearFact(int(matrix.edge_source[row]), int(matrix.edge_target[row]), cosine, edge)
        for row, (edge, cosine) in zip(rows, found.facts, strict=True)
        if row >= 0
    ][: seeding.near_facts]
    places = dict(zip(found.mass, matrix.memories(list(found.mass)).tolist(), strict=True))
    linked = {memory: at for memory, at in places.items() if at >= 0 and not graph.dangling[at]}
    inside = {at: found.mass[memory] for memory, at in linked.items()}
    begun = starts(graph, memories=inside, names=names, facts=facts, seeding=seeding)
    return Seeded(names, facts, found.mass, linked, begun)


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
    shares = walk.seeding.shares
    if shares != "adaptive":
        mixture = Mixture(shares)
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
