"""Lifting: what a leg puts first is within the top k, and the graph does not hide what the base puts first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from hopgate.recall.fuse.fused import Fused, Id

BASE_PLACE = 3
"""What the base puts first is within this many hits."""


def lifted(
    ranking: Sequence[Fused[Id]], firsts: Iterable[Id], k: int, *, near: Iterable[Id] = ()
) -> tuple[list[Fused[Id]], frozenset[Id]]:
    """Give the ranking with the first of every leg within its top k, and which memories were lifted for that.

    Where m firsts are missing, they take the last m places of the top k, in their own order, and the last m hits there
    that are no leg's first make room. That is possible wherever k is no less than the number of firsts, hence of
    legs; below that the ranking is left alone. What is to be `near` moves into the first three in the same way, and
    has room in the top k beside the firsts where k is no less than both together.

    Parameters
    ----------
    ranking : sequence of Fused
        The whole pool, best first.
    firsts : iterable of ids
        The first memory of each leg that has a weight.
    near : iterable of ids
        Up to three memories that are to be within the first three: the base's first, and what a leg is blind to.

    Examples
    --------
    >>> hits = [Fused(name, 1.0 - place / 10, {}, {}) for place, name in enumerate("abcdef")]
    >>> order, up = lifted(hits, ["a", "f"], 3)
    >>> [hit.id for hit in order], sorted(up)
    (['a', 'b', 'f', 'c', 'd', 'e'], ['f'])
    >>> [hit.id for hit in lifted(hits, ["a"], 5, near=["f"])[0]]
    ['a', 'b', 'f', 'c', 'd', 'e']
    """
    there = {hit.id for hit in ranking}
    kept = {id for id in firsts if id in there}
    close = {id for id in near if id in there}
    if k < BASE_PLACE or len(kept | close) > k:
        close = set()
    result = _into(_into(ranking, kept | close, k), close, BASE_PLACE)
    before = {hit.id: place for place, hit in enumerate(ranking)}
    after = {hit.id: place for place, hit in enumerate(result)}
    return result, frozenset(id for id in kept | close if after[id] < before[id])


def _into(ranking: Sequence[Fused[Id]], wanted: AbstractSet[Id], k: int) -> list[Fused[Id]]:
    """Put what is wanted into the first k, in the place of the last others there; leave all where it has no room."""
    missing = [hit for hit in ranking[k:] if hit.id in wanted]
    if not missing or len(wanted) > k:
        return list(ranking)
    others = [hit for hit in ranking[:k] if hit.id not in wanted]
    out = {hit.id for hit in others[len(others) - len(missing) :]}
    top = [hit for hit in ranking[:k] if hit.id not in out] + missing
    inside = {hit.id for hit in top}
    return top + [hit for hit in ranking if hit.id not in inside]
