"""Legs in, pool out: what every fuser checks before it scores, and how contributions become one ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain

from hopgate.errors import HopgateError
from hopgate.recall.fuse.fused import NOTHING, Fused, Id, ranked, total
from hopgate.recall.fuse.unseen import ALL_SEEN, grants


def weighted_legs(
    legs: Mapping[str, Sequence[tuple[Id, float]]], weights: Mapping[str, float]
) -> dict[str, Sequence[tuple[Id, float]]]:
    """Keep the legs that have a weight above 0, checked, in the order of the weights.

    A leg of weight 0 is not even looked at; a missing leg and an empty one are the same.

    Examples
    --------
    >>> weighted_legs({"graph": [("m2", 0.1)], "lexical": [("m1", 0.7)]}, {"lexical": 1, "dense": 1, "graph": 0})
    {'lexical': [('m1', 0.7)]}
    """
    for name in legs:
        if name not in weights:
            known = ", ".join(weights)
            raise HopgateError(
                f"no weight for the leg {name!r}: name it in others={{{name!r}: 1}}, or use one of {known}"
            )
    kept = {name: legs[name] for name, weight in weights.items() if weight > 0 and legs.get(name)}
    for name, leg in kept.items():
        scores = dict(leg)
        # An evaluation fuses millions of legs that are right: only one that is not is looked at id by id.
        if len(scores) != len(leg) or not all(map(math.isfinite, scores.values())):
            _refuse(name, leg)
    return kept


def _refuse(name: str, leg: Sequence[tuple[Id, float]]) -> None:
    """Say which id of a leg is wrong, and by what."""
    seen = set()
    for id, score in leg:
        if not math.isfinite(score):
            raise HopgateError(f"the {name} leg scores {id!r} with {score}: a score must be a finite number")
        if id in seen:
            raise HopgateError(f"the {name} leg lists {id!r} twice: a leg holds an id once")
        seen.add(id)


def pooled(
    contributed: Mapping[str, Sequence[tuple[Id, float]]],
    tops: Mapping[str, float] | None = None,
    unseen: Mapping[str, AbstractSet[Id]] = ALL_SEEN,
) -> list[Fused[Id]]:
    """Add up what each leg contributes to each id, grant what a leg could not see, and rank the pool.

    Parameters
    ----------
    contributed : mapping of leg name to (id, contribution) pairs, in the leg's own order
    tops : mapping of leg name to float
        The most that each leg can contribute; needed where something is unseen.
    unseen : mapping of leg name to ids
        What each leg could not have listed, see `recall.fuse.unseen`.

    Examples
    --------
    >>> [hit.id for hit in pooled({"lexical": [("a", 0.5), ("b", 0.4)], "dense": [("b", 0.5)]})]
    ['b', 'a']
    """
    pool: dict[Id, tuple[dict[str, float], dict[str, int]]] = {}
    for name, leg in contributed.items():
        for rank, (id, contribution) in enumerate(leg, start=1):
            if (known := pool.get(id)) is None:
                pool[id] = {name: contribution}, {name: rank}
            else:
                known[0][name], known[1][name] = contribution, rank
    given: Mapping[Id, Mapping[str, float]] = {}
    if any(unseen.values()):
        parts = {id: contributions for id, (contributions, _) in pool.items()}
        given = grants(parts, {name: (tops or {})[name] for name in contributed}, unseen)
    if not given:
        return ranked(Fused(id, _sum(parts), parts, ranks) for id, (parts, ranks) in pool.items())
    hits = []
    for id, (contributions, ranks) in pool.items():
        granted = given.get(id, NOTHING)
        score = total(chain(contributions.values(), granted.values()))
        hits.append(Fused(id, score, contributions, ranks, granted=granted))
    return ranked(hits)


def _sum(contributions: Mapping[str, float]) -> float:
    """Their total, bit for bit; of one or two the order does not matter, and most memories have no more."""
    if len(contributions) == 2:
        one, other = contributions.values()
        return one + other
    return total(contributions.values())
