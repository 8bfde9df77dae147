"""One stage of local push with NumPy: the whole frontier moves at once, until every node waits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.pagerank.leaving import leaving
from hopgate.graph.walk.walk_graph import WalkGraph


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
        arrivals, share = leaving(graph, active, damping * walking[active] / graph.light_divisor[active])
        settled[active] += (1 - damping) * walking[active]
        walking[active] = 0
        np.add.at(walking, arrivals, share)
        walked += arrivals.size
        active = np.unique(arrivals)
        reached.append(active)
