"""Lifting: whatever a leg puts first is within the top k, and what the base puts first is not hidden by the graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hopgate.recall.fuse.fused import Fused, Id

BASE_PLACE = 3
"""The first of the base is within this many hits."""


def lifted(
    ranking: Sequence[Fused[Id]], firsts: Iterable[Id], k: int, *, base_first: Id | None = None
) -> tuple[list[Fused[Id]], frozenset[Id]]:
    """Give the ranking with the first of every leg within its top k, and which memories were lifted for that.

    Where m firsts are missing, they take the last m places of the top k, in their own order, and the last m hits there
    that are no leg's first make room. That is possible wherever k is no less than the number of firsts, hence of
    legs; below that the ranking is left alone. Then the base's first, where it is further down, moves to place 3; it
    has room in the top k beside the firsts from one place more on.

    Parameters
    ----------
    ranking : sequence of Fused
        The whole pool, best first.
    firsts : iterable of ids
        The first memory of each leg that has a weight.
    base_first : id, optional
        The first memory of the base.

    Examples
    --------
    >>> hits = [Fused(name, 1.0 - place / 10, {}, {}) for place, name in enumerate("abcdef")]
    >>> order, up = lifted(hits, ["a", "f"], 3)
    >>> [hit.id for hit in order], sorted(up)
    (['a', 'b', 'f', 'c', 'd', 'e'], ['f'])
    >>> [hit.id for hit in lifted(hits, ["a"], 5, base_first="f")[0]]
    ['a', 'b', 'f', 'c', 'd', 'e']
    """
    places = {hit.id: place for place, hit in enumerate(ranking)}
    kept: set[Id] = {id for id in firsts if id in places}
    if len(kept) > k:
        return list(ranking), frozenset()
    moves = base_first in places and k >= BASE_PLACE and len({*kept, base_first}) <= k
    if moves and base_first is not None:
        kept.add(base_first)
    up: set[Id] = {id for id in kept if places[id] >= k}
    out: set[Id] = set()
    for hit in reversed(ranking[:k]):
        if len(out) < len(up) and hit.id not in kept:
            out.add(hit.id)
    top = [hit for hit in ranking[:k] if hit.id not in out] + [hit for hit in ranking[k:] if hit.id in up]
    rest = [hit for hit in ranking if hit.id in out or (places[hit.id] >= k and hit.id not in up)]
    if moves:
        at = next(place for place, hit in enumerate(top) if hit.id == base_first)
        if at >= BASE_PLACE:
            hit = top.pop(at)
            top.insert(BASE_PLACE - 1, hit)
            up.add(hit.id)
    return top + rest, frozenset(up)
