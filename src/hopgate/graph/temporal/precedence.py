"""What follows from everything said about a source: which edges held, and when. A pure function of the set of facts.

An interval is half open: it holds its first moment and not its last. No `valid_from` means that nobody said since when;
no `valid_to` that nobody said it ended. A fact without a start was at least true when it was observed: `observed_at` (a
memory's `created_at`), or else when it was recorded.

1. The same fact said again over the same time is one edge with more evidence. One without an end ends where another
   statement of the same fact says that it ended.
2. Where a relation is single-valued, facts with other objects contradict each other where their intervals overlap, and
   the one that began later holds; of two that began together the one recorded later; of two recorded together both,
   for nothing tells them apart. A fact without an end is over when the next begins; one with a stated end holds again
   after an interruption that ended before it.
3. A fact without a start reaches back from its observation to where another one ends.

Nothing here depends on the order in which facts arrive, except where only that can decide (of two that began together).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from hopgate.errors import HopgateError

# A moment that sorts: before all time, a date, after all time.
_Moment = tuple[int, datetime | None]
_EVER: _Moment = (0, None)
_NEVER: _Moment = (2, None)


@dataclass(frozen=True, slots=True)
class EdgeVersion:
    """A typed relation between two concepts: when it was true, when that was known, and the memories that say so.

    Examples
    --------
    >>> EdgeVersion("ada", "lives in", "berlin", datetime(2020, 1, 1), None, datetime(2021, 1, 1)).retired_at is None
    True
    """

    src: Hashable
    relation: str
    dst: Hashable
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    retired_at: datetime | None = None
    evidence: tuple[Hashable, ...] = ()
    observed_at: datetime | None = None

    def __post_init__(self) -> None:
        if self.valid_from is not None and self.valid_to is not None and self.valid_to < self.valid_from:
            raise HopgateError(f"an edge cannot end ({self.valid_to}) before it begins ({self.valid_from})")


@dataclass(frozen=True, slots=True)
class _Stroke:
    """A fact said, as it competes with others: from `start`, where none was said from its observation."""

    said: EdgeVersion
    start: _Moment
    end: _Moment
    assumed: bool  # no start was said


def believe(said: Iterable[EdgeVersion], single_valued: Collection[str] = ()) -> tuple[EdgeVersion, ...]:
    """Derive the edges that hold from all facts said; each row's `recorded_at` is that of its latest evidence.

    Examples
    --------
    >>> def moved(dst, year):
    ...     start, told = datetime(year, 1, 1), datetime(2024, 1, 1)
    ...     return EdgeVersion("ada", "lives in", dst, start, None, told, evidence=(dst,))
    >>> for edge in believe([moved("munich", 2020), moved("berlin", 2015)], {"lives in"}):
    ...     print(edge.dst, edge.valid_from.year, edge.valid_to and edge.valid_to.year)
    berlin 2015 2020
    munich 2020 None
    """
    groups: dict[tuple[Hashable, ...], list[EdgeVersion]] = defaultdict(list)
    for edge in dict.fromkeys(said):
        groups[group_of(edge, single_valued)].append(edge)
    return tuple(row for group in groups.values() for row in _hold(group))


def group_of(edge: EdgeVersion, single_valued: Collection[str]) -> tuple[Hashable, ...]:
    """Name what may supersede an edge: its source and relation where that is single-valued, else its object too."""
    return (edge.src, edge.relation) if edge.relation in single_valued else (edge.src, edge.relation, edge.dst)


def _hold(group: list[EdgeVersion]) -> Iterator[EdgeVersion]:
    points = [edge for edge in group if edge.valid_from is not None and edge.valid_from == edge.valid_to]
    strokes = [_ended(stroke, group) for stroke in map(_stroke, group) if stroke.said not in points]
    strokes = [_interrupted(stroke, strokes) for stroke in strokes]
    pieces = {stroke: list(_uncovered(stroke, strokes)) for stroke in strokes}
    by_object: dict[Hashable, list[tuple[_Moment, _Moment, EdgeVersion]]] = defaultdict(list)
    for stroke, kept in pieces.items():
        for start, end in kept:
            reached = _reach(stroke, pieces) if stroke.assumed and start == stroke.start else start
            by_object[stroke.said.dst].append((reached, end, stroke.said))
    rows = [row for found in by_object.values() for row in _coalesced(found)]
    rows += [row for same in _alike(points) for row in same]
    return iter(sorted(rows, key=lambda row: (_first(row), _last(row), str(row.dst))))


def _stroke(edge: EdgeVersion) -> _Stroke:
    seen = (1, edge.observed_at or edge.recorded_at)
    if edge.valid_from is None and seen < _last(edge):
        return _Stroke(edge, seen, _last(edge), assumed=True)
    return _Stroke(edge, _first(edge), _last(edge), assumed=False)


def _ended(stroke: _Stroke, group: list[EdgeVersion]) -> _Stroke:
    """A fact said without an end ends where the same fact is said to have ended."""
    if stroke.end != _NEVER:
        return stroke
    ends = [_last(other) for other in group if other.dst == stroke.said.dst and stroke.start < _last(other)]
    return replace(stroke, end=min(ends))


def _interrupted(stroke: _Stroke, strokes: list[_Stroke]) -> _Stroke:
    """A fact said without an end is over when the next one begins."""
    if stroke.said.valid_to is not None:
        return stroke
    next_starts = [other.start for other in strokes if _beats(other, stroke) and other.start < stroke.end]
    return replace(stroke, end=max(stroke.start, min([*next_starts, stroke.end])))


def _beats(one: _Stroke, other: _Stroke) -> bool:
    rivals = one.said.dst != other.said.dst
    return rivals and (one.start, one.said.recorded_at) > (other.start, other.said.recorded_at)


def _uncovered(stroke: _Stroke, strokes: list[_Stroke]) -> Iterator[tuple[_Moment, _Moment]]:
    """What is left of a stroke when those that beat it are laid over it."""
    at = stroke.start
    for start, end in sorted((other.start, other.end) for other in strokes if _beats(other, stroke)):
        if at < min(start, stroke.end):
            yield at, min(start, stroke.end)
        at = max(at, end)
    if at < stroke.end:
        yield at, stroke.end


def _reach(stroke: _Stroke, pieces: dict[_Stroke, list[tuple[_Moment, _Moment]]]) -> _Moment:
    """How far back a fact without a start reaches from its observation: to where a rival's time ends."""
    rivals = [piece for other, kept in pieces.items() if other.said.dst != stroke.said.dst for piece in kept]
    return max([min(end, stroke.start) for start, end in rivals if start < stroke.start], default=_EVER)


def _coalesced(found: list[tuple[_Moment, _Moment, EdgeVersion]]) -> Iterator[EdgeVersion]:
    """One row for the pieces of a fact that overlap; pieces that only meet are different facts."""
    found = sorted(found, key=lambda piece: piece[:2])
    while found:
        start, end, first = found[0]
        together = [first]
        rest = found[1:]
        while rest and rest[0][0] < end:
            end = max(end, rest[0][1])
            together.append(rest.pop(0)[2])
        yield _row(together, start, end)
        found = rest


def _alike(points: list[EdgeVersion]) -> Iterator[Iterator[EdgeVersion]]:
    for point in {(edge.dst, edge.valid_from): edge for edge in points}.values():
        same = [edge for edge in points if (edge.dst, edge.valid_from) == (point.dst, point.valid_from)]
        yield iter([_row(same, _first(point), _last(point))])


def _row(together: list[EdgeVersion], start: _Moment, end: _Moment) -> EdgeVersion:
    evidence = dict.fromkeys(memory for edge in sorted(together, key=_said_order) for memory in edge.evidence)
    return replace(
        together[0],
        valid_from=start[1],
        valid_to=end[1],
        recorded_at=max(edge.recorded_at for edge in together),
        retired_at=None,
        evidence=tuple(evidence),
        observed_at=None,
    )


def _said_order(edge: EdgeVersion) -> tuple[datetime, str]:
    return edge.recorded_at, str(edge.evidence)


def _first(edge: EdgeVersion) -> _Moment:
    return _EVER if edge.valid_from is None else (1, edge.valid_from)


def _last(edge: EdgeVersion) -> _Moment:
    return _NEVER if edge.valid_to is None else (1, edge.valid_to)
