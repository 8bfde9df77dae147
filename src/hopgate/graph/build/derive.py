"""Edges from facts: group by group, so that a change costs what it touches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, cast

from hopgate.graph.temporal import EdgeVersion, edge_history
from hopgate.store.graph import edge_rows, fact_rows
from hopgate.store.graph.edge_rows import EdgeRow
from hopgate.store.graph.fact_rows import CanonicalFact, FactGroup

if TYPE_CHECKING:
    from psycopg import Connection


def derive(connection: Connection[Any], groups: Iterable[FactGroup]) -> None:
    """Derive the edges of some groups anew from all their facts, and put them in the place of the old ones."""
    wanted = set(groups)
    singles = {(group.src_id, group.relation) for group in wanted if group.dst_id is None}
    # A relation that became single-valued: its whole group covers those of its targets.
    covered = {group for group in wanted if group.dst_id is not None and (group.src_id, group.relation) in singles}
    touched = sorted(wanted - covered, key=lambda group: (group.src_id, group.relation, group.dst_id or 0))
    if not touched:
        return
    read: dict[FactGroup, list[CanonicalFact]] = defaultdict(list)
    for fact in fact_rows.facts_of_groups(connection, touched):
        single = (fact.src_id, fact.relation) in singles
        read[FactGroup(fact.src_id, fact.relation, None if single else fact.dst_id)].append(fact)
    rows = (versioned_rows(group, facts) for group, facts in read.items())
    edge_rows.replace(connection, touched, chain.from_iterable(rows))


def versioned_rows(group: FactGroup, facts: Sequence[CanonicalFact]) -> list[EdgeRow]:
    """Turn one group's facts, in the order in which they became known, into bi-temporal rows.

    A fact repeated while nothing else was recorded adds evidence and no history, so that runs of the same fact are
    taken as one: a fact that a thousand memories state costs one row and not a thousand versions of it.

    Examples
    --------
    >>> from datetime import datetime
    >>> def fact(dst, day, memory):
    ...     return CanonicalFact(1, "runs on", dst, 1.0, None, None, datetime(2024, 1, day), memory)
    >>> for row in versioned_rows(FactGroup(1, "runs on", None), [fact(7, 1, 10), fact(7, 2, 11), fact(8, 5, 12)]):
    ...     print(row.dst_id, row.valid_to and row.valid_to.day, row.retired_at and row.retired_at.day, row.evidence)
    7 None 5 (10, 11)
    7 5 None (10, 11)
    8 None None (12,)
    """
    return _plain_rows(group, facts) or _history_rows(group, facts)


def _plain_rows(group: FactGroup, facts: Sequence[CanonicalFact]) -> list[EdgeRow]:
    """The one row of a group that holds one fact, however often, as of most; nothing of another."""
    dst, start, end = key = facts[0].dst_id, facts[0].valid_from, facts[0].valid_to
    weights: dict[int, float] = {}
    for fact in facts:
        if (fact.dst_id, fact.valid_from, fact.valid_to) != key:
            return []
        weights[fact.memory_id] = max(fact.weight, weights.get(fact.memory_id, 0.0))
    evidence = tuple(sorted(weights))
    weight = sum(weights[memory] for memory in evidence)
    since = min(fact.recorded_at for fact in facts)
    return [EdgeRow(group.src_id, dst, group.relation, weight, start, end, since, None, evidence)]


def _history_rows(group: FactGroup, facts: Sequence[CanonicalFact]) -> list[EdgeRow]:
    runs = [list(run) for _, run in groupby(facts, key=lambda fact: (fact.dst_id, fact.valid_from, fact.valid_to))]
    versions = [
        EdgeVersion(
            *(run[0].src_id, run[0].relation, run[0].dst_id, run[0].valid_from, run[0].valid_to, run[0].recorded_at),
            evidence=tuple(sorted({fact.memory_id for fact in run})),
        )
        for run in runs
    ]
    weights: dict[tuple[int, int], float] = defaultdict(float)
    for fact in facts:
        weights[fact.dst_id, fact.memory_id] = max(weights[fact.dst_id, fact.memory_id], fact.weight)
    result = []
    for row in edge_history(versions, {group.relation} if group.dst_id is None else ()):
        dst, evidence = cast(int, row.dst), cast(tuple[int, ...], row.evidence)
        weight = sum(weights[dst, memory] for memory in evidence)
        times = (row.valid_from, row.valid_to, row.recorded_at, row.retired_at)
        result.append(EdgeRow(group.src_id, dst, row.relation, weight, *times, evidence))
    return result
