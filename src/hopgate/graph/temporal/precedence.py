"""Which edges hold, and when, given every fact about a source. A pure function of the set of facts.

An interval is half open: it holds its first moment and not its last. No `valid_from` means that no fact says since
when; no `valid_to` that none says it ended. A fact without a start was at least true when it was recorded, which is
when its memory was made.

1. The same fact over the same time is one edge with more evidence. One without an end ends where another statement of
   the same fact says that it ended, and one that was over when it was recorded ("moved away from") begins where another
   says that it began.
2. Where a relation is single-valued, facts with other objects contradict each other where their intervals overlap, and
   the one that began later holds; of two that began together the one recorded later; of two recorded together both,
   for nothing decides between them. A fact without an end is over when the next begins; one with a stated end holds
   again after an interruption that ended before it. Of the relations in `TOLD` only a fact that says since when it
   holds ends another: Berlin lies in Brandenburg and in Germany, and neither sentence tells of a move.
3. A fact without a start reaches back from its recording to where another one ends, or where another statement of the
   same fact says that it began.
4. A date that is told counts for more than the day on which a fact without one was noted. Such a fact was over where
   another began, when that was told later and is said to hold still ("since February …"), or began in the very day,
   month or year in which the fact was noted. Not otherwise: "moved there in 2019" may be long over too.
5. A tentative fact counts where it may tell of a change: something else was stated before, and is not stated again
   later. A `Tentative.BESIDE` counts where its memory names what held before, and one other object beside it.
6. A doubted fact counts where nothing that is surer says otherwise from no later on: it ends none.

Nothing here depends on the order in which facts arrive, except where only that can decide (of two that began together).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from enum import IntEnum
from itertools import groupby

from hopgate.errors import HopgateError
from hopgate.extract.rules.role_table import SEVERAL
from hopgate.times import utc

TOLD = frozenset(("located in", "takes place", *SEVERAL))
"""Single-valued relations of which two plain statements may both hold: only a change that is told ends one."""
# A time that sorts: before all time, a date, after all time.
_Bound = tuple[int, datetime | None]
_ALWAYS: _Bound = (0, None)
_NEVER: _Bound = (2, None)


class Tentative(IntEnum):
    """How a fact was told: stated, allowed by the words of its sentence, or merely named beside what it may replace."""

    NO = 0
    ALONE = 1
    BESIDE = 2


@dataclass(frozen=True, slots=True)
class EdgeVersion:
    """A typed relation between two concepts: when it was true, when that was known, and the memories that say so.

    A fact as it was recorded has this shape, and so has a row of the edges' table that follows from facts.

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
    tentative: Tentative = Tentative.NO
    doubted: bool = False

    def __post_init__(self) -> None:
        if self.valid_from is not None and self.valid_to is not None and self.valid_to < self.valid_from:
            raise HopgateError(f"an edge cannot end ({self.valid_to}) before it begins ({self.valid_from})")


@dataclass(frozen=True, slots=True)
class _Interval:
    """A fact's interval as it competes with others: from `start`, which is its recording where none was given."""

    fact: EdgeVersion
    start: _Bound
    end: _Bound
    start_assumed: bool


def current_edges(facts: Iterable[EdgeVersion], single_valued: Collection[str] = ()) -> tuple[EdgeVersion, ...]:
    """Derive the edges that follow from all facts; each one's `recorded_at` is that of its latest evidence.

    Examples
    --------
    >>> def moved(dst, year):
    ...     start, recorded = datetime(year, 1, 1), datetime(2024, 1, 1)
    ...     return EdgeVersion("ada", "lives in", dst, start, None, recorded, evidence=(dst,))
    >>> for edge in current_edges([moved("munich", 2020), moved("berlin", 2015)], {"lives in"}):
    ...     print(edge.dst, edge.valid_from.year, edge.valid_to and edge.valid_to.year)
    berlin 2015 2020
    munich 2020 None
    """
    groups: dict[tuple[Hashable, ...], list[EdgeVersion]] = defaultdict(list)
    for fact in dict.fromkeys(facts):
        groups[group_of(fact, single_valued)].append(fact)
    return tuple(edge for group in groups.values() for edge in _edges_of_group(group))


def group_of(edge: EdgeVersion, single_valued: Collection[str]) -> tuple[Hashable, ...]:
    """Name what may supersede an edge: its source and relation where that is single-valued, else its object too."""
    return (edge.src, edge.relation) if edge.relation in single_valued else (edge.src, edge.relation, edge.dst)


def _edges_of_group(stated: list[EdgeVersion]) -> list[EdgeVersion]:
    if any(fact.doubted for fact in stated):
        sure = [fact for fact in stated if not (fact.doubted or fact.tentative)]
        stated = [fact for fact in stated if not (fact.doubted and _is_known_otherwise(fact, sure))]
    group = list(_believed(_holding_still(stated))) if any(fact.tentative for fact in stated) else stated
    group = [_over_by_then(fact, group) for fact in group]
    points = [fact for fact in group if fact.valid_from is not None and fact.valid_from == fact.valid_to]
    intervals = [_begun(interval, group) for interval in map(_interval, group) if interval.fact not in points]
    intervals = [_ended(interval, group) for interval in intervals]
    intervals = [_ended_by_next(interval, intervals) for interval in intervals]
    pieces = {interval: list(_uncovered(interval, intervals)) for interval in intervals}
    by_object: dict[Hashable, list[tuple[_Bound, _Bound, EdgeVersion]]] = defaultdict(list)
    for interval, kept in pieces.items():
        for start, end in kept:
            reaches_back = interval.start_assumed and start == interval.start
            first = _reach_back(interval, pieces) if reaches_back else start
            by_object[interval.fact.dst].append((first, end, interval.fact))
    edges = [edge for found in by_object.values() for edge in _coalesced(found)]
    edges += _point_edges(points)
    return sorted(edges, key=lambda edge: (_first(edge), _last(edge), str(edge.dst)))


def _is_known_otherwise(fact: EdgeVersion, sure: list[EdgeVersion]) -> bool:
    """Whether something surer says otherwise, from no later on."""
    return any(other.dst != fact.dst and place_in_order(other) <= place_in_order(fact) for other in sure)


def _holding_still(stated: list[EdgeVersion]) -> list[EdgeVersion]:
    """Count what is dated, and tentatively has no date too, as said to hold on the day of its memory as well.

    Where all say the same there is nothing to decide, and the second statement stays out.
    """
    if len({fact.dst for fact in stated if not fact.tentative}) < 2:
        return stated
    since = {
        (fact.dst, memory)
        for fact in stated
        if not fact.tentative and fact.valid_from is not None and fact.valid_to is None
        for memory in fact.evidence
    }
    return [
        replace(fact, tentative=Tentative.NO)
        if fact.tentative is Tentative.ALONE
        and _is_undated(fact)
        and any((fact.dst, memory) in since for memory in fact.evidence)
        else fact
        for fact in stated
    ]


def _over_by_then(fact: EdgeVersion, group: list[EdgeVersion]) -> EdgeVersion:
    """End a fact without a start where another began, by what was told after it was noted.

    It keeps no time of its own: nothing says since when it held, and its note's day lies in the other's time. So it
    reaches back from where the other begins, as one does of which a memory says that it was over by then.
    """
    if fact.valid_from is not None or (fact.valid_to is not None and fact.valid_to <= fact.recorded_at):
        return fact
    begun = [
        other.valid_from
        for other in group
        if other.valid_from is not None
        and other.valid_from <= fact.recorded_at < other.recorded_at
        and (other.valid_to is None or fact.recorded_at < other.valid_to)
        and _contradict(fact, other)
        and (may_mean(other.valid_from, fact.recorded_at) or _holds_still(other, group))
    ]
    return replace(fact, valid_to=min(begun)) if begun else fact


def _holds_still(fact: EdgeVersion, group: list[EdgeVersion]) -> bool:
    memories = set(fact.evidence)
    return any(_is_undated(one) and one.dst == fact.dst and not memories.isdisjoint(one.evidence) for one in group)


def _is_undated(fact: EdgeVersion) -> bool:
    return fact.valid_from is None and fact.valid_to is None


def may_mean(start: datetime, moment: datetime) -> bool:
    """Whether a moment lies in the day that a start stands for; one that begins a month or a year may stand for that.

    Examples
    --------
    >>> noted = datetime(2024, 5, 10, 9, 30)
    >>> [may_mean(datetime(2024, *start), noted) for start in ((5, 10), (5, 9), (5, 1), (1, 1), (5, 10, 9))]
    [True, False, True, True, False]
    """
    began, seen = (utc(one).astimezone(UTC) for one in (start, moment))
    if began.time() != time():
        return False
    exact = 1 if (began.month, began.day) == (1, 1) else 2 if began.day == 1 else 3
    return began.timetuple()[:exact] == seen.timetuple()[:exact]


def place_in_order(fact: EdgeVersion) -> datetime:
    """Where a fact stands in the order of what is told: at its start, or at its recording if that is all it says."""
    if fact.valid_from is None or may_mean(fact.valid_from, fact.recorded_at):
        return fact.recorded_at
    return fact.valid_from


def _believed(stated: list[EdgeVersion]) -> Iterator[EdgeVersion]:
    """The facts that are stated, and those of the tentative ones that tell of a change."""
    held: set[Hashable] = set()
    stated_open = [(place_in_order(fact), fact.dst) for fact in stated if not fact.tentative and fact.valid_to is None]
    for start, together in groupby(sorted(stated, key=_told), key=place_in_order):
        facts = list(together)
        sure = [fact for fact in facts if not fact.tentative]
        again = {dst for told, dst in stated_open if told > start}
        # What is stated to be over leaves room for what may be so since.
        stated_anew = any(fact.valid_to is None for fact in sure)
        maybe = [fact for fact in facts if fact.tentative and held and not (stated_anew or held & again)]
        told = [*sure, *(fact for fact in maybe if fact.dst not in held and _tells_change(fact, maybe, held))]
        yield from told
        held = {fact.dst for fact in told if fact.valid_to is None} or held


def _tells_change(fact: EdgeVersion, maybe: list[EdgeVersion], held: set[Hashable]) -> bool:
    if fact.tentative is Tentative.ALONE:
        return True
    named = {other.dst for other in maybe if set(other.evidence) & set(fact.evidence)}
    return bool(named & held) and len(named - held) == 1


def _told(fact: EdgeVersion) -> tuple[datetime, datetime, str]:
    return place_in_order(fact), fact.recorded_at, str(fact.dst)


def _interval(fact: EdgeVersion) -> _Interval:
    recorded = (1, fact.recorded_at)
    if fact.valid_from is None and recorded < _last(fact):
        return _Interval(fact, recorded, _last(fact), start_assumed=True)
    return _Interval(fact, _first(fact), _last(fact), start_assumed=False)


def _begun(interval: _Interval, group: list[EdgeVersion]) -> _Interval:
    """A fact that was over when it was recorded, and has no start, begins where another statement of it begins."""
    if interval.start != _ALWAYS:
        return interval
    starts = [_first(other) for other in group if other.dst == interval.fact.dst and _first(other) < interval.end]
    return replace(interval, start=max(starts))


def _ended(interval: _Interval, group: list[EdgeVersion]) -> _Interval:
    """A fact without an end ends where another statement of the same fact ends."""
    if interval.end != _NEVER:
        return interval
    ends = [_last(other) for other in group if other.dst == interval.fact.dst and interval.start < _last(other)]
    return replace(interval, end=min(ends))


def _ended_by_next(interval: _Interval, intervals: list[_Interval]) -> _Interval:
    """A fact without an end is over when the next one begins."""
    if interval.fact.valid_to is not None:
        return interval
    next_starts = [other.start for other in intervals if _beats(other, interval) and other.start < interval.end]
    return replace(interval, end=max(interval.start, min([*next_starts, interval.end])))


def _contradict(one: EdgeVersion, other: EdgeVersion) -> bool:
    told = one.relation not in TOLD or one.valid_from is not None or other.valid_from is not None
    return told and one.dst != other.dst


def _beats(one: _Interval, other: _Interval) -> bool:
    if one.fact.relation in TOLD and one.fact.valid_from is None:
        return False
    return _contradict(one.fact, other.fact) and (one.start, one.fact.recorded_at) > (
        other.start,
        other.fact.recorded_at,
    )


def _uncovered(interval: _Interval, intervals: list[_Interval]) -> Iterator[tuple[_Bound, _Bound]]:
    """The parts of an interval that none of those which beat it covers."""
    at = interval.start
    for start, end in sorted((other.start, other.end) for other in intervals if _beats(other, interval)):
        if at < min(start, interval.end):
            yield at, min(start, interval.end)
        at = max(at, end)
    if at < interval.end:
        yield at, interval.end


def _reach_back(interval: _Interval, pieces: dict[_Interval, list[tuple[_Bound, _Bound]]]) -> _Bound:
    """How far back a fact without a start reaches from its recording: to where a rival's time ends, or it began."""
    rivals = [piece for other, kept in pieces.items() if _contradict(other.fact, interval.fact) for piece in kept]
    ends = [min(end, interval.start) for start, end in rivals if start < interval.start]
    same = [other for other in pieces if other.fact.dst == interval.fact.dst and other.fact.valid_from is not None]
    return max([*ends, *(other.start for other in same if other.start <= interval.start)], default=_ALWAYS)


def _coalesced(found: list[tuple[_Bound, _Bound, EdgeVersion]]) -> Iterator[EdgeVersion]:
    """One edge for the pieces of a fact that overlap; pieces that only meet are different edges."""
    found = sorted(found, key=lambda piece: piece[:2])
    while found:
        start, end, first = found[0]
        together = [first]
        rest = found[1:]
        while rest and rest[0][0] < end:
            end = max(end, rest[0][1])
            together.append(rest.pop(0)[2])
        yield _edge(together, start, end)
        found = rest


def _point_edges(points: list[EdgeVersion]) -> Iterator[EdgeVersion]:
    """One edge for the facts of one object and one instant; a point neither ends another fact nor is ended."""
    for first in {(fact.dst, fact.valid_from): fact for fact in points}.values():
        same = [fact for fact in points if (fact.dst, fact.valid_from) == (first.dst, first.valid_from)]
        yield _edge(same, _first(first), _last(first))


def _edge(facts: list[EdgeVersion], start: _Bound, end: _Bound) -> EdgeVersion:
    ordered = sorted(facts, key=lambda fact: (fact.recorded_at, str(fact.evidence)))
    return replace(
        facts[0],
        tentative=Tentative.NO,
        valid_from=start[1],
        valid_to=end[1],
        recorded_at=max(fact.recorded_at for fact in facts),
        retired_at=None,
        evidence=tuple(dict.fromkeys(memory for fact in ordered for memory in fact.evidence)),
    )


def _first(edge: EdgeVersion) -> _Bound:
    return _ALWAYS if edge.valid_from is None else (1, edge.valid_from)


def _last(edge: EdgeVersion) -> _Bound:
    return _NEVER if edge.valid_to is None else (1, edge.valid_to)
