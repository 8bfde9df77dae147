"""Fair to what a leg could not see: a memory is given, in the place of such a leg, what the others say of it.

A leg *could not* see a memory that has no vector yet, is sensitive, is not linked in the graph, or has a vector of
another embedder. That is not the same as a low score, so it must not count as one. Scaling the score to the weight of
the legs that could see it (score × weight of all legs ÷ weight of those) is the first idea, and alone it overshoots:
under RRF with k = 60 ranks are nearly flat, and a memory at rank 30 of the one leg that saw it would pass the first of
that leg where another leg puts it low. So what is granted is bounded from both sides:

- at most what makes its score that of any memory that *beats* it, that is, one that every leg saw which saw this one,
  each with a higher contribution. **It never gains over a memory that beats it.**
- at least, for each leg, what that leg gives to the last of the pool. **It never loses against having been seen last.**

Both are proved in docs/adr/0007-fair-to-the-unseen.md and checked by property tests for every fuser.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from itertools import chain
from types import MappingProxyType
from typing import Any

from hopgate.recall.fuse.fused import Id, total

ALL_SEEN: Mapping[str, AbstractSet[Any]] = MappingProxyType({})
"""No leg was unable to see anything."""
ROUNDING = 1e-9
"""Far more than the rounding of a sum of a few numbers, and far less than two ranks differ by."""


def grants(
    parts: Mapping[Id, Mapping[str, float]], tops: Mapping[str, float], unseen: Mapping[str, AbstractSet[Id]]
) -> dict[Id, dict[str, float]]:
    """Give, for each memory of the pool that some leg could not see, what it is granted in the place of each such leg.

    Parameters
    ----------
    parts : mapping from id to contributions
        The pool: what each leg contributes to what it lists. A memory that a leg lists it could see, whatever `unseen`
        says.
    tops : mapping of leg name to float
        The legs of this query, and the most that each can contribute.
    unseen : mapping of leg name to ids
        What each leg could not see.

    Examples
    --------
    "a" is the best of what the lexical leg found, and sensitive; "c" is as unseen, and "b" beats it:

    >>> parts = {"a": {"lexical": 1.0}, "b": {"lexical": 0.8, "dense": 0.1}, "c": {"lexical": 0.6}, "d": {"dense": 1.0}}
    >>> given = grants(parts, {"lexical": 1.0, "dense": 1.0}, {"dense": {"a", "c"}})
    >>> {id: {leg: round(part, 3) for leg, part in legs.items()} for id, legs in given.items()}
    {'a': {'dense': 1.0}, 'c': {'dense': 0.3}}
    """
    blind = {
        id: frozenset(leg for leg in tops if leg not in own and id in unseen.get(leg, ())) for id, own in parts.items()
    }
    lowest = {leg: _lowest(leg, parts, blind) for leg in tops}
    result: dict[Id, dict[str, float]] = {}
    # Those that more legs saw come first: what is granted to them bounds what is granted to those that they beat.
    for legs in sorted(set(blind.values()) - {frozenset()}, key=lambda legs: (len(legs), sorted(legs))):
        seen = [leg for leg in tops if leg not in legs]
        most = total(tops[leg] for leg in seen)
        missing = total(tops[leg] for leg in legs)
        least = total(lowest[leg] for leg in legs)
        above: list[tuple[tuple[float, ...], float]] = []
        for id, own in parts.items():
            if blind[id] < legs:
                score = total(chain(own.values(), result.get(id, {}).values()))
                above.append((tuple(own.get(leg, 0.0) for leg in seen), score))
        for id, own in parts.items():
            if blind[id] != legs:
                continue
            mine = tuple(own.get(leg, 0.0) for leg in seen)
            have = total(mine)
            cap = min((score for values, score in above if all(map(float.__gt__, values, mine))), default=math.inf)
            # A hair below the one that beats it, so that rounding puts it above none.
            extra = min(have * (missing / most) if most else 0.0, (cap - have) * (1 - ROUNDING))
            further = max(0.0, extra - least) / (missing - least) if missing > least else 0.0
            granted: dict[str, float] = {}
            for leg in sorted(legs):
                granted[leg] = lowest[leg] + further * (tops[leg] - lowest[leg])
            result[id] = granted
    return result


def _lowest(leg: str, parts: Mapping[Id, Mapping[str, float]], blind: Mapping[Id, AbstractSet[str]]) -> float:
    """What the leg gives to the last memory of the pool that it could see: nothing, where it lists not all of them."""
    if any(leg not in own and leg not in blind[id] for id, own in parts.items()):
        return 0.0
    return min((own[leg] for own in parts.values() if leg in own), default=0.0)
