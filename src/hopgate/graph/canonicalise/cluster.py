"""Agglomerative clustering of a sparse graph of scored pairs, with a guard against chaining.

A pair that no block proposed counts as unlike (0), so that two groups join only when most of their pairs score high
(average linkage) or all do (complete linkage). Bare connected components, where one pair is enough, are not offered:
they collapse unrelated concepts.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.canonicalise.blocks import IntArray
from hopgate.graph.canonicalise.score import Scored

Linkage = Literal["average", "complete"]
# Scores below this count as 0: they are most of the pairs, and too low to bring an average near a threshold.
NEGLIGIBLE = 0.1
# No concept has more names than this.
MOST_NAMES = 256
FLOOR = 0.2
"""Groups less alike than this are never joined."""


@dataclass(frozen=True, slots=True)
class Join:
    """Two groups became one. Units are numbered 0..n-1 and the k-th merge makes group n+k, as in scipy."""

    left: int
    right: int
    score: float


def agglomerate(
    scored: Scored,
    weights: NDArray[np.float64],
    linkage: Linkage = "average",
    floor: float = FLOOR,
) -> list[Join]:
    """Join the most alike groups first, down to `floor`; never more than `MOST_NAMES` units in one.

    Average linkage weighs each unit by `weights` (what its mentions are worth); scores of successive merges never rise,
    so that a tree cut higher is the clustering at that threshold.

    Examples
    --------
    >>> import numpy as np
    >>> chain = Scored(np.array([0, 1]), np.array([1, 2]), np.array([0.9, 0.8]), np.zeros((2, 7)))
    >>> [(merge.left, merge.right, round(merge.score, 2)) for merge in agglomerate(chain, np.ones(3))]
    [(0, 1, 0.9), (2, 3, 0.4)]
    >>> agglomerate(chain, np.ones(3), linkage="complete")
    [Join(left=0, right=1, score=0.9)]
    """
    near: dict[int, dict[int, tuple[float, float]]] = {}
    weight: dict[int, float] = dict(enumerate(weights.tolist() if linkage == "average" else [1.0] * len(weights)))
    size = dict.fromkeys(weight, 1)
    for a, b, score in _that_matter(scored, floor, len(weights)):
        # Average: the weighted sum of scores. Complete: the least score and how many pairs have one.
        link = (weight[a] * weight[b] * score, 0.0) if linkage == "average" else (score, 1.0)
        near.setdefault(a, {})[b] = near.setdefault(b, {})[a] = link

    def likeness(a: int, b: int, link: tuple[float, float]) -> float:
        if linkage == "average":
            return link[0] / (weight[a] * weight[b])
        return link[0] if link[1] == size[a] * size[b] else 0.0

    heap = [(-likeness(a, b, link), a, b) for a, links in near.items() for b, link in links.items() if a < b]
    heap = [entry for entry in heap if -entry[0] >= floor]
    heapq.heapify(heap)
    merges: list[Join] = []
    while heap:
        score, a, b = heapq.heappop(heap)
        if a not in size or b not in size or size[a] + size[b] > MOST_NAMES:
            continue  # one of them is part of a larger group by now, or the two would be too many
        new = len(weights) + len(merges)
        merges.append(Join(a, b, -score))
        weight[new] = weight[a] + weight[b]
        size[new] = size.pop(a) + size.pop(b)
        links = near[new] = dict(_joined(near.pop(a), near.pop(b), linkage))
        links.pop(a, None)
        links.pop(b, None)
        for other, link in links.items():
            back = near[other]
            back.pop(a, None)
            back.pop(b, None)
            back[new] = link
            alike = likeness(new, other, link)
            if alike >= floor:
                heapq.heappush(heap, (-alike, other, new))
    return merges


def _that_matter(scored: Scored, floor: float, count: int) -> Iterator[tuple[int, int, float]]:
    """The pairs that may decide a merge: groups are as alike as the most alike of their pairs, at most.

    So a unit with no pair at the floor stays alone, and how alike it is to others is of no matter. Most are such.
    """
    score = scored.score.astype(np.float64)
    merging = np.zeros(count, dtype=bool)
    # A little lower than the floor: to weigh a score and divide by the weights again may round it up.
    high = score >= floor * (1 - 1e-9)
    merging[scored.i[high]] = merging[scored.j[high]] = True
    kept = np.flatnonzero((score >= NEGLIGIBLE) & merging[scored.i] & merging[scored.j])
    return zip(scored.i[kept].tolist(), scored.j[kept].tolist(), score[kept].tolist(), strict=True)


def _joined(
    first: dict[int, tuple[float, float]], second: dict[int, tuple[float, float]], linkage: Linkage
) -> Iterator[tuple[int, tuple[float, float]]]:
    for other in first.keys() | second.keys():
        left, right = first.get(other), second.get(other)
        if left is None or right is None:
            yield other, left or right or (0.0, 0.0)
        elif linkage == "average":
            yield other, (left[0] + right[0], 0.0)
        else:
            yield other, (min(left[0], right[0]), left[1] + right[1])


def cut(merges: list[Join], count: int, threshold: float) -> IntArray:
    """Label each of `count` units by its cluster at a threshold; labels are 0.. in order of first unit.

    Examples
    --------
    >>> cut([Join(0, 2, 0.9), Join(1, 3, 0.4)], 3, 0.5).tolist()
    [0, 1, 0]
    """
    parent = list(range(count + len(merges)))
    for made, merge in enumerate(merges, start=count):
        if merge.score >= threshold:
            parent[merge.left] = parent[merge.right] = made
    for group in reversed(range(len(parent))):  # a parent's number is larger than its children's
        parent[group] = parent[parent[group]]
    _, first, labels = np.unique(np.array(parent[:count], dtype=np.int64), return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first, kind="stable"), kind="stable")[labels].astype(np.int64)
