"""Ids that stay: a cluster that is mostly the same as before keeps its id, and no id is given twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)

# Of what two clusters have together they must share this much to be the same one. A cluster that is cut in two keeps
# its id in one half; one that grows to three times its size keeps it, too.
LEAST_OVERLAP = 0.3


def matched(before: Mapping[int, AbstractSet[Node]], now: Sequence[AbstractSet[Node]]) -> list[int | None]:
    """Give each cluster of now the id of the one before that it shares most with, by Jaccard; none to a new one.

    The largest overlaps choose first; no id goes to two.

    Examples
    --------
    >>> matched({4: {"a", "b"}, 7: {"c", "d", "e"}}, [{"c", "d"}, {"a", "b", "x"}, {"y"}])
    [7, 4, None]
    """
    home = {node: key for key, nodes in before.items() for node in nodes}
    pairs = []
    for place, nodes in enumerate(now):
        shared = Counter(home[node] for node in nodes if node in home)
        for key, count in shared.items():
            pairs.append((count / (len(nodes) + len(before[key]) - count), key, place))
    ids: list[int | None] = [None] * len(now)
    taken: set[int] = set()
    for overlap, key, place in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if overlap >= LEAST_OVERLAP and key not in taken and ids[place] is None:
            ids[place] = key
            taken.add(key)
    return ids
