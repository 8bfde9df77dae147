"""How one fact ends another: which edges hold, and when, given every fact. Pure functions of the set of facts.

Ends come from two places: the rules here, and what notes state themselves, whose facts `build/changes.py` ends.
An interval is half open: it holds its first moment and not its last. No `valid_from` means that no fact says since
when; no `valid_to` that none says it ended. At any moment a group has one target that holds at most, but for facts
that were recorded together.

1. Only facts of one group meet: of one source and relation where the relation is single-valued, else of one source,
   relation and target. The functions here get the facts of one group.
2. A fact begins at `valid_from`; where it has none, it was at least true when it was recorded. In a group the fact that
   began later holds; of two that began together the one recorded later; of two recorded together both.
3. A fact without an end is over where the next with another target begins, or where another statement of the same
   target says that it ended. One with an end holds again after an interruption that ended before it. One that was over
   when it was recorded ("moved away from") begins where another says that it began.
4. A dated open fact that was recorded later than an undated one wins over it even where its date lies before the
   other's recording ("since February", told in March): the undated one is over from that date. Only where the date is
   no more than a year old when it is told: "moved there in 2019", told in 2024, may be long over. So is one over that
   is told together with its end: a list has "led by Mia", and its log that Noor leads since May.
5. A fact without a start reaches back from its recording to where the one before it ends, or to where another statement
   of the same target says that it began.
6. Equal facts are one edge with more evidence. Confidence decides nothing here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import attrgetter

from hopgate.errors import HopgateError

STILL_NEWS = timedelta(days=366)
"""How old the date of a fact may be when it is told, so that the fact ends what was noted after that date."""

_ALWAYS, _NEVER = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class EdgeVersion:
    """That a group's source has this target: when that was true, when it was known, and the memories that say so.

    A recorded fact has this shape, and so has a row of the edges' table, which is derived from facts.
    """

    dst: Hashable
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    retired_at: datetime | None = None
    evidence: tuple[Hashable, ...] = ()

    def __post_init__(self) -> None:
        if self.last < self.first:
            raise HopgateError(f"an edge cannot end ({self.valid_to}) before it begins ({self.valid_from})")

    @property
    def first(self) -> datetime:
        """Its first moment, which is before all time where none is known."""
        return self.valid_from or _ALWAYS

    @property
    def last(self) -> datetime:
        """Its end, which is after all time where none is known."""
        return self.valid_to or _NEVER


def edge_history(facts: Iterable[EdgeVersion]) -> list[EdgeVersion]:
    """Give the rows of the edges' table: what was ever known of each edge, from `recorded_at` to `retired_at`.

    Facts are recorded in the order of their recording, those of one moment together. An edge whose interval changes
    gets a new row, and the row without the change its `retired_at`; further evidence makes no new row.
    """
    retired: list[EdgeVersion] = []
    rows: dict[tuple[object, ...], EdgeVersion] = {}
    known_facts: list[EdgeVersion] = []
    for now, facts_now in groupby(sorted(facts, key=attrgetter("recorded_at")), key=attrgetter("recorded_at")):
        known_facts += facts_now
        edges = {(edge.dst, edge.valid_from, edge.valid_to): edge for edge in current_edges(known_facts)}
        retired += [replace(row, retired_at=now) for key, row in rows.items() if key not in edges]
        rows = {
            key: replace(edge, recorded_at=rows[key].recorded_at if key in rows else now) for key, edge in edges.items()
        }
    return [*retired, *rows.values()]


def current_edges(facts: Iterable[EdgeVersion]) -> list[EdgeVersion]:
    """Derive the edges that follow from facts in any order, by time; `recorded_at` is that of the last evidence."""
    distinct = list(dict.fromkeys(facts))
    distinct = [_ended_by_later_news(fact, distinct) for fact in distinct]
    intervals = [_interval(fact, distinct) for fact in distinct if fact.first < fact.last]
    intervals = [interval.until_next(intervals) for interval in intervals]
    uncovered = {interval: list(_uncovered(interval, intervals)) for interval in intervals}
    pieces: dict[Hashable, list[_Piece]] = defaultdict(list)
    for interval, spans in uncovered.items():
        for start, end in spans:
            reaches_back = interval.start_assumed and start == interval.start
            first = _reach_back(interval, uncovered) if reaches_back else start
            pieces[interval.fact.dst].append((first, end, interval.fact))
    # A point in time neither ends another fact nor is ended.
    for fact in distinct:
        if fact.first == fact.last:
            pieces[fact.dst, fact.first].append((fact.first, fact.last, fact))
    edges = [edge for of_target in pieces.values() for edge in _joined(of_target)]
    return sorted(edges, key=lambda edge: (edge.first, edge.last, str(edge.dst)))


_Span = tuple[datetime, datetime]
_Piece = tuple[datetime, datetime, EdgeVersion]


@dataclass(frozen=True, slots=True)
class _Interval:
    """A fact's interval as it competes with others: from `start`, which is its recording where none was given."""

    fact: EdgeVersion
    start: datetime
    end: datetime
    start_assumed: bool

    def beats(self, other: _Interval) -> bool:
        """Whether this is of another target, and began later, or together with the other and was recorded later."""
        later = (self.start, self.fact.recorded_at) > (other.start, other.fact.recorded_at)
        return later and self.fact.dst != other.fact.dst

    def until_next(self, intervals: Sequence[_Interval]) -> _Interval:
        """Let one of which no end is known be over where the next begins."""
        next_starts = (other.start for other in intervals if other.beats(self))
        return self if self.fact.valid_to else replace(self, end=min(self.end, *next_starts, _NEVER))


def _ended_by_later_news(fact: EdgeVersion, facts: Sequence[EdgeVersion]) -> EdgeVersion:
    """Rule 4: end an undated fact where another began, by what was told after it was recorded, or with it.

    It keeps no time of its own: its note's day lies in the other's time, and it reaches back from where that begins.
    """
    if fact.valid_from is not None or fact.last <= fact.recorded_at:
        return fact
    said_together = (other for other in facts if (other.dst, other.recorded_at) == (fact.dst, fact.recorded_at))
    if ends := [other.valid_to for other in said_together if other.valid_to and not other.valid_from]:
        return replace(fact, valid_to=max(ends))
    other_starts = [
        other.valid_from
        for other in facts
        if other.valid_from is not None
        and other.valid_from <= fact.recorded_at < min(other.recorded_at, other.last)
        and other.dst != fact.dst
        and other.recorded_at - other.valid_from <= STILL_NEWS
    ]
    return replace(fact, valid_to=min(other_starts)) if other_starts else fact


def _interval(fact: EdgeVersion, facts: Sequence[EdgeVersion]) -> _Interval:
    """Where a fact begins and ends by itself and by the other facts of its target (rule 3)."""
    same_target = [other for other in facts if other.dst == fact.dst]
    start, end = fact.first, fact.last
    start_assumed = fact.valid_from is None and fact.recorded_at < end
    if start_assumed:
        start = fact.recorded_at
    elif fact.valid_from is None:  # it was over when it was recorded
        start = max(other.first for other in same_target if other.first < end)
    if fact.valid_to is None:
        end = min(other.last for other in same_target if start < other.last)
    return _Interval(fact, start, end, start_assumed)


def _uncovered(interval: _Interval, intervals: Sequence[_Interval]) -> Iterator[_Span]:
    """The parts of an interval that no interval which beats it covers, in the order of time."""
    at = interval.start
    for start, end in sorted((other.start, other.end) for other in intervals if other.beats(interval)):
        if at < min(start, interval.end):
            yield at, min(start, interval.end)
        at = max(at, end)
    if at < interval.end:
        yield at, interval.end


def _reach_back(interval: _Interval, uncovered: dict[_Interval, list[_Span]]) -> datetime:
    """Rule 5: how far back a fact without a start reaches, given the spans that remain of each interval."""
    bounds = [_ALWAYS]
    for other, spans in uncovered.items():
        if other.fact.dst != interval.fact.dst:
            bounds += [min(end, interval.start) for start, end in spans if start < interval.start]
        elif other.fact.valid_from is not None and other.start <= interval.start:
            bounds.append(other.start)
    return max(bounds)


def _joined(pieces: list[_Piece]) -> Iterator[EdgeVersion]:
    """One edge for the pieces of a target that overlap; pieces that only meet are different edges."""
    pieces = sorted(pieces, key=lambda piece: piece[:2])
    while pieces:
        start, end, first = pieces.pop(0)
        joined_facts = [first]
        while pieces and (pieces[0][0] < end or pieces[0][:2] == (start, end)):
            end = max(end, pieces[0][1])
            joined_facts.append(pieces.pop(0)[2])
        joined_facts.sort(key=lambda fact: (fact.recorded_at, str(fact.evidence)))
        yield replace(
            first,
            valid_from=None if start == _ALWAYS else start,
            valid_to=None if end == _NEVER else end,
            recorded_at=joined_facts[-1].recorded_at,
            retired_at=None,
            evidence=tuple(dict.fromkeys(memory for fact in joined_facts for memory in fact.evidence)),
        )
