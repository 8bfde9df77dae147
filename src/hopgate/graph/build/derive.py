"""Edges from facts: group by group, so that a change costs what it touches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, cast

from hopgate.extract.extraction import DOUBTED
from hopgate.extract.rules.stated_values import MOST_CHARACTERS
from hopgate.graph.temporal.ending_pairs import ending_pairs, with_ends_read
from hopgate.graph.temporal.precedence import EdgeVersion, Tentative
from hopgate.graph.temporal.versions import edge_history
from hopgate.store.graph import edge_rows, end_rows, fact_rows, scope_rows
from hopgate.store.graph.edge_rows import EdgeRow
from hopgate.store.graph.end_rows import NotedEnd
from hopgate.store.graph.fact_rows import CanonicalFact, FactGroup

if TYPE_CHECKING:
    from psycopg import Connection

# What a tentative fact weighs once another one shows what it tells: less than any that a pattern states.
TOLD_BY_OTHERS = 0.5


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
    by_group = with_true_ends(connection, read)
    rows = {group: versioned_rows(group, facts) for group, facts in by_group.items()}
    edge_rows.replace(connection, touched, chain.from_iterable(rows.values()))
    _note_ends(connection, by_group, rows)


def with_true_ends(
    connection: Connection[Any], by_group: Mapping[FactGroup, Sequence[CanonicalFact]]
) -> dict[FactGroup, Sequence[CanonicalFact]]:
    """All groups; those of several objects as reading their memories together showed."""
    several = [group for group, facts in by_group.items() if len({fact.dst_id for fact in facts}) > 1]
    later = {fact.memory_id for group in several for fact in by_group[group]}
    known = end_rows.known_of(connection, later) if later else {}
    return {**by_group, **{group: with_ends_read(by_group[group], known) for group in several if known}}


def _note_ends(
    connection: Connection[Any],
    by_group: Mapping[FactGroup, Sequence[CanonicalFact]],
    rows: Mapping[FactGroup, Sequence[EdgeRow]],
) -> None:
    """Note who ends what, of each scope by itself: nobody's memory is read with somebody else's."""
    ended = [group for group, made in rows.items() if any(map(_is_over, made))]
    if not ended:
        return  # as of most changes
    scopes = scope_rows.scope_by_memory(connection, {fact.memory_id for group in ended for fact in by_group[group]})
    ends: list[NotedEnd] = []
    for group in ended:
        own: dict[str | None, list[CanonicalFact]] = defaultdict(list)
        for fact in by_group[group]:
            own[scopes.get(fact.memory_id)].append(fact)
        for told in own.values():
            ends += ending_pairs(told, rows[group] if len(own) == 1 else versioned_rows(group, told))
    end_rows.note(connection, ends, longest=MOST_CHARACTERS)


def _is_over(row: EdgeRow) -> bool:
    return row.retired_at is None and row.valid_to is not None


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
    """The one row of a group that holds one stated fact, however often, as of most; nothing of another."""
    dst, start, end = said = facts[0].dst_id, facts[0].valid_from, facts[0].valid_to
    weights: dict[int, float] = {}
    for fact in facts:
        if fact.weight <= 0 or (fact.dst_id, fact.valid_from, fact.valid_to) != said:
            return []
        weights[fact.memory_id] = max(fact.weight, weights.get(fact.memory_id, 0.0))
    evidence = tuple(sorted(weights))
    weight = sum(weights[memory] for memory in evidence)
    since = min(fact.recorded_at for fact in facts)
    return [EdgeRow(group.src_id, dst, group.relation, weight, start, end, since, None, evidence)]


def _history_rows(group: FactGroup, facts: Sequence[CanonicalFact]) -> list[EdgeRow]:
    # Of one object nothing tentative tells a change, and nothing is doubted: the runs of what is stated stay whole.
    one_object = len({fact.dst_id for fact in facts}) == 1
    counted = [fact for fact in facts if fact.weight > 0] if one_object else facts
    runs = [
        list(run)
        for _, run in groupby(
            counted,
            key=lambda fact: (
                fact.dst_id,
                fact.valid_from,
                fact.valid_to,
                tentativeness(fact),
                is_doubted(fact, one_object),
            ),
        )
    ]
    versions = [
        EdgeVersion(
            run[0].src_id,
            run[0].relation,
            run[0].dst_id,
            run[0].valid_from,
            run[0].valid_to,
            run[0].recorded_at,
            evidence=tuple(sorted({fact.memory_id for fact in run})),
            tentative=tentativeness(run[0]),
            doubted=is_doubted(run[0], one_object),
        )
        for run in runs
    ]
    weights: dict[tuple[int, int], float] = defaultdict(float)
    for fact in facts:
        known = weights[fact.dst_id, fact.memory_id]
        weights[fact.dst_id, fact.memory_id] = max(known, fact.weight if fact.weight > 0 else TOLD_BY_OTHERS)
    rows = _same_but_evidence_joined(edge_history(versions, {group.relation} if group.dst_id is None else ()))
    result = []
    for row in rows:
        dst, evidence = cast(int, row.dst), cast(tuple[int, ...], row.evidence)
        weight = sum(weights[dst, memory] for memory in evidence)
        times = (row.valid_from, row.valid_to, row.recorded_at, row.retired_at)
        result.append(EdgeRow(group.src_id, dst, row.relation, weight, *times, evidence))
    return result


def is_doubted(fact: CanonicalFact, one_object: bool) -> bool:
    """Whether a fact was told so that it ends no surer one; where all say the same there is nothing to end."""
    return 0 < fact.weight <= DOUBTED and not one_object


def tentativeness(fact: CanonicalFact) -> Tentative:
    """How a fact was told, by its weight: see `extract/rules/tentative.py`."""
    if fact.weight > 0:
        return Tentative.NO
    return Tentative.BESIDE if fact.weight < 0 else Tentative.ALONE


def _same_but_evidence_joined(table: Sequence[EdgeVersion]) -> list[EdgeVersion]:
    """Join the versions of a row that differ in their evidence alone: further evidence is no change of the edge."""
    kept: dict[tuple[object, ...], EdgeVersion] = {}
    result: list[EdgeVersion] = []
    for row in table:
        key = (row.dst, row.valid_from, row.valid_to, row.recorded_at)
        before = kept.pop(key, None)
        if before is not None:
            result.remove(before)
            row = replace(row, recorded_at=before.recorded_at)  # noqa: PLW2901
        result.append(row)
        if row.retired_at is not None:
            kept[row.dst, row.valid_from, row.valid_to, row.retired_at] = row
    return result
