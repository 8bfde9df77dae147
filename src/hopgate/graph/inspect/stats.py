"""What a graph is made of: nodes, edges, hubs, components, kinds, relations, and how much PageRank is degree here."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from hopgate.errors import HopgateError
from hopgate.graph.walk.matrix import load_matrix
from hopgate.graph.walk.pagerank import pagerank
from hopgate.graph.walk.walk_graph import WalkGraph, top_k
from hopgate.store.graph import arrays, concept_rows

if TYPE_CHECKING:
    from psycopg import Connection

SHOWN = 10


@dataclass(frozen=True)
class GraphStats:
    """The figures of a graph.

    Parameters
    ----------
    edges, name_links : int
        Edges that are not retired, and links between concepts by their names alone.
    retired : int
        Edges that later facts contradict.
    invalidation_rate : float
        The share of facts (source, relation, target) of which something was ever retired.
    raw_relations : int
        Relations in the words of the memories; `relations` counts the canonical ones.
    hubs : tuple of (str, int)
        The concepts that most memories talk about.
    components : int
        Connected parts of memories and concepts together; `largest_component` is the share of the largest.
    degree : DegreeLikeness, optional
        None where there are too few concepts to walk from.
    """

    version: int
    memories: int
    linked_memories: int
    concepts: int
    names: int
    mentions: int
    edges: int
    name_links: int
    retired: int
    invalidation_rate: float
    merges: int
    ambiguous: int
    raw_relations: int
    relations: int
    single_valued: int
    kinds: tuple[tuple[str, int], ...]
    top_relations: tuple[tuple[str, int], ...]
    hubs: tuple[tuple[str, int], ...]
    components: int
    largest_component: float
    degree: DegreeLikeness | None

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON values."""
        values = asdict(self)
        for name in ("kinds", "top_relations", "hubs"):
            values[name] = dict(values[name])
        return values


def stats(connection: Connection[Any], *, damping: float = 0.5) -> GraphStats:
    """Measure a graph; the transaction should be a snapshot."""
    components, largest = _components(connection)
    hubs = concept_rows.listed(connection, limit=SHOWN)
    return GraphStats(
        **concept_rows.counts(connection),
        kinds=tuple(concept_rows.most_kinds(connection, SHOWN)),
        top_relations=tuple(concept_rows.most_relations(connection, SHOWN)),
        hubs=tuple((concept.name, concept.memory_count) for concept in hubs),
        components=components,
        largest_component=largest,
        degree=_degree(connection, damping),
    )


def _components(connection: Connection[Any]) -> tuple[int, float]:
    mentions, edges = arrays.mentions(connection), arrays.edges(connection)
    known = arrays.concept_kinds(connection).id
    linked = np.unique(mentions.memory)
    nodes = len(known) + len(linked)
    if not nodes:
        return 0, 0.0
    first = np.concatenate([np.searchsorted(known, mentions.concept), np.searchsorted(known, edges.source)])
    second = np.concatenate(
        [len(known) + np.searchsorted(linked, mentions.memory), np.searchsorted(known, edges.target)]
    )
    joined = coo_array((np.ones(len(first), np.int8), (first, second)), shape=(nodes, nodes))
    count, label = connected_components(joined.tocsr(), directed=False)
    return int(count), round(float(np.bincount(label).max()) / nodes, 4)


def _degree(connection: Connection[Any], damping: float) -> DegreeLikeness | None:
    try:
        return degree_likeness(load_matrix(connection).graph, damping=damping)
    except HopgateError:  # fewer than two concepts with an edge or a mention
        return None


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

    On a dense graph walks from unrelated seeds end up at the same hubs: the first 100 of two unrelated queries
    overlapped by 0.66 at damping 0.5 and by 0.91 at 0.85 on the prototype's graph of memories. Such a ranking says
    little about the query; `Walk(degree_correction=...)` is the remedy.

    A graph without memories is ranked over all its nodes, and one without concepts is seeded anywhere. No more than a
    tenth of the nodes are compared, because two long lists overlap by chance.

    Examples
    --------
    Fifty memories of two concepts each, and one concept that all of them mention:

    >>> from hopgate.graph.walk.walk_graph import Pairs, mention_graph
    >>> memory = np.repeat(np.arange(50), 3)
    >>> concept = np.stack([np.arange(50), (np.arange(50) + 1) % 50, np.full(50, 50)], axis=1).ravel()
    >>> found = degree_likeness(mention_graph(50, 51, Pairs(memory, concept)), seeds=1, queries=5)
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
