"""`pagerank`: checks its input, chooses a solver by the graph, and gives back what nodes without arcs swallowed."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopgate.errors import HopgateError
from hopgate.graph.walk.pagerank.conjugate_gradients import solve_undirected
from hopgate.graph.walk.pagerank.power_iteration import power_iteration
from hopgate.graph.walk.row_blocks import threads
from hopgate.graph.walk.walk_graph import WalkGraph

Dangling = Literal["restart", "stay", "uniform"]
RestartWeights = ArrayLike | Mapping[int, float]

# Single precision holds this error where no hub has more arcs than LIGHT_HUB: SciPy adds a row's terms one after the
# other, and a hub of 10,000 arcs then errs by 6e-5. It takes 0.65 of the time of double precision at 1e-5.
LIGHT_TOLERANCE = 1e-4
LIGHT_HUB = 10_000
# Columns per product, measured at 0.3 M arcs in CPU time a query: 16 take 0.55 of one column's in single precision and
# 0.83 to 0.94 in double; 4 take longer than one, 8 a little longer than 16, and 32 as long.
BATCH_COLUMNS = 16
# Fewer than this are solved one by one, and side by side on a graph whose products outweigh a thread: three columns at
# once took 279 ms of CPU at 1.1 M arcs where three apart took 149 and one 54; 12 ms at 54,000 arcs against 10 and 4.
FEWEST_TOGETHER = 8
ARCS_A_THREAD = 200_000


def pagerank(
    graph: WalkGraph,
    restart: RestartWeights,
    *,
    damping: float = 0.5,
    tolerance: float = 1e-5,
    degree_correction: float = 0.0,
    dangling: Dangling = "restart",
) -> NDArray[np.floating]:
    """Personalised PageRank of every node, for one restart vector or many.

    Which solver computes it follows from the graph: conjugate gradients where it is undirected (half of the nodes
    eliminated where memories do not touch each other), power iteration where it is directed. They agree within the
    tolerance.

    Parameters
    ----------
    graph : WalkGraph
        Where to walk.
    restart : array of shape (n,) or (n, q), or mapping of node to weight
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
        Same shape as `restart`; float64, or float32 where a loose tolerance allows it.

    Examples
    --------
    >>> from hopgate.graph.walk.walk_graph import edge_graph
    >>> path = edge_graph(3, [0, 1], [1, 2])
    >>> pagerank(path, {0: 1.0}).round(4)
    array([0.5833, 0.3333, 0.0833])
    """
    _check(damping, tolerance, dangling)
    scores = _solve_whole(graph, restart_columns(restart, graph.nodes), damping, tolerance, dangling)
    if not degree_correction:
        return scores
    return np.asarray((scores.T * np.asarray(graph.divisor**-degree_correction, np.float32)).T)


def restart_columns(restart: RestartWeights, nodes: int) -> NDArray[Any]:
    """Give the restart as a dense array of shape (n,) or (n, q), each column summing to 1 or to 0.

    Examples
    --------
    >>> restart_columns({2: 1.0, 0: 3.0}, 3)
    array([0.75, 0.  , 0.25])
    """
    if isinstance(restart, Mapping):
        dense = np.zeros(nodes)
        seeds, mass = _sparse_restart(restart, nodes)
        dense[seeds] = mass
        return dense
    dense = np.asarray(restart)
    if dense.ndim not in (1, 2) or len(dense) != nodes:
        raise HopgateError(f"a restart vector for this graph has {nodes} entries, not shape {dense.shape}")
    if not (dense >= 0).all() or not np.isfinite(dense).all():
        raise HopgateError("a restart vector holds finite numbers that are not negative")
    mass = dense.sum(axis=0, dtype=np.float64)
    return np.asarray(np.divide(dense, mass, out=np.zeros(dense.shape), where=mass > 0))


def _sparse_restart(restart: Mapping[int, float], nodes: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Give the seeds that carry mass, and their mass, which sums to 1."""
    seeds = np.fromiter(restart.keys(), np.int64, len(restart))
    mass = np.fromiter(restart.values(), np.float64, len(restart))
    if seeds.size and not 0 <= seeds.min() <= seeds.max() < nodes:
        raise HopgateError(f"a seed lies outside the graph's {nodes} nodes")
    if not (mass >= 0).all() or not np.isfinite(mass).all():
        raise HopgateError("a restart vector holds finite numbers that are not negative")
    carrying = mass > 0
    return seeds[carrying], mass[carrying] / (mass.sum() or 1.0)


def _solve_whole(
    graph: WalkGraph, start: NDArray[Any], damping: float, tolerance: float, dangling: Dangling
) -> NDArray[Any]:
    """Solve with dangling nodes leaking, then put the leak where it belongs; exact, because PageRank is linear."""
    solve = partial(_solve_leaking, graph, damping=damping)
    leaks = bool(start[graph.dangling].any()) if graph.undirected else graph.any_dangling
    if not leaks:
        return solve(start, tolerance)
    # Giving the leak back multiplies by at most 1 / (1 - damping), and normalising can double an error.
    tolerance *= (1 - damping) / 4
    leaky = solve(start, tolerance)
    if dangling == "stay":
        leaky[graph.dangling] /= 1 - damping
        return leaky
    mass = leaky.sum(axis=0, dtype=np.float64)
    if dangling == "restart":
        return np.asarray(np.divide(leaky, mass, out=leaky, where=mass > 0))
    everywhere = solve(np.full(graph.nodes, 1 / graph.nodes), tolerance)
    lost = (start.sum(axis=0) - mass) / everywhere.sum(dtype=np.float64)
    return np.asarray(leaky + np.multiply.outer(everywhere, lost))


def _solve_leaking(graph: WalkGraph, start: NDArray[Any], tolerance: float, *, damping: float) -> NDArray[Any]:
    """Solve a few columns one by one, and many some at a time, so that one reading of the matrix serves them all."""
    light = tolerance >= LIGHT_TOLERANCE and graph.widest <= LIGHT_HUB
    dtype = np.float32 if light else np.float64

    def solve(columns: NDArray[Any]) -> NDArray[Any]:
        scores = solve_undirected(graph, columns, damping, tolerance, dtype) if graph.undirected else None
        return power_iteration(graph, columns, damping, tolerance) if scores is None else scores

    if start.ndim == 1:
        return solve(start)
    if start.shape[1] < FEWEST_TOGETHER:
        columns = [np.ascontiguousarray(column) for column in start.T]
        if graph.arcs < ARCS_A_THREAD or len(columns) < 2:
            return np.stack([solve(column) for column in columns], axis=1) if columns else start
        with ThreadPoolExecutor(min(len(columns), threads())) as pool:
            return np.stack(list(pool.map(solve, columns)), axis=1)
    cuts = range(0, start.shape[1], BATCH_COLUMNS)
    parts = [solve(np.ascontiguousarray(start[:, low : low + BATCH_COLUMNS])) for low in cuts]
    return np.concatenate(parts, axis=1) if parts else start


def _check(damping: float, tolerance: float, dangling: str) -> None:
    if not 0 <= damping < 1:
        raise HopgateError(f"damping must be at least 0 and below 1, not {damping}")
    if not tolerance > 0:
        raise HopgateError(f"tolerance must be above 0, not {tolerance}")
    if dangling not in get_args(Dangling):
        raise HopgateError(f"dangling must be one of {', '.join(get_args(Dangling))}, not {dangling!r}")
