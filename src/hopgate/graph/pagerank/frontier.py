"""One stage of local push with NumPy: the whole frontier moves at once, until every node waits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walkgraph import WalkGraph


def frontier(
    graph: WalkGraph,
    settled: NDArray[np.float32],
    walking: NDArray[np.float32],
    touched: NDArray[np.int64],
    damping: float,
    epsilon: float,
    budget: int,
) -> tuple[NDArray[np.int64], int]:
    """Push until no node's walking mass exceeds ``epsilon`` times its strength; `settled` and `walking` are updated.

    Returns
    -------
    tuple
        The nodes that mass has come to, these and earlier ones, and how many arcs were walked; more than `budget`
        says that it stopped early.
    """
    reached = [touched]
    active = touched
    walked = 0
    while True:
        active = active[walking[active] > epsilon * graph.light_divisor[active]]
        if not active.size or walked > budget:
            return np.unique(np.concatenate(reached)), walked
        arrivals, share = _arcs(graph, active, damping * walking[active])
        settled[active] += (1 - damping) * walking[active]
        walking[active] = 0
        np.add.at(walking, arrivals, share)
        walked += arrivals.size
        active = np.unique(arrivals)
        reached.append(active)


def _arcs(
    graph: WalkGraph, nodes: NDArray[np.int64], mass: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """List where the nodes' arcs arrive and what share of their mass each carries."""
    first, count = graph.indptr[nodes].astype(np.int64), graph.degree[nodes]
    ends = np.cumsum(count)
    position = np.arange(ends[-1]) + np.repeat(first - ends + count, count)
    share = np.repeat(mass / graph.light_divisor[nodes], count)
    return graph.indices[position].astype(np.int64), share * graph.weights[position]
