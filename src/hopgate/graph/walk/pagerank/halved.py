"""PageRank on an undirected graph by conjugate gradients on the half of the nodes that `reduced` keeps."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from math import ceil, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.pagerank.conjugate import conjugate
from hopgate.graph.walk.pagerank.leaving import few_leaving
from hopgate.graph.walk.pagerank.reduced import reduced
from hopgate.graph.walk.row_blocks import threads
from hopgate.graph.walk.walk_graph import WalkGraph

Vector = NDArray[Any]


def halved(
    graph: WalkGraph, restart: Vector, damping: float, tolerance: float, dtype: type[np.floating[Any]] = np.float64
) -> Vector | None:
    """Solve an undirected graph's PageRank by conjugate gradients.

    Mass that restarts at an isolated node is lost beyond its first step; the front door gives it back. None if
    rounding kept the error above the tolerance: single precision is for loose ones, because SciPy adds a row's terms
    one after the other, and a hub of 10,000 arcs then errs by 6e-5.

    Examples
    --------
    >>> from hopgate.graph.walk.walk_graph import edge_graph
    >>> halved(edge_graph(2, [0], [1]), np.array([1.0, 0.0]), 0.5, 1e-9).round(4)
    array([0.6667, 0.3333])
    """
    half = reduced(graph, dtype)
    tall = (-1, *[1] * (restart.ndim - 1))
    strength, root = half.strength.reshape(tall), half.root.reshape(tall)
    # No step may take longer than plain power iteration would.
    most = 20 + ceil(log(tolerance * (1 - damping)) / log(damping)) if damping else 1
    first = restart.astype(dtype)
    first *= dtype(1 - damping)
    once, twice = dtype(damping), dtype(damping * damping)

    with ThreadPoolExecutor(threads()) if half.several else nullcontext() as pool:

        def apply(kept: Vector) -> Vector:
            arrived = few_leaving(graph, half.keep, kept)
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

        arrived = few_leaving(graph, half.drop, first[half.drop] / (root * root))
        arriving = half.back.multiply(first[half.drop] / root, pool) if arrived is None else arrived[half.keep]
        target = first[half.keep] + once * arriving.astype(dtype, copy=False)
        kept = conjugate(apply, strength, target, tolerance * (1 - damping), most)
        if kept is None:
            return None
        scores = np.empty_like(first)
        scores[half.keep] = kept * strength
        scores[half.drop] = first[half.drop] + once * root * half.out.multiply(kept, pool)
        return scores
