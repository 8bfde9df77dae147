"""PageRank on an undirected graph by conjugate gradients, after eliminating half of the nodes.

With ``z`` the score over the strength, ``(D - damping A) z = (1 - damping) restart`` is symmetric and positive
definite, and its condition after scaling by ``D`` is at most ``(1 + damping) / (1 - damping)``. Power iteration needs
17 products for an L1 error of 1e-5 at damping 0.5 and 71 at 0.85; conjugate gradients need 9 and 14, and 4 and 7 where
one half of the nodes can be eliminated.

It can be: memories do not touch each other, so a memory's score follows from its concepts' scores (and, without
concept–concept edges, the other way round as well). What is left is a smaller system in which a step walks out and
back: the damping counts twice, and half the steps suffice. Arcs between the halves are divided by the root of the
eliminated end's strength beforehand, so that a step is two products and nothing else.

Hestenes and Stiefel, "Methods of conjugate gradients for solving linear systems", 1952.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from math import ceil, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.pagerank.outgoing import arrivals_from_few
from hopgate.graph.walk.row_blocks import RowBlocks, row_blocks, threads
from hopgate.graph.walk.walk_graph import WalkGraph

Vector = NDArray[Any]


def solve_undirected(
    graph: WalkGraph, restart: Vector, damping: float, tolerance: float, dtype: type[np.floating[Any]] = np.float64
) -> Vector | None:
    """Solve an undirected graph's PageRank by conjugate gradients.

    Mass that restarts at an isolated node is lost beyond its first step; `pagerank` gives it back. None if rounding
    kept the error above the tolerance: single precision is for loose ones, because SciPy adds a row's terms one after
    the other, and a hub of 10,000 arcs then errs by 6e-5.

    Examples
    --------
    >>> from hopgate.graph.walk.walk_graph import edge_graph
    >>> solve_undirected(edge_graph(2, [0], [1]), np.array([1.0, 0.0]), 0.5, 1e-9).round(4)
    array([0.6667, 0.3333])
    """
    half = reduced_system(graph, dtype)
    tall = (-1, *[1] * (restart.ndim - 1))
    strength, root = half.strength.reshape(tall), half.root.reshape(tall)
    # No step may take longer than plain power iteration would.
    most = 20 + ceil(log(tolerance * (1 - damping)) / log(damping)) if damping else 1
    first = restart.astype(dtype)
    first *= dtype(1 - damping)
    once, twice = dtype(damping), dtype(damping * damping)

    with ThreadPoolExecutor(threads()) if half.several else nullcontext() as pool:

        def apply(kept: Vector) -> Vector:
            arrived = arrivals_from_few(graph, half.keep, kept)
            inside: Vector | None
            if arrived is not None:
                outside, inside = arrived[half.drop].astype(dtype) / root, arrived[half.keep].astype(dtype)
            else:
                outside = half.out.multiply(kept, pool)
                inside = None if half.inner is None else half.inner.multiply(kept, pool)
            image = half.back.multiply(outside, pool)
            image *= -twice
            if inside is not None:
                image -= once * inside
            image += strength * kept
            return image

        arrived = arrivals_from_few(graph, half.drop, first[half.drop] / (root * root))
        arriving = half.back.multiply(first[half.drop] / root, pool) if arrived is None else arrived[half.keep]
        target = first[half.keep] + once * arriving.astype(dtype, copy=False)
        kept = conjugate_gradients(apply, strength, target, tolerance * (1 - damping), most)
        if kept is None:
            return None
        scores = np.empty_like(first)
        scores[half.keep] = kept * strength
        scores[half.drop] = first[half.drop] + once * root * half.out.multiply(kept, pool)
        return scores


@dataclass(frozen=True, eq=False)
class ReducedSystem:
    """The kept half's own arcs (None where there are none), the arcs to and from the other half, and strengths."""

    keep: slice
    drop: slice
    inner: RowBlocks | None
    out: RowBlocks
    back: RowBlocks
    strength: NDArray[Any]
    root: NDArray[Any]

    @property
    def several(self) -> bool:
        """Whether any product has blocks to share among threads."""
        return any(part is not None and len(part.blocks) > 1 for part in (self.inner, self.out, self.back))


def reduced_system(graph: WalkGraph, dtype: type[np.floating[Any]]) -> ReducedSystem:
    """Give the graph's reduction in a precision; it is made on the first call and kept with the graph.

    Examples
    --------
    >>> from hopgate.graph.walk.walk_graph import mention_graph
    >>> system = reduced_system(mention_graph(2, 1, memory=[0, 1], concept=[0, 0]), np.float64)
    >>> system.keep, system.drop, system.inner
    (slice(2, 3, None), slice(0, 2, None), None)
    """
    name = f"_reduced_{np.dtype(dtype).name}"
    # Two threads may both make it; either result is the same, and one of them stays.
    system: ReducedSystem = graph.__dict__.get(name) or graph.__dict__.setdefault(name, _reduce(graph, dtype))
    return system


def conjugate_gradients(
    apply: Callable[[Vector], Vector], diagonal: Vector, target: Vector, bound: float, most: int
) -> Vector | None:
    """Solve ``apply(z) = target`` for a symmetric positive definite operator, columns side by side.

    Parameters
    ----------
    apply : callable
        The operator; it returns a fresh array.
    diagonal : array
        What to scale by, shaped to broadcast over `target`.
    bound : float
        The L1 norm that every column's residual must reach.
    most : int
        Steps after which to give up.

    Returns
    -------
    numpy.ndarray or None
        None if the bound was not reached, which only rounding can cause.

    Examples
    --------
    >>> matrix = np.array([[2.0, -1.0], [-1.0, 2.0]])
    >>> conjugate_gradients(lambda z: matrix @ z, np.array([2.0, 2.0]), np.array([1.0, 0.0]), 1e-9, 10).round(4)
    array([0.6667, 0.3333])
    """
    residual = target.copy()
    solution = np.zeros_like(target)
    scaled = residual / diagonal
    direction = scaled.copy()
    strength = _dot(residual, scaled)
    for _ in range(most + 1):
        if np.abs(residual).sum(axis=0).max(initial=0) <= bound:
            return solution
        image = apply(direction)
        step = _ratio(strength, _dot(direction, image))
        solution += step * direction
        residual -= step * image
        scaled = residual / diagonal
        fresh = _dot(residual, scaled)
        direction *= _ratio(fresh, strength)
        direction += scaled
        strength = fresh
    return None


def _reduce(graph: WalkGraph, dtype: type[np.floating[Any]]) -> ReducedSystem:
    memories, concepts = slice(0, graph.memories), slice(graph.memories, graph.nodes)
    # Of two halves that can go, the larger goes: vectors of the smaller one are all that is left to update.
    options = [(graph.memories, concepts, memories)] if graph.apart[0] else []
    options += [(graph.concepts, memories, concepts)] if graph.apart[1] else []
    _, keep, drop = max(options, key=lambda option: option[0], default=(0, slice(0, graph.nodes), slice(0, 0)))
    matrix = graph.matrix.astype(dtype)
    root = np.sqrt(graph.divisor[drop])
    inner, out, back = matrix[keep, keep], matrix[drop, keep], matrix[keep, drop]
    out.data /= np.repeat(root, np.diff(out.indptr)).astype(dtype)
    back.data /= root[back.indices].astype(dtype)
    parts = [row_blocks(part, 0, part.shape[0], dtype) for part in (inner, out, back)]
    strength = graph.divisor[keep].astype(dtype)
    return ReducedSystem(keep, drop, parts[0] if inner.nnz else None, parts[1], parts[2], strength, root.astype(dtype))


def _dot(left: Vector, right: Vector) -> Vector:
    return np.asarray(left @ right if left.ndim == 1 else np.einsum("ij,ij->j", left, right))


def _ratio(upper: Vector, lower: Vector) -> Vector:
    """Divide, with 0 for a column that is already solved."""
    return np.divide(upper, lower, out=np.zeros_like(upper), where=lower > 0)
