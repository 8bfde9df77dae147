"""Edges from facts: group by group, so that a change costs what it touches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, cast

from hopgate.graph.temporal.precedence import EdgeVersion
from hopgate.graph.temporal.versions import replay
from hopgate.store.graph import edge_rows, fact_rows
from hopgate.store.graph.edge_rows import EdgeRow
from hopgate.store.graph.fact_rows import ConceptFact, FactGroup

if TYPE_CHECKING:
    from psycopg import Connection


def derive(connection: Connection[Any], groups: Iterable[FactGroup]) -> None:
    """Derive the edges of some groups anew from all their facts, and put them in the place of the old ones."""
    asked = set(groups)
    singles = {(group.src_id, group.relation) for group in asked if group.dst_id is None}
    # A relation that became single-valued: its whole group covers those of its targets.
    covered = {group for group in asked if group.dst_id is not None and (group.src_id, group.relation) in singles}
    touched = sorted(asked - covered, key=lambda group: (group.src_id, group.relation, group.dst_id or 0))
    if not touched:
        return
    facts: dict[FactGroup, list[ConceptFact]] = defaultdict(list)
    for told in fact_rows.facts_of_groups(connection, touched):
        single = (told.src_id, told.relation) in singles
        facts[FactGroup(told.src_id, told.relation, None if single else told.dst_id)].append(told)
    edge_rows.replace(
        connection, touched, (row for group, told in facts.items() for row in versioned_rows(group, told))
    )


def versioned_rows(group: FactGroup, facts: Sequence[ConceptFact]) -> list[EdgeRow]:
    """Fold one group's facts, in the order in which they became known, into bi-temporal rows.

    A statement repeated while nothing else was said adds evidence and no history, so runs of the same statement are
    folded as one: a fact told by a thousand memories costs one row and not a thousand versions of it.

    Examples
    --------
    >>> from datetime import datetime
    >>> def told(dst, day, memory):
    ...     return ConceptFact(1, "runs on", dst, 1.0, None, None, datetime(2024, 1, day), memory)
    >>> for row in versioned_rows(FactGroup(1, "runs on", None), [told(7, 1, 10), told(7, 2, 11), told(8, 5, 12)]):
    ...     print(row.dst_id, row.valid_to and row.valid_to.day, row.retired_at and row.retired_at.day, row.evidence)
    7 None 5 (10, 11)
    7 5 None (10, 11)
    8 None None (12,)
    """
    runs = [list(run) for _, run in groupby(facts, key=lambda told: (told.dst_id, told.valid_from, told.valid_to))]
    statements = [
        EdgeVersion(
            run[0].src_id,
            run[0].relation,
            run[0].dst_id,
            run[0].valid_from,
            run[0].valid_to,
            run[0].recorded_at,
            evidence=tuple(sorted({told.memory_id for told in run})),
        )
        for run in runs
    ]
    weights: dict[tuple[int, int], float] = defaultdict(float)
    for told in facts:
        weights[told.dst_id, told.memory_id] = max(weights[told.dst_id, told.memory_id], told.weight)
    rows = _unversioned(replay(statements, {group.relation} if group.dst_id is None else ()))
    result = []
    for row in rows:
        dst, evidence = cast(int, row.dst), cast(tuple[int, ...], row.evidence)
        weight = sum(weights[dst, memory] for memory in evidence)
        times = (row.valid_from, row.valid_to, row.recorded_at, row.retired_at)
        result.append(EdgeRow(group.src_id, dst, row.relation, weight, *times, evidence))
    return result


def _unversioned(table: Sequence[EdgeVersion]) -> list[EdgeVersion]:
    """Join the versions of a row that differ in their evidence alone: who else says so is no change of what is so."""
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
