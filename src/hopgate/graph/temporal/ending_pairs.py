"""Of facts that end one another: which memory ends what which one says, and what is left where it turned out not to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from hopgate.extract.extraction import DOUBTED
from hopgate.store.graph.edge_rows import EdgeRow
from hopgate.store.graph.end_rows import NotedEnd
from hopgate.store.graph.fact_rows import CanonicalFact

JOINT_WEIGHT = 0.6
"""What a fact weighs that two memories tell together: less than what a pattern states."""


def ending_pairs(facts: Sequence[CanonicalFact], rows: Sequence[EdgeRow]) -> Iterator[NotedEnd]:
    """For each edge that is over: who said last that it holds, and who first says what is instead.

    Who says in so many words that it is over ("from birch to alder") is not among them: that needs no second look. Of
    those who said that it holds the last two are given, so that one may go.

    Parameters
    ----------
    facts : sequence of CanonicalFact
        What is stated of one source and relation, in the order in which it became known.
    rows : sequence of EdgeRow
        The edges that were derived from these.

    Examples
    --------
    >>> from datetime import datetime
    >>> days = [datetime(2024, 1, day) for day in range(1, 10)]
    >>> facts = [CanonicalFact(1, "runs on", dst, 1.0, None, None, days[at], 10 + at) for at, dst in enumerate((7, 8))]
    >>> rows = [EdgeRow(1, 7, "runs on", 1.0, None, days[1], days[0], None, (10,)),
    ...         EdgeRow(1, 8, "runs on", 1.0, days[1], None, days[1], None, (11,))]
    >>> list(ending_pairs(facts, rows))
    [NotedEnd(earlier_id=10, later_id=11)]
    """
    current = [row for row in rows if row.retired_at is None]
    begun: dict[datetime | None, list[EdgeRow]] = defaultdict(list)
    for row in current:
        begun[row.valid_from].append(row)
    stating = [(at, fact) for at, fact in enumerate(facts) if fact.valid_to is None]
    places = {(fact.memory_id, fact.dst_id): at for at, fact in stating}
    told = {(fact.memory_id, fact.dst_id) for fact in facts if fact.valid_to is not None}
    for over in current:
        if over.valid_to is None:
            continue
        holders = sorted(places[memory, over.dst_id] for memory in over.evidence if (memory, over.dst_id) in places)
        enders = sorted(
            places[memory, row.dst_id]
            for row in begun[over.valid_to]
            for memory in row.evidence
            if row.dst_id != over.dst_id and (memory, row.dst_id) in places and (memory, over.dst_id) not in told
        )
        for holder in holders[-2:]:
            ender = next((at for at in enders if at > holder), None)
            if ender is not None and facts[ender].memory_id != facts[holder].memory_id:
                yield NotedEnd(facts[holder].memory_id, facts[ender].memory_id)


def with_ends_read(facts: Sequence[CanonicalFact], known: Mapping[int, Mapping[int, bool]]) -> Sequence[CanonicalFact]:
    """The facts of a source and relation, as reading memories together with earlier ones of them showed.

    Who ends nothing of what an earlier one says does not count beside it, and nor does what it ends; who does is not
    doubted. What is over by its own word ends nothing, and stays.

    Examples
    --------
    >>> from datetime import datetime
    >>> facts = [CanonicalFact(1, "runs on", dst, 0.2, None, None, datetime(2024, 1, dst), dst) for dst in (7, 8)]
    >>> [fact.dst_id for fact in with_ends_read(facts, {8: {7: False}})]
    [7]
    >>> [fact.weight for fact in with_ends_read(facts, {8: {7: True}})]
    [0.2, 0.6]
    """
    kept: list[CanonicalFact] = []
    said: dict[int, set[int]] = defaultdict(set)
    for fact in facts:
        # In their order: one that does not count takes nothing from those after it.
        answers = [
            is_end for one, is_end in known.get(fact.memory_id, {}).items() if said.get(one, set()) - {fact.dst_id}
        ]
        if False in answers and fact.valid_to is None:
            continue
        is_lifted = True in answers and 0 < fact.weight <= DOUBTED
        kept.append(replace(fact, weight=JOINT_WEIGHT) if is_lifted else fact)
        said[fact.memory_id].add(fact.dst_id)
    return kept
