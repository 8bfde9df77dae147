"""Which pairs of nodes are joined otherwise after a change, and by how much: mentions, typed edges, arcs of threads.

Nodes are numbered as in a graph that has all nodes from before and after the change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.arc_splice import Csr, Nodes


class Pairs(NamedTuple):
    """Pairs of nodes, each once, with the plain weight that joins them now; 0 where nothing does."""

    first: Nodes
    second: Nodes
    weight: NDArray[np.float32]

    @classmethod
    def of(cls, parts: Sequence[Pairs]) -> Pairs:
        """Several together, which have no pair in common."""
        return cls(
            np.concatenate([part.first for part in parts]),
            np.concatenate([part.second for part in parts]),
            np.concatenate([part.weight for part in parts]),
        )


class Ends(NamedTuple):
    """Pairs of nodes with a weight each, any number of times."""

    first: Nodes
    second: Nodes
    weight: NDArray[np.float32]

    @classmethod
    def none(cls) -> Ends:
        """No pair."""
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))


def joined(nodes: int, gone: Ends, now: Ends) -> Pairs:
    """Sum what joins each pair now; those that only were joined before are parted.

    Examples
    --------
    >>> before = Ends(np.array([0, 2]), np.array([1, 1]), np.ones(2, np.float32))
    >>> now = Ends(np.array([1, 0]), np.array([0, 1]), np.ones(2, np.float32))
    >>> [part.tolist() for part in joined(3, before, now)]
    [[0, 1], [1, 2], [2.0, 0.0]]
    """
    one, other = np.concatenate([now.first, gone.first]), np.concatenate([now.second, gone.second])
    weight = np.concatenate([now.weight, np.zeros(len(gone.first), np.float32)])
    keys, place = np.unique(np.minimum(one, other) * nodes + np.maximum(one, other), return_inverse=True)
    total = np.zeros(len(keys), np.float32)
    np.add.at(total, place, weight)
    return Pairs(keys // nodes, keys % nodes, total)


def mentions_of(csr: Csr, memories: Nodes, split: int) -> Ends:
    """The mentions of some memories: arcs to what is numbered from `split` on."""
    memory, place = csr.arcs(memories)
    concept = csr.indices[place].astype(np.int64)
    kept = concept >= split
    return Ends(memory[kept], concept[kept], csr.plain[place[kept]])


def added(csr: Csr, nodes: int, new: Ends) -> Pairs:
    """Join pairs further: by what joins them already, and more."""
    pairs = joined(nodes, Ends.none(), new)
    at, there = csr.located(pairs.first, pairs.second)
    weight = pairs.weight.copy()
    weight[there] += csr.plain[at[there]]
    return Pairs(pairs.first, pairs.second, weight)


def among(pairs: Pairs, ends: Ends, nodes: int) -> Ends:
    """Those of `ends` that join one of the pairs, in either direction."""
    low = np.zeros(nodes, bool)
    low[np.concatenate([pairs.first, pairs.second])] = True
    near = np.flatnonzero(low[ends.first] & low[ends.second])
    first, second = ends.first[near].astype(np.int64), ends.second[near].astype(np.int64)
    wanted = pairs.first * nodes + pairs.second
    near = near[np.isin(np.minimum(first, second) * nodes + np.maximum(first, second), wanted)]
    return Ends(ends.first[near].astype(np.int64), ends.second[near].astype(np.int64), ends.weight[near])
