"""An undirected graph with half of its nodes eliminated, made once for each precision.

Memories do not touch each other, so a memory's score follows from its concepts' scores (and, without concept–concept
edges, the other way round as well). What is left is a smaller system in which a step walks out and back: the damping
counts twice, and half the steps suffice. Arcs between the halves are divided by the root of the eliminated end's
strength beforehand, so that a step is two products and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.row_blocks import RowBlocks, row_blocks
from hopgate.graph.walk.walk_graph import WalkGraph


@dataclass(frozen=True, eq=False)
class Reduced:
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


def reduced(graph: WalkGraph, dtype: type[np.floating[Any]]) -> Reduced:
    """Give the graph's reduction in a precision; it is made on the first call and kept with the graph.

    Examples
    --------
    >>> from hopgate.graph.walk.walk_graph import mention_graph
    >>> found = reduced(mention_graph(2, 1, memory=[0, 1], concept=[0, 0]), np.float64)
    >>> found.keep, found.drop, found.inner
    (slice(2, 3, None), slice(0, 2, None), None)
    """
    name = f"_reduced_{np.dtype(dtype).name}"
    # Two threads may both make it; either result is the same, and one of them stays.
    made: Reduced = graph.__dict__.get(name) or graph.__dict__.setdefault(name, _made(graph, dtype))
    return made


def _made(graph: WalkGraph, dtype: type[np.floating[Any]]) -> Reduced:
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
    return Reduced(keep, drop, parts[0] if inner.nnz else None, parts[1], parts[2], strength, root.astype(dtype))
