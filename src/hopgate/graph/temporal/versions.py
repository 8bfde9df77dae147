"""The history of edges: which rows each newly recorded fact adds and retires; none is ever deleted.

Only an edge with the same endpoints and relation, or with the same source and a relation declared single-valued, can be
touched. A contradicted edge gets a new row with its `valid_to`, and the row without it gets its `retired_at`. What was
known at any time can so be asked at any later time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from hopgate.graph.temporal.may_count import may_count
from hopgate.graph.temporal.precedence import EdgeVersion, current_edges, group_of


@dataclass(frozen=True, slots=True)
class Changes:
    """Rows to add, and rows to retire, each with its `retired_at`."""

    new_rows: tuple[EdgeVersion, ...]
    retired_rows: tuple[EdgeVersion, ...]


def supersede(
    table: Iterable[EdgeVersion],
    earlier: Iterable[EdgeVersion],
    recorded: Iterable[EdgeVersion],
    single_valued: Collection[str] = (),
) -> Changes:
    """Say what changes in the table of edges when facts are recorded.

    Parameters
    ----------
    table : iterable of EdgeVersion
        Rows of the table; retired ones and those of other groups are left alone.
    earlier : iterable of EdgeVersion
        Every fact recorded before: with them the result does not depend on the order of arrival.
    recorded : iterable of EdgeVersion
        The new facts, with the time they were recorded.
    single_valued : collection of str
        Relations of which a source has one at a time.

    Examples
    --------
    >>> def lives(city, year, memory):
    ...     start, recorded = datetime(year, 1, 1), datetime(year, 1, 2)
    ...     return EdgeVersion("ada", "lives in", city, start, None, recorded, None, (memory,))
    >>> berlin, munich = lives("berlin", 2015, "m1"), lives("munich", 2020, "m2")
    >>> changes = supersede([berlin], [berlin], [munich], {"lives in"})
    >>> [(row.dst, row.valid_to and row.valid_to.year) for row in changes.new_rows]
    [('berlin', 2020), ('munich', None)]
    >>> [(row.dst, row.retired_at.year) for row in changes.retired_rows]
    [('berlin', 2020)]
    """
    new = list(recorded)
    if not new:
        return Changes((), ())
    now = max(fact.recorded_at for fact in new)
    touched = {group_of(fact, single_valued) for fact in new}
    current = [row for row in table if row.retired_at is None and group_of(row, single_valued) in touched]
    facts = [fact for fact in earlier if group_of(fact, single_valued) in touched]
    edges = current_edges([*facts, *new], single_valued)
    before = {_content(row) for row in current}
    after = {_content(edge) for edge in edges}
    return Changes(
        tuple(replace(edge, recorded_at=now) for edge in edges if _content(edge) not in before),
        tuple(replace(row, retired_at=now) for row in current if _content(row) not in after),
    )


def edge_history(facts: Iterable[EdgeVersion], single_valued: Collection[str] = ()) -> list[EdgeVersion]:
    """Build the whole table: record all facts in the order of their recording, those of one moment together."""
    table: list[EdgeVersion] = []
    earlier: list[EdgeVersion] = []
    ordered = sorted(may_count(facts, single_valued), key=_recorded_at)
    for _, batch in groupby(ordered, key=_recorded_at):
        recorded = list(batch)
        table = apply_changes(table, supersede(table, earlier, recorded, single_valued))
        earlier += recorded
    return table


def apply_changes(table: Iterable[EdgeVersion], changes: Changes) -> list[EdgeVersion]:
    """Give the table after the changes."""
    retired = {replace(row, retired_at=None): row for row in changes.retired_rows}
    return [retired.get(row, row) for row in table] + list(changes.new_rows)


def _recorded_at(fact: EdgeVersion) -> datetime:
    return fact.recorded_at


def _content(row: EdgeVersion) -> tuple[object, ...]:
    """What a row says; two rows that say the same are one."""
    return row.src, row.relation, row.dst, row.valid_from, row.valid_to, row.evidence
