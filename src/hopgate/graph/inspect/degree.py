"""How much PageRank resembles a ranking by degree on a graph, and what the degree correction changes.

On a dense graph walks from unrelated seeds end up at the same hubs: the first 100 of two unrelated queries overlapped
by 0.66 at damping 0.5 and by 0.91 at 0.85 on the prototype's graph of memories. Such a ranking says little about the
query. Measure it on every graph; `Walk(degree_correction=...)` is the remedy.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hopgate.errors import HopgateError
from hopgate.graph.walk.pagerank import pagerank
from hopgate.graph.walk.walk_graph import WalkGraph, top_k


@dataclass(frozen=True)
class DegreeLikeness:
    """What `degree_likeness` found; every figure is a mean share of the first `top`, between 0 and 1.

    Parameters
    ----------
    between_queries : float
        Overlap of the rankings of two unrelated queries, plain.
    between_queries_corrected : float
        The same after the degree correction.
    with_degree : float
        Overlap of a query's ranking with the ranking by strength, plain.
    with_degree_corrected : float
        The same after the degree correction.
    """

    damping: float
    degree_correction: float
    top: int
    queries: int
    between_queries: float
    between_queries_corrected: float
    with_degree: float
    with_degree_corrected: float


def degree_likeness(
    graph: WalkGraph,
    *,
    damping: float = 0.5,
    degree_correction: float = 1.0,
    top: int = 100,
    queries: int = 20,
    seeds: int = 10,
    seed: int = 0,
) -> DegreeLikeness:
    """Walk from random, hence unrelated, seed concepts and compare the first `top` memories they lead to.

    A graph without memories is ranked over all its nodes, and one without concepts is seeded anywhere. No more than a
    tenth of the nodes are compared, because two long lists overlap by chance.

    Examples
    --------
    Fifty memories of two concepts each, and one concept that all of them mention:

    >>> from hopgate.graph.walk.walk_graph import mention_graph
    >>> memory = np.repeat(np.arange(50), 3)
    >>> concept = np.stack([np.arange(50), (np.arange(50) + 1) % 50, np.full(50, 50)], axis=1).ravel()
    >>> found = degree_likeness(mention_graph(50, 51, memory, concept), seeds=1, queries=5)
    >>> found.top, found.between_queries < 0.5
    (5, True)
    """
    from_node = graph.memories if graph.concepts else 0
    pool = from_node + np.flatnonzero(~graph.dangling[from_node:])
    if pool.size < 2 or queries < 2:
        raise HopgateError("comparing walks needs at least two queries and two concepts that have an edge or a mention")
    rng = np.random.default_rng(seed)
    restart = np.zeros((graph.nodes, queries))
    for column in range(queries):
        restart[rng.choice(pool, min(seeds, pool.size), replace=False), column] = 1
    ranked = graph.memories or graph.nodes
    shown = max(1, min(top, ranked // 10))
    plain = pagerank(graph, restart, damping=damping)
    corrected = (plain.T * graph.divisor**-degree_correction).T
    by_degree = frozenset(top_k(graph.strength[:ranked], shown).tolist())
    figures: list[float] = []
    for scores in (plain, corrected):
        firsts = [frozenset(top_k(column[:ranked], shown).tolist()) for column in scores.T]
        figures.append(float(np.mean([len(a & b) / shown for a, b in combinations(firsts, 2)])))
        figures.append(float(np.mean([len(first & by_degree) / shown for first in firsts])))
    return DegreeLikeness(damping, degree_correction, shown, queries, figures[0], figures[2], figures[1], figures[3])
