"""The front door: checks what comes in, chooses a path, gives back what dangling nodes swallowed."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopgate.errors import HopgateError
from hopgate.graph.pagerank.power import power
from hopgate.graph.walkgraph import WalkGraph

Dangling = Literal["restart", "stay", "uniform"]


def pagerank(
    graph: WalkGraph,
    restart: ArrayLike,
    *,
    damping: float = 0.5,
    tolerance: float = 1e-5,
    degree_correction: float = 0.0,
    dangling: Dangling = "restart",
) -> NDArray[np.floating]:
    """Personalised PageRank of every node, for one restart vector or many.

    Parameters
    ----------
    graph : WalkGraph
        Where to walk.
    restart : array of shape (n,) or (n, q)
        Where walks start, not negative; each column is scaled to sum to 1. A column of zeros gives zeros.
    damping : float
        How likely the walk goes on at each step, in 0..1 (1 excluded).
    tolerance : float
        Largest error of a column in the L1 norm, before the degree correction.
    degree_correction : float
        Scores are divided by ``strength ** degree_correction``; 0 leaves them alone, 1 removes the degree wholly.
    dangling : {"restart", "stay", "uniform"}
        Where a walk goes from a node that nothing leaves: to the restart vector, nowhere, or anywhere.

    Returns
    -------
    numpy.ndarray
        Same shape as `restart`.

    Examples
    --------
    >>> from hopgate.graph.walkgraph import edge_graph
    >>> path = edge_graph(3, [0, 1], [1, 2])
    >>> pagerank(path, [1, 0, 0], tolerance=1e-9).round(4)
    array([0.5833, 0.3333, 0.0833])
    """
    start = _checked(graph, restart, damping, tolerance, dangling)
    scores = _returned(graph, start, damping, tolerance, dangling)
    if degree_correction:
        strength = np.where(graph.strength > 0, graph.strength, 1).astype(scores.dtype)
        scores /= (strength**degree_correction).reshape(-1, *[1] * (scores.ndim - 1))
    return scores


def _returned(
    graph: WalkGraph, start: NDArray[np.float64], damping: float, tolerance: float, dangling: Dangling
) -> NDArray[np.floating]:
    """Solve with dangling nodes leaking, then put the leak where it belongs; exact, because PageRank is linear."""
    if not graph.any_dangling:
        return power(graph, start, damping, tolerance)
    # Giving the leak back multiplies by at most 1 / (1 - damping), and normalising can double an error.
    leaky = power(graph, start, damping, tolerance * (1 - damping) / 4)
    if dangling == "stay":
        leaky[graph.dangling] /= 1 - damping
        return leaky
    if dangling == "restart":
        mass = leaky.sum(axis=0)
        return np.asarray(np.divide(leaky, mass, out=leaky, where=mass > 0))
    everywhere = power(graph, np.full(graph.nodes, 1 / graph.nodes), damping, tolerance * (1 - damping) / 4)
    lost = start.sum(axis=0) - leaky.sum(axis=0)
    return np.asarray(leaky + np.multiply.outer(everywhere, lost / everywhere.sum()))


def _checked(
    graph: WalkGraph, restart: ArrayLike, damping: float, tolerance: float, dangling: str
) -> NDArray[np.float64]:
    start = np.asarray(restart, np.float64)
    if start.ndim not in (1, 2) or len(start) != graph.nodes:
        raise HopgateError(f"a restart vector for this graph has {graph.nodes} entries, not shape {start.shape}")
    if not (np.isfinite(start).all() and (start >= 0).all()):
        raise HopgateError("a restart vector holds finite numbers that are not negative")
    if not 0 <= damping < 1:
        raise HopgateError(f"damping must be at least 0 and below 1, not {damping}")
    if not tolerance > 0:
        raise HopgateError(f"tolerance must be above 0, not {tolerance}")
    if dangling not in get_args(Dangling):
        raise HopgateError(f"dangling must be one of {', '.join(get_args(Dangling))}, not {dangling!r}")
    mass = start.sum(axis=0)
    return np.asarray(np.divide(start, mass, out=np.zeros_like(start), where=mass > 0))
