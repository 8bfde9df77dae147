"""PageRank on an undirected graph, with the half of the nodes that no arc joins to each other eliminated.

Memories do not touch each other, so a memory's score follows from its concepts' scores (and, without concept–concept
edges, the other way round as well). What is left is a smaller system in which a step walks out and back: the damping
counts twice, and half the steps suffice.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.pagerank.conjugate import conjugate
from hopgate.graph.pagerank.leaving import leaving
from hopgate.graph.rowblocks import threads
from hopgate.graph.walkgraph import WalkGraph

Vector = NDArray[np.float64]

# Reading a few rows by themselves saves a product with all of them; where that turns was not measured.
FEW = 1000


def halved(graph: WalkGraph, restart: Vector, damping: float, tolerance: float) -> Vector | None:
    """Solve an undirected graph's PageRank by conjugate gradients.

    Mass that restarts at an isolated node is lost beyond its first step; the front door gives it back. None if
    rounding kept the error above the tolerance.

    Examples
    --------
    >>> from hopgate.graph.walkgraph import edge_graph
    >>> halved(edge_graph(2, [0], [1]), np.array([1.0, 0.0]), 0.5, 1e-9).round(4)
    array([0.6667, 0.3333])
    """
    memory_rows, concept_rows = graph.halves
    several = len(memory_rows.blocks) + len(concept_rows.blocks) > 2
    strength = graph.divisor.reshape(-1, *[1] * (restart.ndim - 1))
    memories, concepts = slice(0, graph.memories), slice(graph.memories, graph.nodes)
    # Of two halves that can go, the larger goes: vectors of the smaller one are all that is left to update.
    options = [(graph.memories, concepts, memories)] if graph.apart[0] else []
    options += [(graph.concepts, memories, concepts)] if graph.apart[1] else []
    _, keep, drop = max(options, key=lambda option: option[0], default=(0, slice(0, graph.nodes), slice(0, 0)))
    # No step may take longer than plain power iteration would.
    most = 20 + ceil(log(tolerance * (1 - damping)) / log(damping)) if damping else 1

    with ThreadPoolExecutor(threads()) if several else nullcontext() as pool:

        def arriving(at: slice, x: Vector) -> Vector:
            if at == memories:
                return memory_rows.multiply(x, pool)
            if at == concepts:
                return concept_rows.multiply(x, pool)
            return np.concatenate([memory_rows.multiply(x, pool), concept_rows.multiply(x, pool)])

        def spread(kept: Vector, dropped: Vector | float = 0.0) -> Vector:
            """Fill in the dropped half, which the kept half determines."""
            whole = np.empty_like(restart)
            whole[keep] = kept
            if drop.stop > drop.start:
                whole[drop] = (dropped + damping * arriving(drop, whole)) / strength[drop]
            return whole

        def apply(kept: Vector) -> Vector:
            image = arriving(keep, spread(kept))
            image *= -damping
            image += strength[keep] * kept
            return image

        first = (1 - damping) * restart
        target = first[keep]
        carrying = drop.start + np.flatnonzero(first[drop]) if first.ndim == 1 else np.zeros(0, np.int64)
        if first.ndim == 1 and carrying.size < FEW:
            # Few nodes carry mass, and their own rows say where it goes.
            whole = first.copy()
            np.add.at(whole, *leaving(graph, carrying, damping * first[carrying] / strength[carrying]))
            target = whole[keep]
        elif first[drop].any():
            target = target + damping * arriving(keep, spread(np.zeros_like(target), first[drop]))
        kept = conjugate(apply, strength[keep], target, tolerance * (1 - damping), most)
        return None if kept is None else spread(kept, first[drop]) * strength
