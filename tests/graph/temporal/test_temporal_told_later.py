"""What is told later about an earlier time: it ends what only a note's own day says, and nothing that has dates."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.graph.temporal.precedence import EdgeVersion, Tentative, current_edges
from hopgate.graph.temporal.versions import edge_history

SINGLE = frozenset({"works at", "located in"})


def on(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=UTC)


def said(dst: str, start: str | None, told: str, end: str | None = None, relation: str = "works at") -> EdgeVersion:
    recorded = datetime.fromisoformat(told).replace(tzinfo=UTC)
    return EdgeVersion("lena", relation, dst, on(start), on(end), recorded, evidence=(told,))


def since(dst: str, start: str, told: str, relation: str = "works at") -> list[EdgeVersion]:
    """ "Since …": a dated fact, and that it is so on the day of the note."""
    dated = said(dst, start, told, relation=relation)
    return [dated, replace(dated, valid_from=None, tentative=Tentative.ALONE)]


def spans(facts: list[EdgeVersion]) -> dict[object, list[tuple[str | None, str | None]]]:
    """The intervals of each object, however the facts arrive."""
    found = [current_edges(order, SINGLE) for order in permutations(facts)]
    assert all(set(edges) == set(found[0]) for edges in found)
    result: dict[object, list[tuple[str | None, str | None]]] = {}
    for edge in found[0]:
        first, last = (moment and moment.strftime("%Y-%m-%d") for moment in (edge.valid_from, edge.valid_to))
        result.setdefault(edge.dst, []).append((first, last))
    return result


def test_what_is_said_to_hold_since_before_an_undated_note_is_not_ended_by_that_note() -> None:
    siemens = said("siemens", None, "2024-03-01")
    facts = [siemens, *since("bosch", "2024-02-01", "2024-03-02")]
    assert spans(facts) == {"siemens": [(None, "2024-02-01")], "bosch": [("2024-02-01", None)]}
    # What was known on the first of March is still known to have been known.
    table = edge_history(facts, SINGLE)
    known = [edge for edge in table if edge.recorded_at == siemens.recorded_at]
    assert [(edge.dst, edge.valid_to) for edge in known] == [("siemens", None)]


def test_what_is_noted_after_it_ends_it() -> None:
    facts = [
        said("siemens", None, "2024-03-01"),
        *since("bosch", "2024-02-01", "2024-03-02"),
        said("siemens", None, "2025-01-05"),
    ]
    assert spans(facts) == {
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
        assert spans([siemens, past])["siemens"][-1][1] is None


def test_dates_that_are_told_are_never_changed() -> None:
    facts = [said("siemens", "2024-02-15", "2024-03-01"), *since("bosch", "2024-02-01", "2024-03-02")]
    assert ("2024-02-01", "2024-02-15") in spans(facts)["bosch"]
    assert spans(facts)["siemens"][0][0] == "2024-02-15"


def test_a_change_told_on_the_day_of_a_state_comes_after_it() -> None:
    """A date is a whole day, month or year: what was seen in it and told before is what was before."""
    for start, seen, told in (
        ("2024-05-10", "2024-05-10T09:00", "2024-05-10T11:00"),
        ("2024-05-10", "2024-05-10T09:00", "2024-05-11T11:00"),
        ("2024-05-01", "2024-05-20T09:00", "2024-06-02T11:00"),
        ("2024-01-01", "2024-03-20T09:00", "2024-12-02T11:00"),
    ):
        for relation in sorted(SINGLE):
            facts = [said("otter", None, seen, relation=relation), said("badger", start, told, relation=relation)]
            assert spans(facts) == {"otter": [(None, start)], "badger": [(start, None)]}, (start, relation)
    # Told before it, it is over; told long after the day it began, it was a date of its own.
    assert spans([said("badger", "2024-05-10", "2024-05-10T08:00"), said("otter", None, "2024-05-10T09:00")]) == {
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
    assert current_edges(moved, SINGLE) == current_edges([otter, badger], SINGLE)


def test_a_tentative_change_on_the_day_of_a_state_comes_after_it() -> None:
    badger = replace(said("badger", "2024-05-10", "2024-05-10T11:00"), tentative=Tentative.ALONE)
    facts = [said("otter", None, "2024-05-10T09:00"), badger]
    assert spans(facts) == {"otter": [(None, "2024-05-10")], "badger": [("2024-05-10", None)]}
    assert spans([said("otter", None, "2024-05-10T12:00"), badger]) == {"otter": [(None, None)]}


def test_a_plain_statement_reaches_back_no_further_than_where_it_is_said_to_have_begun() -> None:
    assert spans([said("badger", "2024-05-10", "2024-05-10"), said("badger", None, "2024-06-01")]) == {
        "badger": [("2024-05-10", None)]
    }
    # What was seen before the day on which it is said to have begun was so before.
    assert spans([said("badger", "2024-05-10", "2024-05-10"), said("badger", None, "2024-04-01")]) == {
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
        fact = EdgeVersion("lena", "works at", dst, start, end, told, evidence=(number,))
        facts.append(fact)
        if start is not None and end is None and start < told and draw(st.booleans()):
            facts.append(replace(fact, valid_from=None, tentative=Tentative.ALONE))
    return facts


@settings(max_examples=200, deadline=None)
@given(histories(), st.randoms(use_true_random=False))
def test_whatever_is_told_when_the_table_is_a_function_of_the_facts(facts: list[EdgeVersion], random: object) -> None:
    epoch = datetime(2020, 1, 1, tzinfo=UTC)
    shuffled = list(facts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    edges = {replace(edge, recorded_at=epoch) for edge in current_edges(facts, SINGLE)}
    assert edges == {replace(edge, recorded_at=epoch) for edge in current_edges(shuffled, SINGLE)}
    table = edge_history(shuffled, SINGLE)
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
@given(histories())
def test_what_is_said_to_hold_when_it_is_told_does(facts: list[EdgeVersion]) -> None:
    """The last note decides, where it says of something that it is so since before."""
    told = facts[-1].recorded_at + timedelta(days=400)
    began = datetime(2023, 12, 25, tzinfo=UTC)
    last = EdgeVersion("lena", "works at", "z", began, None, told, evidence=("last",))
    undated = [replace(fact, valid_from=None, valid_to=None, tentative=Tentative.NO) for fact in facts]
    edges = current_edges([*undated, last, replace(last, valid_from=None, tentative=Tentative.ALONE)], SINGLE)
    assert [(edge.valid_from, edge.valid_to) for edge in edges if edge.dst == "z"] == [(began, None)]
