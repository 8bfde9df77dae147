"""Clustering in partitions that cannot touch each other: the joins of one machine, whoever makes them.

Two groups join where they are at least `floor` alike, on average or in their least similar pair; so some pair across
them is. Names that no chain of such pairs connects never come together, and each connected part of the graph of pairs
is clustered by itself. What part joins next, of all of them, is what one heap over all would give next.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.canonicalise.cluster import Join, Linkage, agglomerate
from hopgate.graph.canonicalise.parallel import ParallelTasks
from hopgate.graph.canonicalise.score import Scored
from hopgate.graph.canonicalise.units import IntArray

# More bins than workers, so that none is left alone with the last one.
BINS_A_WORKER = 4
# An average of single-precision scores may come out above all of them by a rounding.
ROUNDING = 1e-6


class _Rules(NamedTuple):
    linkage: Linkage
    floor: float
    max_size: int


class _Bin(NamedTuple):
    """Some partitions: their units by their numbers in the whole, in order, and the pairs by their numbers in here."""

    units: IntArray
    pairs: Scored
    weights: NDArray[np.float64]


def agglomerate_apart(
    scored: Scored,
    weights: NDArray[np.float64],
    tasks: ParallelTasks,
    linkage: Linkage = "average",
    floor: float = 0.2,
    max_size: int = 256,
) -> list[Join]:
    """Give the joins that `agglomerate` gives, with partitions clustered as tasks.

    Examples
    --------
    >>> from hopgate.graph.canonicalise.cluster import agglomerate
    >>> class Here:
    ...     size = 2
    ...     def each(self, work, shared, items):
    ...         return [work(shared, item) for item in items]
    >>> pairs = Scored(np.array([0, 1, 3]), np.array([1, 2, 4]), np.array([0.9, 0.8, 0.7]), np.zeros((3, 7)))
    >>> agglomerate_apart(pairs, np.ones(5), Here()) == agglomerate(pairs, np.ones(5))
    True
    """
    bins = _bins(scored, weights, floor, BINS_A_WORKER * tasks.size)
    made = tasks.each(_cluster_bin, _Rules(linkage, floor, max_size), bins)
    return _in_order([part.units for part in bins], made, len(weights))


def _cluster_bin(rules: _Rules, part: _Bin) -> list[Join]:
    return agglomerate(part.pairs, part.weights, rules.linkage, rules.floor, rules.max_size)


def _bins(scored: Scored, weights: NDArray[np.float64], floor: float, count: int) -> list[_Bin]:
    """Put partitions into bins of about as many pairs each."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    strong = scored.score.astype(np.float64) >= floor - ROUNDING
    i, j = scored.i[strong], scored.j[strong]
    graph = coo_array((np.ones(len(i), dtype=np.int8), (i, j)), shape=(len(weights), len(weights)))
    parts, label = connected_components(graph, directed=False)
    inside = np.flatnonzero(label[scored.i] == label[scored.j])
    load = np.bincount(label[scored.i[inside]], minlength=parts)
    # The heaviest first, each into the bin that has least.
    heap = [(0, number) for number in range(count)]
    bin_of = np.zeros(parts, dtype=np.int64)
    for part in np.argsort(-load, kind="stable").tolist():
        if not load[part]:
            bin_of[part] = -1
            continue
        full, number = heapq.heappop(heap)
        bin_of[part] = number
        heapq.heappush(heap, (full + int(load[part]), number))
    of_unit, of_pair = bin_of[label], bin_of[label[scored.i[inside]]]
    return [_bin(scored, weights, np.flatnonzero(of_unit == one), inside[of_pair == one]) for one in range(count)]


def _bin(scored: Scored, weights: NDArray[np.float64], units: IntArray, rows: IntArray) -> _Bin:
    pairs = Scored(
        np.searchsorted(units, scored.i[rows]),
        np.searchsorted(units, scored.j[rows]),
        scored.score[rows],
        scored.evidence[rows][:, :0],
    )
    return _Bin(units, pairs, weights[units])


def _in_order(units: Sequence[IntArray], made: Sequence[Sequence[Join]], count: int) -> list[Join]:
    """Bring bins' joins into the order of one heap over all of them, by the numbers of the whole."""
    groups = [part.tolist() for part in units]
    following = [0] * len(made)

    def waiting(number: int) -> tuple[float, int, int, int]:
        join = made[number][following[number]]
        left, right = groups[number][join.left], groups[number][join.right]
        return (-join.score, left, right, number)

    heap = [waiting(number) for number, joins in enumerate(made) if joins]
    heapq.heapify(heap)
    merges: list[Join] = []
    while heap:
        score, left, right, number = heapq.heappop(heap)
        # The group that a bin makes next has the next number there, and the next of all here.
        groups[number].append(count + len(merges))
        merges.append(Join(left, right, -score))
        following[number] += 1
        if following[number] < len(made[number]):
            heapq.heappush(heap, waiting(number))
    return merges
