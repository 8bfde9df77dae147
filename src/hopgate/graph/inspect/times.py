"""The graph along its two times: how far they reach, what changed between two moments, and what contradicts what."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.graph.inspect.edges import Edge, edge_of, named
from hopgate.store.graph import edge_rows
from hopgate.store.graph.visible import View
from hopgate.times import utc

if TYPE_CHECKING:
    from psycopg import Connection

AXES = ("valid", "known")


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """From when to when edges are true, and from when to when they became known; None where no edge has a date."""

    valid_from: datetime | None
    valid_to: datetime | None
    known_from: datetime | None
    known_to: datetime | None


@dataclass(frozen=True, slots=True)
class EdgeChanges:
    """The edges that began and those that ended between two moments."""

    began: tuple[Edge, ...]
    ended: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two edges that cannot both hold; `settled` where the newer one ended the older one."""

    older: Edge
    newer: Edge
    settled: bool


@dataclass(frozen=True, slots=True)
class SupersededMemory:
    """A memory that gave way to another, since when and why."""

    memory: str
    by: str | None
    since: datetime
    reason: str


def span(connection: Connection[Any], view: View) -> TimeSpan:
    """How far the two times reach."""
    return TimeSpan(*edge_rows.span(connection, view))


def history(connection: Connection[Any], view: View, name: str, *, limit: int) -> list[Edge]:
    """Every version of a concept's edges, in the order of valid time; those with `retired_at` are believed no more."""
    concepts = named(connection, view, name)
    return [edge_of(row) for row in edge_rows.versions(connection, view, concepts, limit=limit)]


def period(since: datetime, until: datetime, axis: str) -> tuple[datetime, datetime]:
    """Give two moments in UTC; a time that there is not, or moments the wrong way round, are refused."""
    if axis not in AXES:
        raise HopgateError(f"there is no time {axis!r}: say valid (when it was true) or known (when it was known)")
    first, last = utc(since), utc(until)
    if first > last:
        raise HopgateError("the first date is after the second one: exchange them")
    return first, last


def changes(
    connection: Connection[Any], view: View, since: datetime, until: datetime, *, axis: str, limit: int
) -> EdgeChanges:
    """What began and what ended after `since` and up to `until`, in valid time or in known time."""
    first, last = period(since, until, axis)
    rows = [edge_rows.begun(connection, view, axis, first, last, ended=ended, limit=limit) for ended in (False, True)]
    began, ended = (tuple(edge_of(row) for row in some) for some in rows)
    return EdgeChanges(began, ended)


def conflicts(connection: Connection[Any], view: View, name: str | None, *, limit: int) -> list[Conflict]:
    """Edges that contradict each other, settled or not, of the whole graph or of one concept; the latest first."""
    concepts = None if name is None else named(connection, view, name)
    pairs = edge_rows.conflicts(connection, view, concepts, limit=limit)
    known = edge_rows.by_id(connection, view, sorted({key for older, newer, _ in pairs for key in (older, newer)}))
    return [Conflict(edge_of(known[older]), edge_of(known[newer]), bool(ended)) for older, newer, ended in pairs]


def superseded(connection: Connection[Any], view: View, *, limit: int) -> list[SupersededMemory]:
    """Memories that gave way to others, the last one first."""
    rows = edge_rows.superseded(connection, view, limit=limit)
    return [SupersededMemory(m, by, since, why or "") for m, by, since, why in rows]
