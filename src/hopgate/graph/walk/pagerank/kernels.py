"""The inner loops of a walk, written for numba: a sweep over the graph for four restarts, and push near the seeds.

They are plain Python, and slow, until `hopgate.graph.walk.pagerank.compiled` compiles them. Numbers that index arrays
are unsigned: a signed one might be negative, and count from the end, which takes a quarter of the time to rule out.
Sums stay in the order in which they are written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# Restarts that are walked side by side, for one reading of the matrix; vectors for them are flat, four numbers a node.
LANES = 4
# A row's terms are added in blocks, and the blocks' sums to each other: added one after the other in single precision,
# a hub of 10,000 arcs errs by 6e-5.
BLOCK = np.uint64(512)
_1, _2, _3, _4 = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)


def sweep(indptr: Any, indices: Any, weights: Any, strength: Any, pace: Any, first: Any, x: Any, damping: Any) -> Any:
    """Bring every node of ``(D - damping A) x = first`` in turn into line with its neighbours, `pace` times as far.

    `x` is updated in place; given is the largest sum of what was out of line, over the four restarts.

    Parameters
    ----------
    strength : array
        The diagonal D.
    pace : array
        The relaxation over the strength.
    """
    off0, off1, off2, off3 = 0.0, 0.0, 0.0, 0.0
    for node in range(np.uint64(strength.size)):
        s0, s1, s2, s3 = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
        arc, stop = np.uint64(indptr[node]), np.uint64(indptr[node + _1])
        while arc < stop:
            cut = min(arc + BLOCK, stop)
            a0, a1, a2, a3 = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
            for one in range(arc, cut):
                weight, other = weights[one], _4 * np.uint64(indices[one])
                a0 += weight * x[other]
                a1 += weight * x[other + _1]
                a2 += weight * x[other + _2]
                a3 += weight * x[other + _3]
            s0 += a0
            s1 += a1
            s2 += a2
            s3 += a3
            arc = cut
        at, own, step = _4 * node, strength[node], pace[node]
        s0 = first[at] + damping * s0 - own * x[at]
        s1 = first[at + _1] + damping * s1 - own * x[at + _1]
        s2 = first[at + _2] + damping * s2 - own * x[at + _2]
        s3 = first[at + _3] + damping * s3 - own * x[at + _3]
        x[at] += step * s0
        x[at + _1] += step * s1
        x[at + _2] += step * s2
        x[at + _3] += step * s3
        off0 += abs(s0)
        off1 += abs(s1)
        off2 += abs(s2)
        off3 += abs(s3)
    return max(off0, off1, off2, off3)


def push_stage(
    indptr: Any,
    indices: Any,
    weights: Any,
    strength: Any,
    settled: Any,
    walking: Any,
    reached: Any,
    count: int,
    damping: Any,
    epsilon: Any,
    budget: int,
) -> tuple[int, int]:
    """Push from a queue until no node's walking mass exceeds ``epsilon`` times its strength.

    `settled`, `walking` and `reached` are updated; given are how many nodes are reached, and how many arcs were walked.
    More than `budget` says that it stopped early.
    """
    nodes = strength.size
    queue = np.empty(nodes, np.int64)
    queued = np.zeros(nodes, np.bool_)
    seen = np.zeros(nodes, np.bool_)
    head, waiting, walked = 0, 0, 0
    for k in range(count):
        node = reached[k]
        seen[node] = True
        if walking[node] > epsilon * strength[node]:
            queue[waiting] = node
            queued[node] = True
            waiting += 1
    while waiting > 0 and walked <= budget:
        node = queue[head]
        head = head + 1 if head + 1 < nodes else 0
        waiting -= 1
        queued[node] = False
        mass = walking[node]
        walking[node] = 0
        settled[node] += (1 - damping) * mass
        share = damping * mass / strength[node]
        for arc in range(indptr[node], indptr[node + 1]):
            other = indices[arc]
            walking[other] += share * weights[arc]
            if not seen[other]:
                seen[other] = True
                reached[count] = other
                count += 1
            if not queued[other] and walking[other] > epsilon * strength[other]:
                queued[other] = True
                tail = head + waiting
                queue[tail if tail < nodes else tail - nodes] = other
                waiting += 1
        walked += indptr[node + 1] - indptr[node]
    return count, walked
