"""Which tentative facts may ever count: of a hub nearly none, and the history of the others is not worked out.

A note names what it names beside a hub, and the hub's group holds a tentative fact for each of them: thousands, where
one is stated. Each is a moment of the group's history, and each moment looks at all facts: an addition that names the
hub took seconds. What is left out here would be left out at every moment by `precedence` (a property test).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator
from datetime import datetime

from hopgate.graph.temporal.precedence import EdgeVersion, Tentative, group_of, place_in_order


def may_count(facts: Iterable[EdgeVersion], single_valued: Collection[str] = ()) -> list[EdgeVersion]:
    """Leave out the tentative facts that cannot count at any moment, whatever the order of the others.

    Examples
    --------
    >>> def fact(dst, year, memory, tentative=Tentative.NO):
    ...     return EdgeVersion("nas", "located in", dst, None, None, datetime(year, 1, 1), None, (memory,), tentative)
    >>> facts = [fact("cellar", 2020, "m1"), fact("cellar", 2021, "m2", Tentative.BESIDE),
    ...          fact("attic", 2021, "m2", Tentative.BESIDE), fact("rome", 2022, "m3", Tentative.BESIDE)]
    >>> [fact.dst for fact in may_count(facts, {"located in"})]
    ['cellar', 'cellar', 'attic']
    """
    known = list(facts)
    groups: dict[tuple[Hashable, ...], list[EdgeVersion]] = defaultdict(list)
    for fact in known:
        # Where a source may have several, there is nothing that a tentative fact could tell the end of.
        if fact.relation in single_valued:
            groups[group_of(fact, single_valued)].append(fact)
    kept = {fact for group in groups.values() for fact in _tentative_kept(group)}
    return [fact for fact in known if not fact.tentative or fact in kept]


def _tentative_kept(group: list[EdgeVersion]) -> Iterator[EdgeVersion]:
    stated = {fact.dst for fact in group if not fact.tentative}
    tentative = [fact for fact in group if fact.tentative]
    if not stated or not tentative:
        return
    # One that is told alone needs only something to have been stated before it.
    held = stated | {fact.dst for fact in tentative if fact.tentative is Tentative.ALONE}
    parts = _told_together(tentative)
    waiting = [
        (number, fact, {other.dst for other in part}, _named(fact, part))
        for number, part in enumerate(parts)
        for fact in part
        if fact.tentative is Tentative.BESIDE
    ]
    while True:
        # One that is named beside others needs one of them to be held, and to be the only one that is not.
        counting = [one for one in waiting if one[2] & held and len(one[3] - held) <= 1]
        grown = held | {fact.dst for _, fact, _, _ in counting}
        if grown == held:
            break
        held = grown
    telling = {number for number, _, _, _ in counting}
    for number, part in enumerate(parts):
        if number in telling or any(fact.tentative is Tentative.ALONE for fact in part):
            yield from part


def _told_together(tentative: list[EdgeVersion]) -> list[list[EdgeVersion]]:
    """Facts that begin together and share memories, directly or through others: only these look at each other."""
    above: dict[tuple[datetime, Hashable], tuple[datetime, Hashable]] = {}

    def top(key: tuple[datetime, Hashable]) -> tuple[datetime, Hashable]:
        while (higher := above.setdefault(key, key)) != key:
            above[key] = key = above.setdefault(higher, higher)
        return key

    for fact in tentative:
        for memory in fact.evidence[1:]:
            above[top((place_in_order(fact), memory))] = top((place_in_order(fact), fact.evidence[0]))
    parts: dict[Hashable, list[EdgeVersion]] = defaultdict(list)
    for number, fact in enumerate(tentative):
        parts[top((place_in_order(fact), fact.evidence[0])) if fact.evidence else number].append(fact)
    return list(parts.values())


def _named(fact: EdgeVersion, part: list[EdgeVersion]) -> set[Hashable]:
    """What the memories of a fact name beside it, from when it is recorded on."""
    memories = set(fact.evidence)
    return {one.dst for one in part if one.recorded_at <= fact.recorded_at and not memories.isdisjoint(one.evidence)}
