"""Personalised PageRank of an undirected graph by conjugate gradients.

With ``z`` the score over the root of the strength, ``(I - damping N) z = (1 - damping) restart / root`` is symmetric
and positive definite, where ``N`` is the adjacency with each arc divided by the roots of its ends' strengths. Its
condition is at most ``(1 + damping) / (1 - damping)``: for an L1 error of 1e-4 at damping 0.8 it takes 12 to 16
products with the graph, and power iteration 40.

Hestenes and Stiefel, "Methods of conjugate gradients for solving linear systems", 1952. Of SciPy's own `cg` the dot
products keep every core busy on vectors that one core is quicker with.
"""

from __future__ import annotations

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

# Single precision takes 0.7 of the time of double. It holds this error, unless a node has more arcs than this: SciPy
# adds a row's terms one after the other, and a hub of 10,000 arcs errs by up to 2.6e-4, one of 3,000 by 3e-5.
SINGLE_TOLERANCE = 1e-4
SINGLE_HUB = 3_000
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
        Same shape as `restarts`.

    Examples
    --------
    >>> from hopgate.graph.walk.walk_graph import edge_graph
    >>> path = edge_graph(3, [0, 1], [1, 2])
    >>> pagerank(path, [1, 0, 0]).round(4)
    array([0.5833, 0.3333, 0.0833])
    """
    if not 0 <= damping < 1 or not tolerance > 0:
        raise HopgateError(f"damping is at least 0 and below 1, tolerance above 0: not {damping} and {tolerance}")
    start = np.asarray(restarts, np.float64)
    if len(start) != graph.nodes or not (start >= 0).all() or not np.isfinite(start).all():
        raise HopgateError(f"a restart has one finite number a node, not negative: {graph.nodes} here")
    start = _shares(start[:, None] if start.ndim == 1 else start)
    isolated = bool(start[graph.dangling].any())
    if isolated:
        # What starts again makes every score larger, and every error: by 1 / (1 - damping) at most.
        tolerance *= (1 - damping) / 4
    width = 1 if start.shape[1] < FEW_COLUMNS else COLUMNS_TOGETHER
    scores = np.empty_like(start)
    for low in range(0, start.shape[1], width):
        scores[:, low : low + width] = _solved(graph, start[:, low : low + width], damping, tolerance)
    return (_shares(scores) if isolated else scores).reshape(np.shape(restarts))


def _shares(columns: Vector) -> Vector:
    """Scale each column to sum to 1; one of zeros stays."""
    mass = columns.sum(axis=0)
    return np.asarray(np.divide(columns, mass, out=np.zeros_like(columns), where=mass > 0))


def _solved(graph: WalkGraph, restart: Vector, damping: float, tolerance: float) -> Vector:
    single = tolerance >= SINGLE_TOLERANCE and int(graph.degree.max(initial=0)) <= SINGLE_HUB
    for dtype in (np.float32, np.float64) if single else (np.float64,):
        root: Vector = np.sqrt(graph.divisor).astype(dtype)[:, None]
        residual = np.asarray(((1 - damping) * restart).astype(dtype) / root)
        direction, found, matrix = residual.copy(), np.zeros_like(residual), _scaled(graph, dtype)
        square = _dot(residual, residual)
        # Plain power iteration takes no more steps than this.
        steps = 20 + ceil(log(tolerance * (1 - damping)) / log(damping)) if damping else 1
        for _ in range(steps + 1):
            if (np.abs(residual) * root).sum(axis=0).max(initial=0) <= tolerance * (1 - damping):
                return np.asarray(found * root)
            image = direction - dtype(damping) * (matrix @ direction)
            step = _ratio(square, _dot(direction, image))
            found += step * direction
            residual -= step * image
            before, square = square, _dot(residual, residual)
            direction *= _ratio(square, before)
            direction += residual
    raise HopgateError(f"rounding keeps PageRank from a tolerance of {tolerance:.0e}; ask for a looser one")


def _dot(left: Vector, right: Vector) -> Vector:
    return np.asarray(np.einsum("ij,ij->j", left, right))


def _ratio(upper: Vector, lower: Vector) -> Vector:
    """Divide, with 0 for a column that is already solved."""
    return np.divide(upper, lower, out=np.zeros_like(upper), where=lower > 0)


_made: WeakKeyDictionary[WalkGraph, dict[type, csr_array[Any]]] = WeakKeyDictionary()


def _scaled(graph: WalkGraph, dtype: type[np.floating[Any]]) -> csr_array[Any]:
    """Give a graph's ``N``, which is kept for as long as the graph is."""
    from scipy.sparse import csr_array

    kept = _made.setdefault(graph, {})
    if dtype not in kept:
        root = np.sqrt(graph.divisor)
        weights = (graph.weights / (np.repeat(root, graph.degree) * root[graph.indices])).astype(dtype)
        kept[dtype] = csr_array((weights, graph.indices, graph.indptr), shape=(graph.nodes, graph.nodes))
    return kept[dtype]
