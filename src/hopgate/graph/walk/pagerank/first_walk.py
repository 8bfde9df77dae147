"""PageRank with NumPy alone, for a process that walks once: importing SciPy takes longer than the walk."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.pagerank.conjugate_gradients import conjugate_gradients
from hopgate.graph.walk.walk_graph import WalkGraph


def solve_with_numpy(
    graph: WalkGraph, restarts: Sequence[NDArray[np.float64]], damping: float, tolerance: float
) -> NDArray[np.float64] | None:
    """Solve an undirected graph for some restarts, each a number a node; None if rounding kept the error too large.

    Examples
    --------
    >>> from hopgate.graph.walk.walk_graph import edge_graph
    >>> solve_with_numpy(edge_graph(2, [0], [1]), [np.array([1.0, 0.0])], 0.5, 1e-9)[:, 0].round(4)
    array([0.6667, 0.3333])
    """
    weights = graph.weights.astype(np.float64)
    filled = np.flatnonzero(graph.degree)
    begins = graph.indptr[filled]

    def apply(z: NDArray[np.float64]) -> NDArray[np.float64]:
        image = graph.divisor * z
        if len(filled):
            image[filled] -= damping * np.add.reduceat(weights * z[graph.indices], begins)
        return image

    most = 20 + ceil(log(tolerance * (1 - damping)) / log(damping)) if damping else 1
    columns = []
    for restart in restarts:
        z = conjugate_gradients(apply, graph.divisor, (1 - damping) * restart, tolerance * (1 - damping), most)
        if z is None:
            return None
        columns.append(z * graph.divisor)
    return np.stack(columns, axis=1) if columns else np.zeros((graph.nodes, 0))
