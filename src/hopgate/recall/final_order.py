"""What follows fusion, as one pure function: exact-match bonus, importance prior, order, lifting.

Recall and the gate's arms both end with it, so that what is measured is what is shipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime

from hopgate.memory import DEFAULT_IMPORTANCE
from hopgate.recall.fuse import AnyFuser, ExactMatch, Fused, Id, Importance, SortBy, lifted, order
from hopgate.recall.fuse.lift import BASE_PLACE

Scored = Sequence[tuple[Id, float]]


def final_order(
    pool: Iterable[Fused[Id]],
    lists: Mapping[str, Scored[Id]],
    fuser: AnyFuser,
    k: int,
    *,
    importance: Mapping[Id, float],
    prior: Importance | None = None,
    bonus: ExactMatch | None = None,
    matched: AbstractSet[Id] = frozenset(),
    base: Scored[Id] = (),
    blind: AbstractSet[Id] = frozenset(),
    sort_by: SortBy = "relevance",
    created_at: Mapping[Id, datetime | None] | None = None,
) -> tuple[list[Fused[Id]], frozenset[Id]]:
    """Order the fused pool, and lift what a leg has first into the top k; give also which were lifted.

    An order that the user asked for instead of relevance is not lifted into. One leg alone is hidden by no other:
    there the prior decides, as it is meant to.

    Parameters
    ----------
    pool : iterable of Fused
        As the fuser gave it.
    lists : mapping of leg name to list
        What was fused; the first of each is lifted.
    importance, created_at : mappings from id
        What is known of the memories.
    bonus, matched
        The exact-match bonus, and who gets it.
    base : list of (id, score)
        The fused base, best first: the graph does not hide its first, nor what a leg is blind to of its first three.
    blind : set of ids
        What of the base the graph does not have, or the dense leg could not see.

    Examples
    --------
    >>> from hopgate.recall.fuse import RRF
    >>> fuser, lists = RRF(k=0, graph=5), {"dense": [("a", 0.9)], "graph": [("b", 0.5), ("c", 0.4), ("d", 0.3)]}
    >>> ranking, up = final_order(fuser.fuse(lists), lists, fuser, 3, importance={}, base=[("a", 1.0)])
    >>> [hit.id for hit in ranking], up
    (['b', 'c', 'a', 'd'], frozenset({'a'}))
    """
    hits = list(pool)
    if bonus:
        hits = bonus.apply(hits, matched, fuser)
    ranking = order(hits, sort_by=sort_by, importance=importance, created_at=created_at, prior=prior)
    if sort_by != "relevance" or len(lists) < 2:
        return ranking, frozenset()
    places = {hit.id: place for place, hit in enumerate(ranking)}
    firsts = [first for leg in lists.values() if (first := first_of(leg, places)) is not None]
    near = near_of(base, blind, places, importance, prior) if "graph" in lists else []
    return lifted(ranking, firsts, k, near=near)


def near_of(
    base: Scored[Id],
    blind: AbstractSet[Id],
    there: Mapping[Id, int],
    importance: Mapping[Id, float],
    prior: Importance | None,
) -> list[Id]:
    """What stays within the first three though the graph has a say: the base's first, and what a leg is blind to.

    So a memory that is not linked, has no vector or is sensitive is not lost by the graph where the base has it among
    its first three.
    """
    scored = [
        (-score * (prior.factor(importance.get(key, DEFAULT_IMPORTANCE)) if prior else 1.0), place, key)
        for place, (key, score) in enumerate(base)
        if key in there
    ]
    first = [key for _, _, key in sorted(scored)[:BASE_PLACE]]
    return first[:1] + [key for key in first[1:] if key in blind]


def first_of(leg: Scored[Id], places: Mapping[Id, int]) -> Id | None:
    """The first of a leg's memories that still exists; of those that tie for it, the one that fusion ranks best."""
    there = [(key, score) for key, score in leg if key in places]
    tied = [key for key, score in there if score == there[0][1]]
    return min(tied, key=places.__getitem__, default=None)
