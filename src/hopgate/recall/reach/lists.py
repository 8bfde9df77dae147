"""Reachability on actual lists: for each query, what the leg *could* do to the top k given what the others returned.

The leg's own list is ignored and replaced by any list it could return, so that a leg that happened to find nothing is
told apart from one that cannot be heard. Because contributions only add, the strongest list for a memory holds that
memory alone, and trying each memory alone decides for all lists.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

from hopgate.recall.fuse import Bounded, ExactMatch, Fused, Fuser, Id, Importance, total
from hopgate.recall.reach.needed_weight import bounded
from hopgate.recall.reach.report import ListReach, QueryReach


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
    """Work out, query by query, whether a leg could be heard.

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
        swaps, changes = _stirs(hits, fuser, leg, k) if on else (False, False)
        rows.append(QueryReach(query, enters, enters or swaps, enters or changes, weight_to_pass(kth), kth))
    return ListReach(leg, fuser.weights[leg], fuser, k, prior, exact, tuple(rows))


def _stirs(hits: Sequence[Fused[Id]], fuser: Bounded, leg: str, k: int) -> tuple[bool, bool]:
    """Whether lifting one of the hits would change who is in the top k, and whether it would change anything there."""
    voice = fuser.top(fuser.weights[leg])
    # A leg alone breaks ties by its own order; as soon as a second one speaks, ties go by id.
    settled = sorted(hits, key=_place)
    before, after = ([hit.id for hit in order[:k]] for order in (hits, settled))
    last = settled[k - 1 : k]
    swaps = set(before) != set(after) or any(_passes(low, high, voice) for high in last for low in settled[k:])
    changes = before != after or any(_passes(low, high, voice) for high, low in pairwise(settled[:k]))
    return swaps, swaps or changes


def _place(hit: Fused[Id]) -> tuple[float, Id]:
    return -hit.score, hit.id


def _passes(low: Fused[Id], high: Fused[Id], voice: float) -> bool:
    """Whether a hit would pass one above it if the leg put it first."""
    score = (total([*low.contributions.values(), voice]) + low.bonus) * low.prior
    return (-score, low.id) < _place(high)
