"""Supersession: what changes in the table of edges when something new is said; rows are added and retired, not deleted.

Only an edge with the same endpoints and relation, or with the same source and a relation declared single-valued, can be
touched. A contradicted edge gets a row with its `valid_to`, and the row that said otherwise its `retired_at`. What was
known at any time can so be asked at any later time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from hopgate.graph.temporal.precedence import EdgeVersion, believe, group_of


@dataclass(frozen=True, slots=True)
class Changes:
    """Rows to add, and rows that are no longer believed, each with its `retired_at`."""

    new_rows: tuple[EdgeVersion, ...]
    retired_rows: tuple[EdgeVersion, ...]

    @property
    def invalidated(self) -> tuple[EdgeVersion, ...]:
        """Retired rows whose interval is no longer believed; the others only gained evidence."""
        kept = {_fact(row) for row in self.new_rows}
        return tuple(row for row in self.retired_rows if _fact(row) not in kept)


def supersede(
    existing: Iterable[EdgeVersion],
    incoming: EdgeVersion | Iterable[EdgeVersion],
    single_valued: Collection[str] = (),
    said: Iterable[EdgeVersion] | None = None,
) -> Changes:
    """Say what changes when `incoming` is recorded.

    Parameters
    ----------
    existing : iterable of EdgeVersion
        Rows of the table; retired ones and those of other groups are left alone.
    incoming : EdgeVersion or iterable of EdgeVersion
        Facts as said, with the time they were recorded.
    single_valued : collection of str
        Relations of which a source has one at a time.
    said : iterable of EdgeVersion, optional
        Facts said earlier, as they were said. With them the result does not depend on the order of arrival. Without,
        the current rows are taken for what was said.

    Examples
    --------
    >>> def lives(city, year, memory):
    ...     start, told = datetime(year, 1, 1), datetime(year, 1, 2)
    ...     return EdgeVersion("ada", "lives in", city, start, None, told, None, (memory,))
    >>> berlin, munich = lives("berlin", 2015, "m1"), lives("munich", 2020, "m2")
    >>> changes = supersede([berlin], munich, {"lives in"})
    >>> [(row.dst, row.valid_to and row.valid_to.year) for row in changes.new_rows]
    [('berlin', 2020), ('munich', None)]
    >>> [(row.dst, row.retired_at.year) for row in changes.retired_rows]
    [('berlin', 2020)]
    """
    arrived = [incoming] if isinstance(incoming, EdgeVersion) else list(incoming)
    if not arrived:
        return Changes((), ())
    now = max(edge.recorded_at for edge in arrived)
    touched = {group_of(edge, single_valued) for edge in arrived}
    current = [row for row in existing if row.retired_at is None and group_of(row, single_valued) in touched]
    earlier = current if said is None else [edge for edge in said if group_of(edge, single_valued) in touched]
    believed = believe([*earlier, *arrived], single_valued)
    before = {(*_fact(row), row.evidence) for row in current}
    after = {(*_fact(row), row.evidence) for row in believed}
    return Changes(
        tuple(replace(row, recorded_at=now) for row in believed if (*_fact(row), row.evidence) not in before),
        tuple(replace(row, retired_at=now) for row in current if (*_fact(row), row.evidence) not in after),
    )


def replay(said: Iterable[EdgeVersion], single_valued: Collection[str] = ()) -> list[EdgeVersion]:
    """Build the table from nothing: record all facts in the order of their recording, those of one moment together."""
    table: list[EdgeVersion] = []
    earlier: list[EdgeVersion] = []
    ordered = sorted(said, key=lambda edge: edge.recorded_at)
    for _, batch in groupby(ordered, key=lambda edge: edge.recorded_at):
        arrived = list(batch)
        changes = supersede(table, arrived, single_valued, said=earlier)
        table = apply(table, changes)
        earlier += arrived
    return table


def apply(table: Iterable[EdgeVersion], changes: Changes) -> list[EdgeVersion]:
    """Give the table after the changes."""
    retired = {replace(row, retired_at=None): row for row in changes.retired_rows}
    return [retired.get(row, row) for row in table] + list(changes.new_rows)


def as_of(
    edges: Iterable[EdgeVersion], valid_at: datetime | None = None, known_at: datetime | None = None
) -> list[EdgeVersion]:
    """Keep the edges that were true at `valid_at`, as known at `known_at`.

    Without `valid_at` edges of all times are kept; without `known_at` what is known now.

    Examples
    --------
    >>> start, end, told = (datetime(year, 1, 1) for year in (2015, 2020, 2021))
    >>> edge = EdgeVersion("ada", "lives in", "berlin", start, end, told)
    >>> [len(as_of([edge], datetime(year, 6, 1))) for year in (2014, 2015, 2020)]
    [0, 1, 0]
    >>> len(as_of([edge], datetime(2016, 1, 1), known_at=datetime(2020, 1, 1)))
    0
    """
    return [edge for edge in edges if _known(edge, known_at) and _true(edge, valid_at)]


def _known(edge: EdgeVersion, moment: datetime | None) -> bool:
    if moment is None:
        return edge.retired_at is None
    return edge.recorded_at <= moment and (edge.retired_at is None or moment < edge.retired_at)


def _true(edge: EdgeVersion, moment: datetime | None) -> bool:
    if moment is None:
        return True
    begun = edge.valid_from is None or edge.valid_from <= moment
    point = edge.valid_from is not None and edge.valid_from == edge.valid_to == moment
    return point or (begun and (edge.valid_to is None or moment < edge.valid_to))


def _fact(row: EdgeVersion) -> tuple[object, ...]:
    return row.src, row.relation, row.dst, row.valid_from, row.valid_to
