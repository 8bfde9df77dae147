"""The frozen value that walks run over: memories and concepts as nodes, one CSR, nothing to recompute per query."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopgate.store.graph.arrays import Links

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False, repr=False)
class WalkGraph:
    """A weighted undirected graph over nodes ``0..n-1``: the first `memories` are memories, the others concepts.

    Row ``i`` of the symmetric CSR holds the arcs that leave node ``i``, ends ascending. Every array is read-only, so
    that any number of threads may walk the same graph; a new version of the graph is a new value.
    """

    indptr: NDArray[Any]
    indices: NDArray[np.int32]
    weights: NDArray[np.float32]
    memories: int

    def __post_init__(self) -> None:
        for array in (self.indptr, self.indices, self.weights):
            array.setflags(write=False)

    def __repr__(self) -> str:
        return f"WalkGraph(memories={self.memories}, concepts={self.concepts}, arcs={self.arcs})"

    @property
    def nodes(self) -> int:
        """How many nodes there are, memories and concepts together."""
        return len(self.indptr) - 1

    @property
    def concepts(self) -> int:
        """How many of the nodes are concepts."""
        return self.nodes - self.memories

    @property
    def arcs(self) -> int:
        """Non-zeros of the adjacency: an edge counts twice, a self-loop once."""
        return len(self.indices)

    @cached_property
    def degree(self) -> NDArray[np.int64]:
        """How many arcs leave each node."""
        return np.diff(self.indptr).astype(np.int64)

    @cached_property
    def strength(self) -> NDArray[np.float64]:
        """The weight that leaves each node: what a transition divides by."""
        return np.asarray(
            np.bincount(np.repeat(np.arange(self.nodes), self.degree), self.weights, self.nodes), np.float64
        )

    @cached_property
    def dangling(self) -> NDArray[np.bool_]:
        """Nodes that nothing leaves."""
        return np.asarray(self.strength == 0)

    @cached_property
    def divisor(self) -> NDArray[np.float64]:
        """The strength, with 1 for a node that nothing leaves, so that dividing is always safe."""
        return np.where(self.dangling, 1.0, self.strength)

    @cached_property
    def mentioning(self) -> NDArray[np.int64]:
        """How many memories mention each concept."""
        ends = self.indices[: self.indptr[self.memories]]
        return np.bincount(ends[ends >= self.memories] - self.memories, minlength=self.concepts)

    @cached_property
    def matrix(self) -> csr_array[np.float32]:
        """The adjacency as SciPy's CSR, sharing these arrays."""
        from scipy.sparse import csr_array

        return csr_array((self.weights, self.indices, self.indptr), shape=(self.nodes, self.nodes), copy=False)

    @cached_property
    def scaled(self) -> csr_array[np.float64]:
        """The adjacency with each arc divided by the roots of its ends' strengths: what PageRank multiplies by."""
        from scipy.sparse import csr_array

        root = np.sqrt(self.divisor)
        weights = self.weights / (np.repeat(root, self.degree) * root[self.indices])
        return csr_array((weights, self.indices, self.indptr), shape=(self.nodes, self.nodes), copy=False)


class Pairs(NamedTuple):
    """Ends of edges and their weights; by default each weighs 1."""

    source: ArrayLike = ()
    target: ArrayLike = ()
    weight: ArrayLike | None = None


NO_PAIRS = Pairs()
Ends = Pairs | Links


def edge_graph(
    nodes: int, source: ArrayLike, target: ArrayLike, weight: ArrayLike | None = None, *, memories: int = 0
) -> WalkGraph:
    """Build a graph from a list of edges: parallel ones add up, a self-loop is one arc, weight 0 is no edge."""
    from scipy.sparse import coo_array

    first, second, value = _columns(Pairs(source, target, weight))
    kept = value > 0
    first, second, value = first[kept], second[kept], value[kept]
    other = first != second
    ends = np.concatenate([first, second[other]]), np.concatenate([second, first[other]])
    matrix = coo_array((np.concatenate([value, value[other]]), ends), shape=(nodes, nodes)).tocsr()
    matrix.sum_duplicates()
    return WalkGraph(matrix.indptr, matrix.indices, matrix.data, memories)


def mention_graph(
    memories: int, concepts: int, mentions: Ends, edges: Ends = NO_PAIRS, neighbours: Ends = NO_PAIRS
) -> WalkGraph:
    """Build the graph of mentions (memory–concept), edges (concept–concept) and neighbours (memory–memory).

    Memories and concepts are numbered from 0, each for themselves; in the graph concept ``c`` is node
    ``memories + c``. Concepts are never expanded into cliques of memories.
    """
    shifts = ((0, memories), (memories, memories), (0, 0))
    columns = [
        (first + shift[0], second + shift[1], weight)
        for shift, (first, second, weight) in zip(shifts, map(_columns, (mentions, edges, neighbours)), strict=True)
    ]
    first, second, weight = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    return edge_graph(memories + concepts, first, second, weight, memories=memories)


def _columns(pairs: Ends) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
    first, second = np.asarray(pairs.source, np.int32), np.asarray(pairs.target, np.int32)
    return first, second, np.ones(len(first), np.float32) if pairs.weight is None else np.asarray(pairs.weight, "f4")


def top_k(scores: NDArray[Any], k: int, *, allowed: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
    """Give the places of the `k` highest scores above 0, best first, ties by place; only allowed ones, if given."""
    if allowed is not None:
        scores = np.where(allowed, scores, 0)
    places = np.flatnonzero(scores > 0)
    if places.size > k:
        # Everything that ties with the last place stays in, so that ties are broken by place and not by chance.
        least = np.partition(scores[places], -k)[-k]
        places = places[scores[places] >= least]
    return places[np.argsort(-scores[places], kind="stable")][:k]
