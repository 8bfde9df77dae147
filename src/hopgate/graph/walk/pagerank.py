"""Personalised PageRank of an undirected graph: the whole solution, or near the seeds alone.

The whole solution is by conjugate gradients: with ``z`` the score over the root of the strength,
``(I - damping N) z = (1 - damping) restart / root`` is symmetric and positive definite, where ``N`` is the adjacency
with each arc divided by the roots of its ends' strengths. For an L1 error of 1e-4 at damping 0.8 it takes 12 to 16
products with the graph, and power iteration 40. (Hestenes and Stiefel, 1952.)

When only the first memories matter most of a large graph need not be touched, where the extra ``fast`` (numba) is
installed: each node holds settled mass and mass still walking; a node whose walking mass exceeds ``epsilon`` times its
strength settles its share and passes on the rest, and ``epsilon`` shrinks until it is little beside the score of the
last memory that matters. Three walks of a recall over 3 M arcs take 120 ms of CPU instead of 800. (Andersen, Chung and
Lang, "Local graph partitioning using PageRank vectors", 2006.)
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from math import ceil, log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopgate.errors import HopgateError
from hopgate.graph.walk.walk_graph import WalkGraph

Vector = NDArray[Any]


def pagerank(
    graph: WalkGraph, restarts: ArrayLike, *, damping: float = 0.5, tolerance: float = 1e-5
) -> NDArray[np.floating]:
    """Give the share of walks at every node, for one restart vector or many: an array of the same shape.

    Parameters
    ----------
    restarts : array of shape (n,) or (n, q)
        Where walks start, not negative; each column is scaled to sum to 1. A column of zeros gives zeros. A walk that
        starts at a node without arcs starts again.
    damping : float
        How likely a walk goes on at each step, from 0 to below 1.
    tolerance : float
        Largest error of a column in the L1 norm.

    Examples
    --------
    >>> from hopgate.graph.walk.walk_graph import edge_graph
    >>> pagerank(edge_graph(3, [0, 1], [1, 2]), [1, 0, 0]).round(4)
    array([0.5833, 0.3333, 0.0833])
    """
    if not 0 <= damping < 1 or not tolerance > 0:
        raise HopgateError(f"damping is at least 0 and below 1, tolerance above 0: not {damping} and {tolerance}")
    start = np.asarray(restarts, np.float64)
    if len(start) != graph.nodes or not (start >= 0).all() or not np.isfinite(start).all():
        raise HopgateError(f"a restart has one finite number a node, not negative: {graph.nodes} here")
    columns = start[:, None] if start.ndim == 1 else start
    scores = np.zeros_like(columns)
    for at in np.flatnonzero(columns.any(axis=0)).tolist():
        restart = columns[:, at] / columns[:, at].sum()
        # What starts again makes every score larger, and every error: by 1 / (1 - damping) at most.
        within = tolerance * (1 - damping) / 4 if restart[graph.dangling].any() else tolerance
        found = _solved(graph, restart, damping, within)
        scores[:, at] = found / found.sum() if within < tolerance else found
    return scores.reshape(start.shape)


def _solved(graph: WalkGraph, restart: Vector, damping: float, tolerance: float) -> Vector:
    root = np.sqrt(graph.divisor)
    residual = (1 - damping) * restart / root
    direction, found = residual.copy(), np.zeros_like(residual)
    square = _dot(residual, residual)
    # Plain power iteration takes no more steps than this.
    for _ in range(21 + ceil(log(tolerance * (1 - damping)) / log(damping)) if damping else 2):
        if _dot(np.abs(residual), root) <= tolerance * (1 - damping):
            return found * root
        image = direction - damping * (graph.scaled @ direction)
        step = square / _dot(direction, image)
        found += step * direction
        residual -= step * image
        before, square = square, _dot(residual, residual)
        direction *= square / before
        direction += residual
    raise HopgateError(f"rounding keeps PageRank from a tolerance of {tolerance:.0e}; ask for a looser one")


def _dot(left: Vector, right: Vector) -> float:
    # By BLAS it would keep every core busy with what one is quicker with.
    return float(np.einsum("i,i", left, right))


# Near the seeds alone.

# On a smaller graph the whole solution takes no longer: half as long at 0.1 M arcs.
PUSH_ARCS = 200_000
# Importing numba and compiling takes a second and more: a process does it, in a thread, after so many large walks.
WARM_AFTER = 3
# What a typical memory among the first may lack, as a share of the last one's score. On 1 M nodes and 10 M arcs the
# first 50 memories are right at 0.03, in 58 ms for three walks; 0.01 takes 97.
CLOSE = 0.03
# Each stage starts where the last one stopped, so a coarse first look costs little beside the last.
REFINE = 8.0
# So many times as many arcs as the graph has may be walked: then the whole solution costs as little.
BUDGET = 3
# So little still walks that no further stage can matter.
NOTHING_LEFT = 1e-6

Stage = Callable[..., tuple[int, int]]
_compiled: list[Stage] = []
_asked: list[None] = []


def near_walks(
    graph: WalkGraph, restarts: NDArray[np.float64], *, damping: float, top: int
) -> list[NDArray[np.float32] | None]:
    """Walk from every column of restarts until the first `top` memories are right, and give all nodes' scores.

    None for a walk that goes as far as the whole graph, and for all where the graph is small or nothing is compiled
    (yet).
    """
    if graph.arcs >= PUSH_ARCS and not _compiled:
        _asked.append(None)
        if len(_asked) == WARM_AFTER + 1:
            threading.Thread(target=warm, name="hopgate-compile", daemon=True).start()
    if graph.arcs < PUSH_ARCS or not _compiled:
        return [None] * restarts.shape[1]
    return [push(graph, column, damping, top, _compiled[0]) for column in restarts.T]


def warm() -> bool:
    """Compile, or load what an earlier process compiled; False where numba is not installed."""
    if _compiled:
        return True
    try:
        import numba
    except ImportError:
        return False
    try:
        stage = numba.njit(cache=True, nogil=True)(push_stage)
    except RuntimeError:
        # Neither the package's own directory nor the user's cache can be written to.
        stage = numba.njit(nogil=True)(push_stage)
    # It is compiled for the types of its first call.
    two = WalkGraph(np.array([0, 1, 2], np.int32), np.array([1, 0], np.int32), np.ones(2, np.float32), 2)
    push(two, np.array([1.0, 0.0]), 0.5, 1, stage)
    _compiled.append(stage)
    return True


def push(
    graph: WalkGraph, restart: NDArray[np.float64], damping: float, top: int, stage: Stage
) -> NDArray[np.float32] | None:
    """Find the nodes' scores, so that the first `top` memories are right; None once `BUDGET` is spent.

    Examples
    --------
    >>> from hopgate.graph.walk.walk_graph import edge_graph
    >>> chain = edge_graph(101, np.arange(100), np.arange(1, 101), memories=101)
    >>> push(chain, np.eye(101)[0], 0.5, 3, push_stage)[:4].round(2)
    array([0.58, 0.31, 0.08, 0.02], dtype=float32)
    """
    strength = graph.divisor.astype(np.float32)
    arrays = graph.indptr, graph.indices, graph.weights, strength
    settled, walking = np.zeros(graph.nodes, np.float32), restart.astype(np.float32)
    reached = np.empty(graph.nodes, np.int64)
    seeds = np.flatnonzero(restart)
    count, budget = len(seeds), BUDGET * graph.arcs
    reached[:count] = seeds
    epsilon = float((walking[seeds] / strength[seeds]).max(initial=0)) / REFINE
    while epsilon > 0:
        masses = settled, walking, reached
        count, walked = stage(arrays, masses, count, np.float32(damping), np.float32(epsilon), budget)
        budget -= walked
        if budget < 0:
            return None
        touched = reached[:count]
        memories = touched[touched < graph.memories]
        wanted = 0.0
        if memories.size > top:
            score = settled[memories] + (1 - damping) * walking[memories]
            best = np.argpartition(-score, top)[:top]
            wanted = CLOSE * float(score[best].min() / np.median(graph.divisor[memories[best]]))
        if epsilon <= wanted or float(walking[touched].sum()) <= NOTHING_LEFT:
            break
        epsilon = max(wanted, epsilon / REFINE)
    # What still walks settles its first share where it is; the rest goes far: to each node by its strength, as walks do
    # in the end. That changes no place among the first, and yet how widely a walk is spread, which mixing looks at.
    settled += np.float32(1 - damping) * walking
    further = damping * float(walking.sum(dtype=np.float64))
    settled += (further / (graph.strength.sum() or 1.0) * graph.strength).astype(np.float32)
    return settled


def push_stage(
    graph: tuple[Any, ...], masses: tuple[Any, ...], count: int, damping: np.float32, epsilon: np.float32, budget: int
) -> tuple[int, int]:
    """Push from a queue until no node's walking mass exceeds ``epsilon`` times its strength, or the budget is spent.

    Written for numba: plain Python runs it, slowly. `graph` is CSR arrays and strengths; `masses`, which are updated,
    each node's settled and walking mass, and the nodes that were reached, of which there are `count`. Gives how many
    nodes are reached now, and how many arcs were walked.
    """
    indptr, indices, weights, strength = graph
    settled, walking, reached = masses
    queue = np.empty(strength.size, np.int64)
    queued = np.zeros(strength.size, np.bool_)
    known = np.zeros(strength.size, np.bool_)
    head, waiting, walked = 0, 0, 0
    for place in range(count):
        node = reached[place]
        known[node] = True
        if walking[node] > epsilon * strength[node]:
            queue[waiting] = node
            queued[node] = True
            waiting += 1
    while waiting > 0 and walked <= budget:
        node = queue[head]
        head = (head + 1) % queue.size
        waiting -= 1
        queued[node] = False
        mass = walking[node]
        walking[node] = 0
        settled[node] += (1 - damping) * mass
        share = damping * mass / strength[node]
        for arc in range(indptr[node], indptr[node + 1]):
            other = indices[arc]
            walking[other] += share * weights[arc]
            if not known[other]:
                known[other] = True
                reached[count] = other
                count += 1
            if not queued[other] and walking[other] > epsilon * strength[other]:
                queued[other] = True
                queue[(head + waiting) % queue.size] = other
                waiting += 1
        walked += indptr[node + 1] - indptr[node]
    return count, walked
