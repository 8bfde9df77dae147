"""Personalised PageRank of an undirected graph: conjugate gradients, with half of the nodes eliminated.

With ``z`` the score over the strength, ``(D - damping A) z = (1 - damping) restart`` is symmetric and positive
definite, and its condition after scaling by ``D`` is at most ``(1 + damping) / (1 - damping)``. For an L1 error of 1e-5
at damping 0.85 power iteration needs 71 products with the graph and conjugate gradients need 14, or 7 where one half of
the nodes can be eliminated: where no two memories are joined, a memory's score follows from its concepts' scores (and,
where no two concepts are, the other way round). A step in what is left walks out and back.

Hestenes and Stiefel, "Methods of conjugate gradients for solving linear systems", 1952.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopgate.errors import HopgateError
from hopgate.graph.walk.walk_graph import WalkGraph

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Vector = NDArray[Any]

# Single precision takes 0.65 of the time of double. It holds this error, unless a node has more arcs than this: SciPy
# adds a row's terms one after the other, and a hub of 10,000 arcs errs by 6e-5.
SINGLE_TOLERANCE = 1e-4
SINGLE_HUB = 10_000
# Of many columns so many are solved by one product, at half the time of one column each; a few take half the time where
# they are solved one by one. Measured at 0.1 to 4 M arcs.
COLUMNS_TOGETHER = 16
FEW_COLUMNS = 8


def pagerank(
    graph: WalkGraph, restarts: ArrayLike, *, damping: float = 0.5, tolerance: float = 1e-5
) -> NDArray[np.floating]:
    """Give the share of walks at every node, for one restart vector or many.

    Parameters
    ----------
    graph : WalkGraph
        Where to walk.
    restarts : array of shape (n,) or (n, q)
        Where walks start, not negative; each column is scaled to sum to 1. A column of zeros gives zeros. A walk that
        starts at a node without arcs starts again.
    damping : float
        How likely a walk goes on at each step, from 0 to below 1.
    tolerance : float
        Largest error of a column in the L1 norm.

    Returns
    -------
    numpy.ndarray
        Same shape as `restarts`; float64, or float32 where a loose tolerance allows it.

    Examples
    --------
    >>> from hopgate.graph.walk.walk_graph import edge_graph
    >>> path = edge_graph(3, [0, 1], [1, 2])
    >>> pagerank(path, [1, 0, 0]).round(4)
    array([0.5833, 0.3333, 0.0833])
    """
    if not 0 <= damping < 1:
        raise HopgateError(f"damping must be at least 0 and below 1, not {damping}")
    if not tolerance > 0:
        raise HopgateError(f"tolerance must be above 0, not {tolerance}")
    start = np.asarray(restarts)
    if start.ndim not in (1, 2) or len(start) != graph.nodes:
        raise HopgateError(f"a restart vector for this graph has {graph.nodes} entries, not shape {start.shape}")
    if not (start >= 0).all() or not np.isfinite(start).all():
        raise HopgateError("a restart vector holds finite numbers that are not negative")
    mass = start.sum(axis=0, dtype=np.float64)
    start = np.asarray(np.divide(start, mass, out=np.zeros(start.shape), where=mass > 0))
    isolated = bool(start[graph.dangling].any())
    if isolated:
        # What starts again makes every score larger, and every error: by 1 / (1 - damping) at most.
        tolerance *= (1 - damping) / 4
    single = tolerance >= SINGLE_TOLERANCE and int(graph.degree.max(initial=0)) <= SINGLE_HUB

    def solve(columns: Vector) -> Vector:
        for dtype in (np.float32, np.float64) if single else (np.float64,):
            scores = _system(graph, damping, dtype).solve(columns, damping, tolerance)
            if scores is not None:
                return scores
        raise HopgateError(f"rounding keeps PageRank from a tolerance of {tolerance:.0e}; ask for a looser one")

    if start.ndim == 1:
        scores = solve(start)
    elif not start.size:
        return start
    elif start.shape[1] < FEW_COLUMNS:
        scores = np.stack([solve(np.ascontiguousarray(column)) for column in start.T], axis=1)
    else:
        cuts = range(0, start.shape[1], COLUMNS_TOGETHER)
        scores = np.concatenate([solve(start[:, low : low + COLUMNS_TOGETHER]) for low in cuts], axis=1)
    if isolated:
        mass = scores.sum(axis=0, dtype=np.float64)
        np.divide(scores, mass, out=scores, where=mass > 0)
    return scores


@dataclass(frozen=True, eq=False)
class _System:
    """``I - damping N`` with one half of its nodes eliminated, or none.

    ``N`` is the adjacency, each arc divided by the roots of its ends' strengths. `onward` holds ``damping N`` from kept
    to dropped nodes, `back` from all nodes to kept ones; a vector over all nodes has the kept ones first.
    """

    keep: slice
    drop: slice
    onward: csr_array[Any]
    back: csr_array[Any]
    root: Vector
    dropped_root: Vector

    def solve(self, restart: Vector, damping: float, tolerance: float) -> Vector | None:
        """Solve for columns that sum to 1 or less; None if rounding kept the error above the tolerance."""
        dtype = self.root.dtype.type
        tall = (-1, *[1] * (restart.ndim - 1))
        root, dropped_root = self.root.reshape(tall), self.dropped_root.reshape(tall)
        kept = len(root)
        every = np.zeros((kept + len(dropped_root), *restart.shape[1:]), dtype)

        def apply(vector: Vector) -> Vector:
            every[:kept], every[kept:] = vector, self.onward @ vector
            return np.asarray(vector - self.back @ every)

        # Plain power iteration takes no more steps than this.
        most = 20 + ceil(log(tolerance * (1 - damping)) / log(damping)) if damping else 1
        first = restart.astype(dtype) * dtype(1 - damping)
        every[kept:] = first[self.drop] / dropped_root
        target = first[self.keep] / root + self.back @ every
        found = conjugate_gradients(apply, target, root, tolerance * (1 - damping), most)
        if found is None:
            return None
        scores: Vector = np.empty_like(first)
        scores[self.keep] = found * root
        scores[self.drop] = first[self.drop] + dropped_root * (self.onward @ found)
        return scores


def conjugate_gradients(
    apply: Callable[[Vector], Vector], target: Vector, weight: Vector, bound: float, most: int
) -> Vector | None:
    """Solve ``apply(x) = target`` for a symmetric positive definite operator, columns side by side.

    Parameters
    ----------
    apply : callable
        The operator; it returns a fresh array.
    weight : array
        What the residual is weighed with, shaped to broadcast over `target`.
    bound : float
        The weighed L1 norm that every column's residual must reach.
    most : int
        Steps after which to give up.

    Returns
    -------
    numpy.ndarray or None
        None if the bound was not reached, which only rounding can cause.

    Examples
    --------
    >>> matrix = np.array([[2.0, -1.0], [-1.0, 2.0]])
    >>> conjugate_gradients(lambda x: matrix @ x, np.array([1.0, 0.0]), np.ones(2), 1e-9, 10).round(4)
    array([0.6667, 0.3333])
    """
    residual, direction = target.copy(), target.copy()
    solution = np.zeros_like(target)
    square = _dot(residual, residual)
    for _ in range(most + 1):
        if (np.abs(residual) * weight).sum(axis=0).max(initial=0) <= bound:
            return solution
        image = apply(direction)
        step = _ratio(square, _dot(direction, image))
        solution += step * direction
        residual -= step * image
        before, square = square, _dot(residual, residual)
        direction *= _ratio(square, before)
        direction += residual
    return None


def _dot(left: Vector, right: Vector) -> Vector:
    return np.asarray(np.einsum("i...,i...->...", left, right))


def _ratio(upper: Vector, lower: Vector) -> Vector:
    """Divide, with 0 for a column that is already solved."""
    return np.divide(upper, lower, out=np.zeros_like(upper), where=lower > 0)


_systems: WeakKeyDictionary[WalkGraph, dict[tuple[float, type], _System]] = WeakKeyDictionary()


def _system(graph: WalkGraph, damping: float, dtype: type[np.floating[Any]]) -> _System:
    """Give a graph's system, which goes with the graph; the last one is kept."""
    from scipy.sparse import csr_array, hstack

    if (made := _systems.get(graph, {}).get((damping, dtype))) is not None:
        return made
    memories, concepts = slice(0, graph.memories), slice(graph.memories, graph.nodes)
    split = int(graph.indptr[graph.memories])
    # Of two halves that can go, the larger goes.
    options = [(0, slice(0, graph.nodes), slice(0, 0))]
    if (graph.indices[:split] >= graph.memories).all():
        options.append((graph.memories, concepts, memories))
    if (graph.indices[split:] < graph.memories).all():
        options.append((graph.concepts, memories, concepts))
    _, keep, drop = max(options, key=lambda option: option[0])
    root = np.sqrt(graph.divisor)
    scaled = damping * graph.weights.astype(np.float64)
    scaled /= np.repeat(root, graph.degree) * root[graph.indices]
    matrix = csr_array((scaled.astype(dtype), graph.indices, graph.indptr), shape=(graph.nodes, graph.nodes))
    back = hstack([matrix[keep, keep], matrix[keep, drop]], format="csr")
    system = _System(keep, drop, matrix[drop, keep], back, root[keep].astype(dtype), root[drop].astype(dtype))
    _systems[graph] = {(damping, dtype): system}
    return system
