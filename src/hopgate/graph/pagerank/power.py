"""Power iteration with SciPy: always available, any graph, any tolerance; what every other path is tested against."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walkgraph import WalkGraph


def power(graph: WalkGraph, restart: NDArray[np.float64], damping: float, tolerance: float) -> NDArray[np.float64]:
    """Sum the walk's steps, ``(1 - damping) * sum_k damping^k P^k restart``, until what is left is within tolerance.

    Mass that reaches a dangling node is lost here; the front door gives it back. What step ``k`` has not yet added
    weighs at most ``damping^k`` times the mass still walking, which is the error bound in the L1 norm.

    Examples
    --------
    >>> from hopgate.graph.walkgraph import edge_graph
    >>> power(edge_graph(2, [0], [1]), np.array([1.0, 0.0]), 0.5, 1e-9).round(4)
    array([0.6667, 0.3333])
    """
    incoming = graph.incoming.astype(np.float64)
    inverse = graph.inverse_strength.astype(np.float64).reshape(-1, *[1] * (restart.ndim - 1))
    walking = (1 - damping) * restart
    total = walking.copy()
    while walking.sum(axis=0).max(initial=0) * damping > tolerance * (1 - damping):
        walking = np.asarray(damping * (incoming @ (walking * inverse)))
        total += walking
    return total
