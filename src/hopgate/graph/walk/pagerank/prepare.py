"""What can be done once, when a graph is loaded, so that no query pays for it."""

from __future__ import annotations

import numpy as np

from hopgate.graph.walk.pagerank.compiled import warm
from hopgate.graph.walk.pagerank.kernel import MAX_MEMORIES, Kernel, precompute
from hopgate.graph.walk.pagerank.reduced import reduced
from hopgate.graph.walk.walk_graph import WalkGraph


def prepare(graph: WalkGraph, damping: float = 0.5) -> Kernel | None:
    """Do all of a graph's work that does not depend on the query, and give a kernel where the graph is small enough.

    Run it beside the queries, in a thread: until it returns, `pagerank` gives the same answers without a kernel.

    Examples
    --------
    >>> from hopgate.graph.walk.pagerank.solve import pagerank
    >>> from hopgate.graph.walk.walk_graph import mention_graph
    >>> graph = mention_graph(2, 1, memory=[0, 1], concept=[0, 0])
    >>> pagerank(graph, {2: 1.0}, kernel=prepare(graph)).round(4)
    array([0.1667, 0.1667, 0.6667])
    """
    warm()
    _ = graph.divisor, graph.light_divisor, graph.degree, graph.halves
    if graph.undirected:
        reduced(graph, np.float32)
    fits = graph.undirected and all(graph.apart) and 0 < graph.memories <= MAX_MEMORIES
    return precompute(graph, damping) if fits else None
