"""A precomputed kernel for small graphs: the inverse of the memories' system, so that a query is a sum of its rows.

Without concept–concept edges the concepts can be eliminated, and what remains is one dense matrix over memories. A
query with ten seed concepts touches the few rows of the memories that mention them: no iteration is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.graph.walk.pagerank.leaving import leaving
from hopgate.graph.walk.walk_graph import WalkGraph

# 8,192 memories make a kernel of 268 MB; inverting grows with the cube of their number.
MAX_MEMORIES = 8192


@dataclass(frozen=True, eq=False, repr=False)
class Kernel:
    """What `precompute` made of one graph at one damping; it serves any number of threads."""

    graph: WalkGraph
    damping: float
    inverse: NDArray[np.float32]

    def __repr__(self) -> str:
        return f"Kernel(memories={self.graph.memories}, damping={self.damping}, bytes={self.inverse.nbytes})"

    def check(self, graph: WalkGraph, damping: float) -> None:
        """Refuse to answer for another graph or damping."""
        if graph is not self.graph or damping != self.damping:
            raise HopgateError("this kernel was made of another graph or damping: call precompute again")

    def solve(self, graph: WalkGraph, restart: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the scores of all nodes, with mass at isolated nodes leaking."""
        _, concept_rows = graph.halves
        split, damping, strength = graph.memories, self.damping, graph.divisor
        first = (1 - damping) * restart
        whole = first / strength
        target = first[:split].copy()
        # Few concepts carry mass, and their own rows say where it goes.
        carrying = split + np.flatnonzero(restart[split:] != 0)
        np.add.at(target, *leaving(graph, carrying, damping * whole[carrying]))
        rows = np.flatnonzero(target != 0)
        # The inverse is symmetric: its rows are its columns, and rows lie together in memory.
        z = target[rows].astype(np.float32) @ self.inverse[rows]
        whole[:split] = z
        scores = np.empty_like(restart)
        scores[:split] = z * strength[:split]
        scores[split:] = first[split:] + damping * (concept_rows @ whole)
        return scores


def precompute(graph: WalkGraph, damping: float = 0.5) -> Kernel:
    """Invert the memories' system once; worth it when thousands of queries meet the same small graph.

    Examples
    --------
    >>> from hopgate.graph.walk.walk_graph import mention_graph
    >>> precompute(mention_graph(2, 1, memory=[0, 1], concept=[0, 0]))
    Kernel(memories=2, damping=0.5, bytes=16)
    """
    from scipy.linalg import lapack

    if not graph.undirected or not all(graph.apart):
        raise HopgateError("a kernel needs a graph of mentions only: pagerank without one walks any graph")
    if graph.memories > MAX_MEMORIES:
        raise HopgateError(f"a kernel is for at most {MAX_MEMORIES:,} memories, not {graph.memories:,}")
    if not graph.memories:
        return Kernel(graph, damping, np.zeros((0, 0), np.float32))
    across = graph.matrix[: graph.memories, graph.memories :]
    shared = (across.astype(np.float64) / graph.divisor[graph.memories :]) @ across.T
    system: NDArray[Any] = np.asfortranarray(np.diag(graph.divisor[: graph.memories]) - damping**2 * shared.toarray())
    factor, failed = lapack.dpotrf(system, overwrite_a=True)
    half, failed_too = lapack.dpotri(factor, overwrite_c=True)
    if failed or failed_too:
        raise HopgateError(f"the system is singular at damping {damping}: use a smaller one")
    inverse = np.triu(half) + np.triu(half, 1).T
    inverse = np.ascontiguousarray(inverse, np.float32)
    inverse.setflags(write=False)
    return Kernel(graph, damping, inverse)
