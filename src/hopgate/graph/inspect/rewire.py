"""New partners for the ends of arcs, with every degree kept: no loop, no pair twice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

# Exchanges that are tried for an arc that came out as a loop or a double before all arcs are begun anew from the graph
# as it was; on a sparse graph two or three suffice.
TRIES = 200
# Exchanges tried for each arc where only a chain of them is sure to end (Maslov and Sneppen, Science 296, 2002).
CHAIN = 10


def rewired(rng: np.random.Generator, left: Ints, right: Ints, kind: Ints) -> Ints:
    """Deal the right ends of the arcs out anew among arcs of one kind, so that none is a loop or stands twice.

    The ends are drawn at random, and what came out wrong is exchanged with others until nothing is. Where that does
    not end, as on small or dense graphs, single exchanges that are each allowed lead away from the graph as it was.

    Parameters
    ----------
    left, right : arrays of int
        The arcs, whose pairs are distinct, whichever end comes first.
    kind : array of int
        Arcs exchange ends within their kind; those below 0 stay.

    Returns
    -------
    array of int
        The new right ends.

    Examples
    --------
    >>> left, right = np.array([0, 1, 2, 3]), np.array([4, 5, 6, 7])
    >>> sorted(rewired(np.random.default_rng(0), left, right, np.zeros(4, int)).tolist())
    [4, 5, 6, 7]
    """
    order = np.argsort(kind, kind="stable")
    order = order[kind[order] >= 0]
    if len(order) < 2:
        return right.copy()
    # Places of one kind stand side by side; `low` and `high` are where an arc's kind begins and ends among them.
    kinds = kind[order]
    low, high = np.searchsorted(kinds, kinds, "left"), np.searchsorted(kinds, kinds, "right")
    ends = right.copy()
    drawn = order[np.lexsort((rng.random(len(order)), kinds))]
    ends[order] = right[drawn]
    if _repaired(rng, left, ends, order, low, high):
        return ends
    return _chained(rng, left, right.copy(), order, low, high)


def _repaired(rng: np.random.Generator, left: Ints, ends: Ints, order: Ints, low: Ints, high: Ints) -> bool:
    """Exchange what is a loop or a double with others, in place; say whether nothing wrong is left."""
    keys = _keys(left, ends)
    _, first = np.unique(keys, return_index=True)
    good = np.zeros(len(ends), bool)
    good[first] = True
    # A drawn double of an arc that stays is the one to go, whichever comes first.
    staying = np.ones(len(ends), bool)
    staying[order] = False
    good[~staying & np.isin(keys, keys[staying])] = False
    good &= (left != ends) | staying
    held = set(keys[good | staying].tolist())
    wrong = [at for at in range(len(order)) if not good[order[at]]]
    budget = TRIES * (len(wrong) + 1)
    while wrong and budget:
        budget -= 1
        at = wrong[-1]
        other = int(rng.integers(low[at], high[at]))
        here, there = int(order[at]), int(order[other])
        if here == there or not good[there]:
            wrong.insert(0, wrong.pop())
            continue
        old = _key(left[there], ends[there])
        new = _key(left[here], ends[there]), _key(left[there], ends[here])
        loops = left[here] == ends[there] or left[there] == ends[here]
        if loops or new[0] == new[1] or not held.isdisjoint({*new} - {old}):
            continue
        held.discard(old)
        held.update(new)
        ends[here], ends[there] = ends[there], ends[here]
        good[here] = True
        wrong.pop()
    return not wrong


def _chained(rng: np.random.Generator, left: Ints, ends: Ints, order: Ints, low: Ints, high: Ints) -> Ints:
    """Exchange the ends of two arcs at a time, wherever that is allowed: every step has the degrees."""
    held = set(_keys(left, ends).tolist())
    places = rng.integers(0, len(order), CHAIN * len(order))
    for at in places.tolist():
        here, there = int(order[at]), int(order[rng.integers(low[at], high[at])])
        new = _key(left[here], ends[there]), _key(left[there], ends[here])
        loops = left[here] == ends[there] or left[there] == ends[here]
        if here == there or loops or new[0] == new[1] or not held.isdisjoint(new):
            continue
        held -= {_key(left[here], ends[here]), _key(left[there], ends[there])}
        held.update(new)
        ends[here], ends[there] = ends[there], ends[here]
    return ends


def _keys(left: Ints, right: Ints) -> Ints:
    """Each pair as one number, whichever end comes first."""
    return np.minimum(left, right) << 32 | np.maximum(left, right)


def _key(left: int, right: int) -> int:
    return int(min(left, right)) << 32 | int(max(left, right))
