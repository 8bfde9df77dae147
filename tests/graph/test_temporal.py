"""How one fact ends another: Allen's relations, open ends, what is told later, any order of arrival, nothing lost."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import permutations

import pytest
from graph_world import visible
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.graph.temporal import EdgeVersion, current_edges, edge_history

SINGLE = frozenset({"lives in"})
DAY = timedelta(days=1)
EPOCH = datetime(2020, 1, 1)

# The thirteen relations of one interval to [10, 20).
ALLEN = {
    "before": (2, 8),
    "meets": (5, 10),
    "overlaps": (5, 15),
    "finished by": (5, 20),
    "contains": (5, 25),
    "starts": (10, 15),
    "equals": (10, 20),
    "started by": (10, 25),
    "during": (12, 18),
    "finishes": (15, 20),
    "overlapped by": (15, 25),
    "met by": (20, 25),
    "after": (22, 28),
}


def day(number: int | None) -> datetime | None:
    return None if number is None else EPOCH + number * DAY


def at(number: int) -> datetime:
    return EPOCH + number * DAY


def fact(
    dst: str, start: int | None, end: int | None, recorded: int, relation: str = "lives in", src: str = "ada"
) -> EdgeVersion:
    return EdgeVersion(src, relation, dst, day(start), day(end), at(1000 + recorded), evidence=(f"m{recorded}",))


def spans(rows: list[EdgeVersion] | tuple[EdgeVersion, ...], dst: str) -> list[tuple[int | None, int | None]]:
    def number(moment: datetime | None) -> int | None:
        return None if moment is None else (moment - EPOCH).days

    return [(number(row.valid_from), number(row.valid_to)) for row in rows if row.dst == dst]


def as_of(
    table: list[EdgeVersion], valid_at: datetime | None = None, known_at: datetime | None = None
) -> list[EdgeVersion]:
    return [edge for edge in table if visible(edge, valid_at, known_at)]


def holders(table: list[EdgeVersion], moment: int, known: int | None = None) -> set[object]:
    return {edge.dst for edge in as_of(table, at(moment), None if known is None else at(1000 + known))}


@pytest.mark.parametrize(("name", "interval"), ALLEN.items())
def test_the_same_fact_in_each_of_allens_relations(name: str, interval: tuple[int, int]) -> None:
    table = edge_history([fact("berlin", 10, 20, 1), fact("berlin", *interval, 2)], SINGLE)
    current = as_of(table)
    apart = name in {"before", "meets", "met by", "after"}
    assert len(current) == (2 if apart else 1)  # disjoint intervals are different facts
    for moment in range(30):
        said = 10 <= moment < 20 or interval[0] <= moment < interval[1]
        assert holders(table, moment) == ({"berlin"} if said else set())
    if not apart:
        assert current[0].evidence == ("m1", "m2")


@pytest.mark.parametrize(("name", "interval"), ALLEN.items())
@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_a_contradiction_in_each_of_allens_relations(
    name: str, interval: tuple[int, int], order: tuple[int, int]
) -> None:
    said = [fact("berlin", 10, 20, order[0]), fact("munich", *interval, order[1])]
    table = edge_history(said, SINGLE)
    later_recorded = "berlin" if order == (2, 1) else "munich"
    for moment in range(30):
        covering = {
            dst: start
            for dst, (start, end) in {"berlin": (10, 20), "munich": interval}.items()
            if start <= moment < end
        }
        if len(covering) == 2:
            began = set(covering.values())
            winner = later_recorded if len(began) == 1 else max(covering, key=lambda dst: covering[dst])
            assert holders(table, moment) == {winner}, (name, moment)
        else:
            assert holders(table, moment) == set(covering), (name, moment)


@pytest.mark.parametrize(("name", "interval"), ALLEN.items())
def test_relations_that_are_not_single_valued_never_contradict(name: str, interval: tuple[int, int]) -> None:
    first, second = fact("berlin", 10, 20, 1, "visited"), fact("munich", *interval, 2, "visited")
    assert set(edge_history([first, second], SINGLE)) == {first, second}


def test_a_move_closes_the_old_edge_and_retires_the_row_that_said_otherwise() -> None:
    berlin = fact("berlin", 10, None, 1)
    table = edge_history([berlin, fact("munich", 50, None, 2)], SINGLE)
    current = as_of(table)
    assert spans(current, "berlin") == [(10, 50)] and spans(current, "munich") == [(50, None)]
    assert replace(berlin, retired_at=at(1002)) in table
    assert holders(table, 60) == {"munich"}
    assert holders(table, 60, known=1) == {"berlin"}
    assert holders(table, 20) == {"berlin"}


def test_an_older_fact_that_arrives_late_takes_its_place_in_the_past() -> None:
    munich = fact("munich", 50, None, 1)
    table = edge_history([munich, fact("berlin", 10, None, 2)], SINGLE)
    assert munich in table and spans(table, "berlin") == [(10, 50)]


def test_more_evidence_makes_no_new_row() -> None:
    [row] = edge_history([fact("berlin", 10, 20, 1), fact("berlin", 10, 20, 2)], SINGLE)
    assert row.evidence == ("m1", "m2") and (row.recorded_at, row.retired_at) == (at(1001), None)


def test_a_stated_end_ends_what_was_said_without_one() -> None:
    for said in permutations([fact("berlin", 15, None, 1), fact("berlin", 16, 17, 2), fact("berlin", 18, None, 3)]):
        table = edge_history([replace(edge, recorded_at=at(1000 + n)) for n, edge in enumerate(said)], SINGLE)
        assert [holders(table, moment) for moment in (15, 16, 17, 18, 99)] == [
            {"berlin"},
            {"berlin"},
            set(),
            {"berlin"},
            {"berlin"},
        ]


def test_moving_back_is_a_new_edge() -> None:
    table = edge_history(
        [fact("berlin", 10, None, 1), fact("munich", 20, None, 2), fact("berlin", 30, None, 3)], SINGLE
    )
    current = as_of(table)
    assert spans(current, "berlin") == [(10, 20), (30, None)]
    assert spans(current, "munich") == [(20, 30)]


def test_what_has_a_stated_end_holds_again_after_an_interruption() -> None:
    rows = current_edges([fact("berlin", 10, 40, 1), fact("munich", 20, 25, 2)], SINGLE)
    assert spans(rows, "berlin") == [(10, 20), (25, 40)]


def test_facts_without_a_start_reach_back_from_their_recording() -> None:
    seen = [
        EdgeVersion("ada", "lives in", "berlin", None, None, at(10)),
        EdgeVersion("ada", "lives in", "munich", None, None, at(30)),
    ]
    rows = current_edges(seen, SINGLE)
    assert spans(rows, "berlin") == [(None, 30)]
    assert spans(rows, "munich") == [(30, None)]
    # A dated fact between them is neither overrun nor reached over.
    rows = current_edges([*seen, fact("rome", 15, 20, 5)], SINGLE)
    assert (spans(rows, "berlin"), spans(rows, "rome"), spans(rows, "munich")) == (
        [(None, 15)],
        [(15, 20)],
        [(20, None)],
    )


def test_what_nothing_tells_apart_stays_and_is_visible_as_a_conflict() -> None:
    table = edge_history([fact("berlin", 10, None, 1), fact("munich", 10, None, 1)], SINGLE)
    assert holders(table, 20) == {"berlin", "munich"}


def test_a_moment_is_an_interval_too() -> None:
    table = edge_history([fact("berlin", 10, 10, 1), fact("berlin", 10, 10, 2), fact("munich", 5, None, 3)], SINGLE)
    assert holders(table, 10) == {"berlin", "munich"}
    assert holders(table, 11) == {"munich"}
    assert [row.evidence for row in as_of(table) if row.dst == "berlin"] == [("m1", "m2")]


def test_an_edge_cannot_end_before_it_begins() -> None:
    with pytest.raises(HopgateError, match="before it begins"):
        fact("berlin", 10, 9, 1)


moments = st.integers(0, 30)


@st.composite
def facts(draw: st.DrawFn, dated: bool = False) -> list[EdgeVersion]:
    """Facts about two sources, with open ends; where `dated`, each begins at a time of its own."""
    count = draw(st.integers(1, 6))
    starts: list[int | None] = list(draw(st.lists(moments, min_size=count, max_size=count, unique=dated)))
    if not dated:
        starts = [draw(st.one_of(st.none(), st.just(start))) for start in starts]
    said = []
    for number, start in enumerate(starts):
        length = draw(st.one_of(st.none(), st.integers(1, 20)))
        end = None if length is None else (start or 0) + length
        said.append(
            fact(draw(st.sampled_from("abc")), start, end, number, src=draw(st.sampled_from(["ada", "ada", "bob"])))
        )
    return said


@settings(max_examples=150, deadline=None)
@given(facts(dated=True), st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter_where_dates_are_known(said: list[EdgeVersion], random: object) -> None:
    shuffled = list(said)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    arrivals = [
        edge_history([replace(edge, recorded_at=at(1000 + number)) for number, edge in enumerate(order)], SINGLE)
        for order in (said, shuffled)
    ]
    for src in ("ada", "bob"):
        for moment in range(-1, 55):
            answers = [{edge.dst for edge in as_of(table, at(moment)) if edge.src == src} for table in arrivals]
            assert answers[0] == answers[1]


def _began(over: EdgeVersion, said: list[EdgeVersion]) -> datetime:
    """Since when a fact holds of which only the end was told, by what was known when it was."""
    same = [other for other in said if (other.src, other.dst) == (over.src, over.dst)]
    known = [other.valid_from for other in same if other.recorded_at <= over.recorded_at and other.valid_from]
    return max((start for start in known if over.valid_to and start < over.valid_to), default=at(-1000))


def test_a_move_away_ends_what_was_begun_and_claims_nothing_before_it() -> None:
    """Turku, then Malmo, then back: that Malmo was left says nothing of the time before Turku."""
    moves = [fact("turku", 10, None, 10), fact("malmo", 20, None, 20), fact("turku", None, 20, 20)]
    moves += [fact("turku", 30, None, 30), fact("malmo", None, 30, 30)]
    rows = current_edges(moves, SINGLE)
    assert spans(rows, "turku") == [(10, 20), (30, None)] and spans(rows, "malmo") == [(20, 30)]


@settings(max_examples=150, deadline=None)
@given(facts())
def test_no_fact_is_ever_lost(said: list[EdgeVersion]) -> None:
    """Whatever comes later: rows are added, and may be retired once; nothing else about them changes."""
    before: list[EdgeVersion] = []
    for number in range(len(said)):
        table = edge_history(said[: number + 1], SINGLE)
        rows = {replace(row, retired_at=None, evidence=()) for row in table}
        assert {replace(row, retired_at=None, evidence=()) for row in before} <= rows
        assert all(row in table for row in before if row.retired_at is not None)
        before = table
    for edge in said:
        assumed = edge.valid_from is None and (edge.valid_to is None or edge.valid_to > edge.recorded_at)
        first = edge.recorded_at if assumed else edge.valid_from or _began(edge, said)
        known = as_of(before, first, edge.recorded_at)
        assert any(
            row.dst == edge.dst and set(edge.evidence) <= set(row.evidence) for row in known if row.src == edge.src
        )


@settings(max_examples=150, deadline=None)
@given(facts())
def test_a_single_valued_relation_has_one_value_at_a_time(said: list[EdgeVersion]) -> None:
    table = edge_history(said, SINGLE)
    for moment in range(-1, 55):
        for src in ("ada", "bob"):
            assert len({edge.dst for edge in as_of(table, at(moment)) if edge.src == src}) <= 1


@settings(max_examples=100, deadline=None)
@given(facts())
def test_step_by_step_and_at_once_agree(said: list[EdgeVersion]) -> None:
    rows = [replace(row, recorded_at=EPOCH) for row in as_of(edge_history(said, SINGLE))]
    assert set(rows) == {replace(row, recorded_at=EPOCH) for row in current_edges(said, SINGLE)}


JOBS = frozenset({"works at", "located in"})


def on(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=UTC)


def said(dst: str, start: str | None, told: str, end: str | None = None, relation: str = "works at") -> EdgeVersion:
    recorded = datetime.fromisoformat(told).replace(tzinfo=UTC)
    return EdgeVersion("lena", relation, dst, on(start), on(end), recorded, evidence=(told,))


def spans_of(facts: list[EdgeVersion]) -> dict[object, list[tuple[str | None, str | None]]]:
    """The intervals of each object, however the facts arrive."""
    found = [current_edges(order, JOBS) for order in permutations(facts)]
    assert all(set(edges) == set(found[0]) for edges in found)
    result: dict[object, list[tuple[str | None, str | None]]] = {}
    for edge in found[0]:
        first, last = (moment and moment.strftime("%Y-%m-%d") for moment in (edge.valid_from, edge.valid_to))
        result.setdefault(edge.dst, []).append((first, last))
    return result


def test_what_is_said_to_hold_since_before_an_undated_note_is_not_ended_by_that_note() -> None:
    siemens = said("siemens", None, "2024-03-01")
    facts = [siemens, said("bosch", "2024-02-01", "2024-03-02")]
    assert spans_of(facts) == {"siemens": [(None, "2024-02-01")], "bosch": [("2024-02-01", None)]}
    # What was known on the first of March is still known to have been known.
    table = edge_history(facts, JOBS)
    known = [edge for edge in table if edge.recorded_at == siemens.recorded_at]
    assert [(edge.dst, edge.valid_to) for edge in known] == [("siemens", None)]


def test_what_is_noted_after_it_ends_it() -> None:
    facts = [
        said("siemens", None, "2024-03-01"),
        said("bosch", "2024-02-01", "2024-03-02"),
        said("siemens", None, "2025-01-05"),
    ]
    assert spans_of(facts) == {
        "siemens": [(None, "2024-02-01"), ("2025-01-05", None)],
        "bosch": [("2024-02-01", "2025-01-05")],
    }


def test_what_is_told_of_the_past_does_not_end_what_a_note_says_to_be_so() -> None:
    siemens = said("siemens", None, "2024-03-01")
    for past in (
        said("bmw", "2019-01-01", "2024-03-02", "2021-01-01"),
        said("bmw", None, "2024-03-02", "2020-01-01"),
        said("bmw", "2019-01-01", "2024-03-02"),  # "moved to … in 2019": it may be long over
    ):
        assert spans_of([siemens, past])["siemens"][-1][1] is None


def test_dates_that_are_told_are_never_changed() -> None:
    facts = [said("siemens", "2024-02-15", "2024-03-01"), said("bosch", "2024-02-01", "2024-03-02")]
    assert ("2024-02-01", "2024-02-15") in spans_of(facts)["bosch"]
    assert spans_of(facts)["siemens"][0][0] == "2024-02-15"


def test_a_change_told_on_the_day_of_a_state_comes_after_it() -> None:
    """A date is a whole day, month or year: what was seen in it and told before is what was before."""
    for start, seen, told in (
        ("2024-05-10", "2024-05-10T09:00", "2024-05-10T11:00"),
        ("2024-05-10", "2024-05-10T09:00", "2024-05-11T11:00"),
        ("2024-05-01", "2024-05-20T09:00", "2024-06-02T11:00"),
        ("2024-01-01", "2024-03-20T09:00", "2024-12-02T11:00"),
    ):
        for relation in sorted(JOBS):
            facts = [said("otter", None, seen, relation=relation), said("badger", start, told, relation=relation)]
            assert spans_of(facts) == {"otter": [(None, start)], "badger": [(start, None)]}, (start, relation)
    # Told before it, it is over; told long after the day it began, it was a date of its own.
    assert spans_of([said("badger", "2024-05-10", "2024-05-10T08:00"), said("otter", None, "2024-05-10T09:00")]) == {
        "badger": [("2024-05-10", "2024-05-10")],
        "otter": [("2024-05-10", None)],
    }


def test_a_day_is_a_day_of_utc_whatever_the_zone_of_the_session() -> None:
    otter, badger = said("otter", None, "2024-05-10T09:00"), said("badger", "2024-05-10", "2024-05-10T11:00")
    zone = timezone(timedelta(hours=-7))
    moved = [
        replace(
            fact,
            valid_from=fact.valid_from and fact.valid_from.astimezone(zone),
            recorded_at=fact.recorded_at.astimezone(zone),
        )
        for fact in (otter, badger)
    ]
    assert current_edges(moved, JOBS) == current_edges([otter, badger], JOBS)


def test_a_plain_statement_reaches_back_no_further_than_where_it_is_said_to_have_begun() -> None:
    assert spans_of([said("badger", "2024-05-10", "2024-05-10"), said("badger", None, "2024-06-01")]) == {
        "badger": [("2024-05-10", None)]
    }
    # What was seen before the day on which it is said to have begun was so before.
    assert spans_of([said("badger", "2024-05-10", "2024-05-10"), said("badger", None, "2024-04-01")]) == {
        "badger": [(None, None)]
    }


days = st.integers(0, 40).map(lambda number: datetime(2023, 12, 20, tzinfo=UTC) + timedelta(days=number))


@st.composite
def histories(draw: st.DrawFn) -> list[EdgeVersion]:
    facts: list[EdgeVersion] = []
    for number in range(draw(st.integers(1, 6))):
        start, dst = draw(st.none() | days), draw(st.sampled_from("abc"))
        told = draw(days) + timedelta(hours=draw(st.integers(0, 23)), minutes=number)
        end = draw(st.none() | st.none() | days.filter(lambda day, start=start: start is None or day >= start))
        facts.append(EdgeVersion("lena", "works at", dst, start, end, told, evidence=(number,)))
    return facts


@settings(max_examples=200, deadline=None)
@given(histories(), st.randoms(use_true_random=False))
def test_whatever_is_told_when_the_table_is_a_function_of_the_facts(facts: list[EdgeVersion], random: object) -> None:
    epoch = datetime(2020, 1, 1, tzinfo=UTC)
    shuffled = list(facts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    edges = {replace(edge, recorded_at=epoch) for edge in current_edges(facts, JOBS)}
    assert edges == {replace(edge, recorded_at=epoch) for edge in current_edges(shuffled, JOBS)}
    table = edge_history(shuffled, JOBS)
    assert edges == {replace(row, recorded_at=epoch) for row in table if row.retired_at is None}
    # One at a time, and none that ends before it begins (`EdgeVersion` refuses that).
    for day in range(80):
        moment = datetime(2023, 12, 10, 1, tzinfo=UTC) + timedelta(days=day)
        holding = {
            edge.dst
            for edge in edges
            if (edge.valid_from is None or edge.valid_from <= moment)
            and (edge.valid_to is None or moment < edge.valid_to)
        }
        assert len(holding) <= 1


@settings(max_examples=100, deadline=None)
@given(histories(), st.integers(0, 5), st.randoms(use_true_random=False))
def test_without_a_memory_all_is_as_if_it_had_never_been(facts: list[EdgeVersion], gone: int, random: object) -> None:
    kept = [fact for fact in facts if gone not in fact.evidence]
    shuffled = list(kept)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert current_edges(shuffled, JOBS) == current_edges(kept, JOBS)
    assert edge_history(shuffled, JOBS) == edge_history(kept, JOBS)
    assert all(gone not in row.evidence for row in edge_history(kept, JOBS))
