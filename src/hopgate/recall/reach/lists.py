"""Reachability on actual lists: for each query, what the leg *could* do to the top k given what the others returned.

The leg's own list is ignored and replaced by any list it could return, so that a leg that happened to find nothing is
not mistaken for one that is barred. Because contributions only add, the strongest list for a memory holds that memory
alone, and trying each memory alone decides for all lists.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from hopgate.recall.fuse import Bounded, ExactMatch, Fused, Fuser, Id, Importance, total
from hopgate.recall.reach.needed_weight import Reachability, bounded, in_words, opening, or_none

_SHARES = {"first": 0.0, "half": 0.5, "nine_in_ten": 0.9, "all": 1.0}
"""The shares of the queries a summary gives the weight for."""


@dataclass(frozen=True, slots=True)
class QueryReach:
    """What a leg could do to one query's top k.

    Parameters
    ----------
    query : str
        The query's id.
    enters : bool
        A memory that only this leg sees could enter: it would score more than the k-th hit (a tie does not count), or
        the other legs leave room.
    swaps : bool
        Some list of the leg would change which memories are in the top k: `enters`, or a memory that the other legs
        rank below k would rise into it.
    changes : bool
        Some list of the leg would change the top k at all: `swaps`, or two of its hits would change places.
    needed : float
        The weight that `enters` needs to be exceeded; 0 where there is room, infinite where none suffices.
    kth : float or None
        The score in the way; None where there is room.
    """

    query: str
    enters: bool
    swaps: bool
    changes: bool
    needed: float
    kth: float | None

    def to_dict(self) -> dict[str, Any]:
        """Give the row ready for JSON."""
        return {**asdict(self), "needed": or_none(self.needed)}


@dataclass(frozen=True, slots=True)
class ListReach:
    """What a leg could do to the top k of a set of queries: the rows, and what they come to.

    Parameters
    ----------
    leg, weight, fuser, k, prior, exact
        What was asked.
    rows : tuple of QueryReach
        One a query.
    """

    leg: str
    weight: float
    fuser: Fuser
    k: int
    prior: Importance | None
    exact: ExactMatch | None
    rows: tuple[QueryReach, ...]

    @property
    def entering(self) -> int:
        """On how many queries a candidate of the leg alone could enter."""
        return sum(row.enters for row in self.rows)

    @property
    def swapping(self) -> int:
        """On how many queries the leg could change which memories are in the top k."""
        return sum(row.swaps for row in self.rows)

    @property
    def changing(self) -> int:
        """On how many queries the leg could change the top k at all."""
        return sum(row.changes for row in self.rows)

    @property
    def verdict(self) -> Reachability:
        """Barred where it could enter on no query, reachable where it could on all."""
        if self.weight == 0:
            return Reachability.OFF
        if not self.entering:
            return Reachability.BARRED
        return Reachability.REACHABLE if self.entering == len(self.rows) else Reachability.ON_SOME

    def needed(self, share: float) -> float:
        """Give the weight to exceed for a candidate of the leg alone to be able to enter on this share of the queries.

        ``needed(0)`` opens the first query, ``needed(0.5)`` half of them, ``needed(1)`` all.
        """
        weights = sorted(row.needed for row in self.rows)
        return weights[max(0, math.ceil(share * len(weights)) - 1)] if weights else 0.0

    def to_dict(self, *, rows: bool = False) -> dict[str, Any]:
        """Give the summary ready for JSON, on request with every query's row."""
        result = {
            "leg": self.leg,
            "weight": self.weight,
            "verdict": self.verdict.value,
            "fuser": repr(self.fuser),
            "k": self.k,
            "prior": repr(self.prior) if self.prior else None,
            "exact": repr(self.exact) if self.exact else None,
            "queries": len(self.rows),
            "entering": self.entering,
            "swapping": self.swapping,
            "changing": self.changing,
            "needed": {name: or_none(self.needed(share)) for name, share in _SHARES.items()},
        }
        return {**result, "rows": [row.to_dict() for row in self.rows]} if rows else result

    def __str__(self) -> str:
        n = len(self.rows)
        first, half, most = (in_words(self.needed(share)) for share in (0, 0.5, 1))
        return (
            f"{opening(self.leg, self.weight, self.verdict, self.k, self.fuser)}; on {self.entering} of {n} queries a "
            f"candidate of it alone could enter, on {self.swapping} it could change who is in, on {self.changing} "
            f"anything; weight needed: {first} for the first query, {half} for half of them, {most} for all"
        )


def on_lists(
    fuser: Fuser,
    queries: Mapping[str, Mapping[str, Sequence[tuple[Id, float]]]],
    *,
    leg: str = "graph",
    k: int = 10,
    prior: Importance | None = None,
    importance: Mapping[Id, float] | None = None,
    outsider: float = 1.0,
    exact: ExactMatch | None = None,
    matched: Mapping[str, AbstractSet[Id]] | None = None,
) -> ListReach:
    """Work out, query by query, whether a leg could change the top k.

    Parameters
    ----------
    fuser : Fuser
        With the weights of all legs.
    queries : mapping of query id to legs
        What each leg returned; the leg in question may be among them and is not looked at.
    leg, k
        Whose reach, into how many hits.
    prior, importance
        The importance prior and the memories' importances; one that is missing is 0.5.
    outsider : float
        The importance of the candidate that only this leg sees; 1, the most favourable, unless the memories are known
        to have less.
    exact, matched
        The exact-match bonus and, per query, the memories that match; the outsider is taken to match.

    Examples
    --------
    >>> from hopgate.recall.fuse import RRF
    >>> base = {"lexical": [(id, 1.0 / id) for id in range(1, 51)]}
    >>> print(on_lists(RRF(graph=0.35), {"q1": base, "q2": {"lexical": base["lexical"][:3]}}))
    graph at weight 0.35 is reachable on some queries in the top 10 of RRF(k=60, lexical=1, dense=1, graph=0.35);
    on 1 of 2 queries a candidate of it alone could enter, on 2 it could change who is in, on 2 anything;
    weight needed: any for the first query, any for half of them, over 0.871 for all
    """
    fuser = bounded(fuser, leg, k)
    factor = prior.factor(outsider) if prior else 1.0
    bonus = fuser.top(exact.bonus) if exact else 0.0
    on = fuser.weights[leg] > 0
    score = (fuser.top(fuser.weights[leg]) + bonus) * factor

    def weight_to_pass(kth: float | None) -> float:
        if kth is None:
            return 0.0
        return fuser.weight_for(max(0.0, kth / factor - bonus)) if factor else math.inf

    rows = []
    for query, legs in queries.items():
        hits = fuser.fuse({name: other for name, other in legs.items() if name != leg})
        if exact:
            hits = exact.apply(hits, (matched or {}).get(query, set()), fuser)
        if prior:
            hits = prior.apply(hits, importance or {})
        kth = hits[k - 1].score if len(hits) >= k else None
        enters = on and (kth is None or score > kth)
        swaps, changes = _lifted(hits, fuser, leg, k) if on else (False, False)
        rows.append(QueryReach(query, enters, enters or swaps, enters or changes, weight_to_pass(kth), kth))
    return ListReach(leg, fuser.weights[leg], fuser, k, prior, exact, tuple(rows))


def _lifted(hits: Sequence[Fused[Id]], fuser: Bounded, leg: str, k: int) -> tuple[bool, bool]:
    """Whether putting one hit first in the leg would change who is in the top k, and whether anything there."""
    most = fuser.top(fuser.weights[leg])
    # One leg alone breaks ties by its own order; as soon as there is a second one, ties go by id.
    by_id = sorted(hits, key=_sort_key)
    before, after = ([hit.id for hit in order[:k]] for order in (hits, by_id))
    last = by_id[k - 1 : k]
    swaps = set(before) != set(after) or any(_passes(low, high, most) for high in last for low in by_id[k:])
    changes = before != after or any(_passes(low, high, most) for high, low in pairwise(by_id[:k]))
    return swaps, swaps or changes


def _sort_key(hit: Fused[Id]) -> tuple[float, Id]:
    return -hit.score, hit.id


def _passes(low: Fused[Id], high: Fused[Id], most: float) -> bool:
    """Whether a hit would pass one above it if the leg put it first and so contributed the most it can."""
    score = (total([*low.contributions.values(), *low.granted.values(), most]) + low.bonus) * low.prior
    return (-score, low.id) < _sort_key(high)
