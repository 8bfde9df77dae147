"""The front door: checks what comes in, chooses a path, gives back what dangling nodes swallowed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.graph.walk.pagerank.batch import in_batches
from hopgate.graph.walk.pagerank.halved import halved
from hopgate.graph.walk.pagerank.kernel import Kernel
from hopgate.graph.walk.pagerank.power_iteration import power
from hopgate.graph.walk.pagerank.push import push
from hopgate.graph.walk.pagerank.restart import Restart, columns, sparse
from hopgate.graph.walk.walk_graph import WalkGraph

Dangling = Literal["restart", "stay", "uniform"]

# Pushing near the seeds pays on a graph of this many nodes and more, over (1 - damping)²: the less a walk restarts, the
# farther it goes. In CPU time at damping 0.5: 23 ms against 29 for solving the whole of 100,000 nodes and 2 M arcs, 35
# against 99 for 300,000 and 6 M, and 19 against 6 for 30,000; at 0.85 387 against 154 for 300,000.
PUSH_NODES = 25_000
# A push that walks as many arcs as the graph has is given up: it costs as much as solving the graph whole.
PUSH_BUDGET = 1
# A kernel is kept in single precision.
KERNEL_TOLERANCE = 5e-6
# Single precision holds this error where no hub has more arcs than LIGHT_HUB: SciPy adds a row's terms one after the
# other, and a hub of 10,000 arcs then errs by 6e-5. It takes 0.65 of the time of double precision at 1e-5.
LIGHT_TOLERANCE = 1e-4
LIGHT_HUB = 10_000
# Enough for the first 100 of a whole solution: overlap 1.00 on a graph of the prototype's size at damping 0.5 and 0.85,
# of all nodes and of the memories; at 3e-2 the memories' overlap falls to 0.97.
TOP_TOLERANCE = 1e-2


def pagerank(
    graph: WalkGraph,
    restart: Restart,
    *,
    damping: float = 0.5,
    tolerance: float = 1e-5,
    top: int | None = None,
    degree_correction: float = 0.0,
    dangling: Dangling = "restart",
    kernel: Kernel | None = None,
) -> NDArray[np.floating]:
    """Personalised PageRank of every node, for one restart vector or many.

    Which path computes it follows from the graph: a kernel where one is given, conjugate gradients where the graph is
    undirected (half of the nodes eliminated where memories do not touch each other), power iteration where it is
    directed, local push where it is large and only the top matters. All agree within the tolerance.

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
    top : int, optional
        Only the first `top` nodes, and the first `top` memories, need be right: 0.99 of them in the mean of the queries
        measured, not by proof; single queries fell to 0.98 at damping 0.85.
        The tolerance then no longer holds, and a large graph is walked near the seeds only.
    degree_correction : float
        Scores are divided by ``strength ** degree_correction``; 0 leaves them alone, 1 removes the degree wholly.
    dangling : {"restart", "stay", "uniform"}
        Where a walk goes from a node that nothing leaves: to the restart vector, nowhere, or anywhere.
    kernel : Kernel, optional
        What `precompute` or `prepare` made of this graph at this damping.

    Returns
    -------
    numpy.ndarray
        Same shape as `restart`; float64, or float32 where `top` or a loose tolerance allow it.

    Examples
    --------
    >>> from hopgate.graph.walk.walk_graph import edge_graph
    >>> path = edge_graph(3, [0, 1], [1, 2])
    >>> pagerank(path, {0: 1.0}).round(4)
    array([0.5833, 0.3333, 0.0833])
    """
    _check(damping, tolerance, dangling, top)
    if kernel is not None:
        kernel.check(graph, damping)
    scale = _scale(graph, degree_correction)
    scores = None
    large = graph.nodes * (1 - damping) ** 2 >= PUSH_NODES
    if top is not None and large and graph.undirected and kernel is None:
        scores = _pushed(graph, restart, damping, top, scale)
    if scores is None:
        start = columns(restart, graph.nodes)
        error = tolerance if top is None else max(tolerance, TOP_TOLERANCE)
        scores = _returned(graph, start, damping, error, dangling, kernel, loose=top is not None)
    return scores if scale is None else np.asarray((scores.T * scale).T)


def _pushed(
    graph: WalkGraph, restart: Restart, damping: float, top: int, scale: NDArray[np.float32] | None
) -> NDArray[Any] | None:
    """Push each column; None where that does not pay or mass would leak from an isolated node."""
    if isinstance(restart, Mapping):
        # A large graph's restart is never made dense: checking a million entries takes longer than walking.
        starts, shape = [sparse(restart, graph.nodes)], (graph.nodes,)
    else:
        start = columns(restart, graph.nodes)
        starts = [(seeds := np.flatnonzero(column), column[seeds]) for column in start.reshape(graph.nodes, -1).T]
        shape = start.shape
    results = []
    for seeds, weight in starts:
        if graph.dangling[seeds].any():
            return None
        mass = weight.astype(np.float32)
        scores = push(graph, seeds, mass, damping, top, scale=scale, budget=PUSH_BUDGET * graph.arcs)
        if scores is None:
            return None
        results.append(scores)
    return np.stack(results, axis=1).reshape(shape) if len(results) > 1 else np.reshape(results, shape[::-1]).T


def _returned(
    graph: WalkGraph,
    start: NDArray[Any],
    damping: float,
    tolerance: float,
    dangling: Dangling,
    kernel: Kernel | None,
    *,
    loose: bool,
) -> NDArray[Any]:
    """Solve with dangling nodes leaking, then put the leak where it belongs; exact, because PageRank is linear."""
    solve = partial(_leaky, graph, damping=damping, kernel=kernel, loose=loose)
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


def _leaky(
    graph: WalkGraph, start: NDArray[Any], tolerance: float, *, damping: float, kernel: Kernel | None, loose: bool
) -> NDArray[Any]:
    """Choose the path for a whole solution."""
    if kernel is not None and tolerance >= KERNEL_TOLERANCE:
        # Summing rows of a kernel gains nothing from doing it for several columns at once.
        return in_batches(partial(kernel.solve, graph), start, width=1)

    def solve(part: NDArray[Any]) -> NDArray[Any]:
        light = loose or (tolerance >= LIGHT_TOLERANCE and graph.widest <= LIGHT_HUB)
        dtype = np.float32 if light else np.float64
        scores = halved(graph, part, damping, tolerance, dtype) if graph.undirected else None
        return power(graph, part, damping, tolerance) if scores is None else scores

    return in_batches(solve, start)


def _scale(graph: WalkGraph, degree_correction: float) -> NDArray[np.float32] | None:
    if not degree_correction:
        return None
    return np.asarray(graph.divisor**-degree_correction, np.float32)


def _check(damping: float, tolerance: float, dangling: str, top: int | None) -> None:
    if not 0 <= damping < 1:
        raise HopgateError(f"damping must be at least 0 and below 1, not {damping}")
    if not tolerance > 0:
        raise HopgateError(f"tolerance must be above 0, not {tolerance}")
    if top is not None and top < 1:
        raise HopgateError(f"top must be at least 1, not {top}")
    if dangling not in get_args(Dangling):
        raise HopgateError(f"dangling must be one of {', '.join(get_args(Dangling))}, not {dangling!r}")
