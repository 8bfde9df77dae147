"""Power iteration with SciPy: any graph, any tolerance; the plain solver that every other one is tested against."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.walk_graph import WalkGraph


def power_iteration(
    graph: WalkGraph, restart: NDArray[np.float64], damping: float, tolerance: float
) -> NDArray[np.float64]:
    """Sum the walk's steps, ``(1 - damping) * sum_k damping^k P^k restart``, until what is left is within tolerance.

    Mass that reaches a dangling node is lost here; `pagerank` gives it back. Mass that still walks after a step
    adds at most ``damping / (1 - damping)`` times itself, which is the error in the L1 norm.

    Examples
    --------
    >>> from hopgate.graph.walk.walk_graph import edge_graph
    >>> power_iteration(edge_graph(2, [0], [1]), np.array([1.0, 0.0]), 0.5, 1e-9).round(4)
    array([0.6667, 0.3333])
    """
    memory_rows, concept_rows = graph.halves
    divisor = graph.divisor.reshape(-1, *[1] * (restart.ndim - 1))
    walking = (1 - damping) * restart
    total = walking.copy()
    while walking.sum(axis=0).max(initial=0) * damping > tolerance * (1 - damping):
        share = walking / divisor
        walking = damping * np.concatenate([memory_rows @ share, concept_rows @ share])
        total += walking
    return total
