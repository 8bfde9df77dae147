"""A CSR with some pairs of nodes joined otherwise: what stays is copied piece by piece, and nothing is sorted anew.

Copying four million arcs takes 1 ms; to number and sort them again took 560 (docs/research/speed.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.walk_graph import row_sums

Nodes = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Csr:
    """The arcs of a graph by the node that they leave, each row's in ascending order.

    `plain` are the weights before mentions of hubs fade, and `weights` those that are walked.
    """

    indptr: NDArray[Any]
    indices: NDArray[np.int32]
    plain: NDArray[np.float32]
    weights: NDArray[np.float32]

    def arcs(self, nodes: Nodes) -> tuple[Nodes, Nodes]:
        """List the arcs that leave some nodes: each one's node, and its place in the arrays."""
        first = self.indptr[nodes].astype(np.int64)
        count = self.indptr[nodes + 1] - first
        ends = np.cumsum(count)
        return np.repeat(nodes, count), np.arange(ends[-1] if len(ends) else 0) + np.repeat(first - ends + count, count)

    def located(self, source: Nodes, target: Nodes) -> tuple[Nodes, NDArray[np.bool_]]:
        """Give where arcs are, or would be inserted, and whether they are there: a binary search in all rows at once.

        Examples
        --------
        >>> ones = np.ones(2, np.float32)
        >>> csr = Csr(np.array([0, 2, 2]), np.array([0, 3], np.int32), ones, ones)
        >>> csr.located(np.array([0, 0, 1]), np.array([3, 2, 3]))
        (array([1, 1, 2]), array([ True, False, False]))
        """
        low, stop = self.indptr[source].astype(np.int64), self.indptr[source + 1].astype(np.int64)
        if not len(self.indices):
            return low, np.zeros(len(low), bool)
        high, last = stop.copy(), len(self.indices) - 1
        for _ in range(int((stop - low).max(initial=0)).bit_length()):
            middle = (low + high) >> 1
            below = (self.indices[np.minimum(middle, last)] < target) & (middle < high)
            low = np.where(below, middle + 1, low)
            high = np.where(below, high, middle)
        return low, (low < stop) & (self.indices[np.minimum(low, last)] == target)

    def renumbered(self, places: Nodes, nodes: int) -> Csr:
        """Give node ``i`` the number ``places[i]`` among so many; -1 leaves out one without arcs. Order is kept."""
        kept = places >= 0
        counts = np.zeros(nodes, np.int64)
        counts[places[kept]] = np.diff(self.indptr)[kept]
        return replace(self, indptr=_pointers(counts, self.indptr.dtype), indices=places.astype(np.int32)[self.indices])

    def widened(self, split: int, inside: int, after: int) -> Csr:
        """Make room for nodes without arcs: so many before node `split`, and so many after the last.

        It takes a third of the time of `renumbered`.

        Examples
        --------
        >>> ones = np.ones(2, np.float32)
        >>> more = Csr(np.array([0, 1, 2]), np.array([1, 0], np.int32), ones, ones).widened(1, 1, 1)
        >>> more.indptr.tolist(), more.indices.tolist()
        ([0, 1, 1, 2, 2], [2, 0])
        """
        before, rest = np.split(self.indptr, [split + 1])
        last = self.indptr[-1:]
        indptr = np.concatenate([before, np.repeat(before[-1:], inside), rest, np.repeat(last, after)])
        indices = self.indices + (self.indices >= split) * np.int32(inside) if inside else self.indices
        return replace(self, indptr=indptr, indices=indices)

    def sums(self, nodes: NDArray[np.bool_], known: NDArray[np.float64], split: int) -> NDArray[np.float64]:
        """Sum the weights that leave some nodes, those below `split` all at once; the others' are known."""
        sums = known.copy()
        if nodes[:split].any():
            sums[:split] = row_sums(self.indptr[: split + 1], self.weights[: int(self.indptr[split])])
        others = split + np.flatnonzero(nodes[split:])
        _, place = self.arcs(others)
        counts = np.diff(self.indptr)[others]
        sums[others] = row_sums(_pointers(counts, np.int64), self.weights[place])
        return sums

    def spliced(self, first: Nodes, second: Nodes, weight: NDArray[np.float32]) -> Csr:
        """Join pairs of nodes by these plain weights, in both directions, where 0 parts them; a pair is given once.

        What is walked is then as heavy: whoever knows the hubs fades it again.

        Examples
        --------
        >>> ones = np.ones(2, np.float32)
        >>> csr = Csr(np.array([0, 1, 2, 2]), np.array([1, 0], np.int32), ones, ones)
        >>> more = csr.spliced(np.array([1, 0]), np.array([2, 1]), np.array([2, 0], np.float32))
        >>> more.indptr.tolist(), more.indices.tolist(), more.weights.tolist()
        ([0, 0, 1, 2], [2, 1], [2.0, 2.0])
        """
        source, target, value = both_ways(first, second, weight)
        order = np.lexsort((target, source))
        source, target, value = source[order], target[order], value[order]
        at, there = self.located(source, target)
        gone, new, other = there & (value <= 0), ~there & (value > 0), there & (value > 0)
        plain, weights = self.plain, self.weights
        if other.any():
            plain, weights = plain.copy(), weights.copy()
            plain[at[other]] = weights[at[other]] = value[other]
        if not (gone.any() or new.any()):
            return Csr(self.indptr, self.indices, plain, weights)
        counts = np.diff(self.indptr).astype(np.int64)
        np.add.at(counts, source[new], 1)
        np.subtract.at(counts, source[gone], 1)
        pieces = _pieces(at, gone, new, len(self.indices))
        return Csr(
            _pointers(counts, self.indptr.dtype),
            _joined(self.indices, target.astype(np.int32), pieces),
            _joined(plain, value, pieces),
            _joined(weights, value, pieces),
        )


def both_ways(first: Nodes, second: Nodes, weight: NDArray[np.float32]) -> tuple[Nodes, Nodes, NDArray[np.float32]]:
    """Give pairs as arcs: two each, and one for a node that is joined to itself."""
    other = first != second
    return (
        np.concatenate([first, second[other]]),
        np.concatenate([second, first[other]]),
        np.concatenate([weight, weight[other]]),
    )


def _pointers(counts: Nodes, dtype: Any) -> NDArray[Any]:
    pointers = np.zeros(len(counts) + 1, dtype)
    np.cumsum(counts, out=pointers[1:])
    return pointers


def _pieces(at: Nodes, gone: NDArray[np.bool_], new: NDArray[np.bool_], size: int) -> list[tuple[bool, int, int]]:
    """Cut an array at the places that change: slices of what is there (True) and of what is new (False), in order."""
    pieces: list[tuple[bool, int, int]] = []
    start = 0
    for number in np.flatnonzero(gone | new).tolist():
        place = int(at[number])
        pieces.append((True, start, place))
        start = place
        if new[number]:
            pieces.append((False, number, number + 1))
        else:
            start += 1
    return [*pieces, (True, start, size)]


def _joined(old: NDArray[Any], new: NDArray[Any], pieces: list[tuple[bool, int, int]]) -> NDArray[Any]:
    return np.concatenate([(old if kept else new)[start:stop] for kept, start, stop in pieces])
