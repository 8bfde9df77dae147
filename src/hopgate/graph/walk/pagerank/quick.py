"""The walk that recall makes: from a few sparse restarts at once, over the whole graph or near the seeds; compiled."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.pagerank.compiled import Kernels, kernels
from hopgate.graph.walk.pagerank.first_walk import solve_with_numpy
from hopgate.graph.walk.pagerank.kernels import LANES
from hopgate.graph.walk.pagerank.lanes import solve_lanes
from hopgate.graph.walk.pagerank.push import push
from hopgate.graph.walk.walk_graph import WalkGraph

# Pushing near the seeds pays on a graph of so many arcs and more: three walks over 200,000 take 7 ms whole and 11 ms by
# push, over 500,000 22 and 14, over 10 M 1,270 and 58 (docs/research/traversal.md).
PUSH_ARCS = 300_000
# A push that walks as many arcs as the graph has is given up: it costs as much as solving the graph whole.
PUSH_BUDGET = 1
# Up to here three walks with NumPy alone take less than to import SciPy does (0.2 s): 0.1 M arcs take 60 ms.
FIRST_ARCS = 300_000
# Single precision holds no error below this.
LEAST_TOLERANCE = 1e-5


def quick_walks(
    graph: WalkGraph,
    restarts: Sequence[Mapping[int, float]],
    *,
    damping: float,
    tolerance: float,
    top: int | None = None,
) -> NDArray[np.floating] | None:
    """Personalised PageRank of every node from each of a few restarts.

    Parameters
    ----------
    restarts : sequence of mapping of node to mass
        Where walks start; each sums to 1, or is empty, and none is a node that nothing leaves.
    tolerance : float
        Largest error of a column in the L1 norm, where the whole graph is solved.
    top : int, optional
        Only the first `top` memories need be right: a large graph is then walked near the seeds only.

    Returns
    -------
    array of shape (nodes, restarts), or None
        None where it cannot be done: nothing is compiled (yet), the graph is directed, or the tolerance is too tight.
    """
    if not graph.undirected or tolerance < LEAST_TOLERANCE or len(restarts) > LANES:
        return None
    compiled = kernels()
    if compiled is None:
        return _first(graph, restarts, damping, tolerance)
    if top is not None and graph.arcs >= PUSH_ARCS:
        near = _near(graph, restarts, damping, top, compiled)
        if near is not None:
            return near
    return _whole(graph, restarts, damping, tolerance, compiled)


def _first(
    graph: WalkGraph, restarts: Sequence[Mapping[int, float]], damping: float, tolerance: float
) -> NDArray[np.float64] | None:
    """Walk with NumPy, where SciPy is not there yet and the graph not so large that it pays to import it."""
    if "scipy.sparse" in sys.modules or graph.arcs > FIRST_ARCS:
        return None
    columns = []
    for restart in restarts:
        seeds, mass = _seeds(restart)
        column = np.zeros(graph.nodes)
        column[seeds] = mass
        columns.append(column)
    return solve_with_numpy(graph, columns, damping, tolerance)


def _near(
    graph: WalkGraph, restarts: Sequence[Mapping[int, float]], damping: float, top: int, compiled: Kernels
) -> NDArray[np.float32] | None:
    columns = np.zeros((len(restarts), graph.nodes), np.float32)
    for number, restart in enumerate(restarts):
        seeds, mass = _seeds(restart)
        budget = PUSH_BUDGET * graph.arcs
        scores = push(graph, seeds, mass, damping, top, stage=compiled.push_stage, budget=budget)
        if scores is None:
            return None
        columns[number] = scores
    return columns.T


def _whole(
    graph: WalkGraph, restarts: Sequence[Mapping[int, float]], damping: float, tolerance: float, compiled: Kernels
) -> NDArray[np.float32] | None:
    start = np.zeros((graph.nodes, LANES), np.float32)
    for lane, restart in enumerate(restarts):
        seeds, mass = _seeds(restart)
        start[seeds, lane] = mass
    scores = solve_lanes(graph, start, damping, tolerance, compiled)
    return None if scores is None else scores[:, : len(restarts)]


def _seeds(restart: Mapping[int, float]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    return np.fromiter(restart.keys(), np.int64, len(restart)), np.fromiter(restart.values(), np.float32, len(restart))
