"""How one fact ends another: overlaps, open ends, what is told later; in any order of arrival, and nothing is lost."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from graph_world import visible
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.graph.temporal import EdgeVersion, current_edges, edge_history

EPOCH = datetime(2023, 12, 1, tzinfo=UTC)
Spans = list[tuple[str | None, str | None]]


def on(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=UTC)


def at(day: int) -> datetime:
    return EPOCH + timedelta(days=day)


def said(dst: str, start: str | None, told: str, end: str | None = None) -> EdgeVersion:
    recorded = datetime.fromisoformat(told).replace(tzinfo=UTC)
    return EdgeVersion(dst, on(start), on(end), recorded, evidence=(told,))


def spans_of(facts: list[EdgeVersion]) -> dict[object, Spans]:
    """The intervals of each object, however the facts arrive."""
    found = [current_edges(order) for order in permutations(facts)]
    assert all(set(edges) == set(found[0]) for edges in found)
    result: dict[object, Spans] = {}
    for edge in found[0]:
        first, last = (moment and moment.strftime("%Y-%m-%d") for moment in (edge.valid_from, edge.valid_to))
        result.setdefault(edge.dst, []).append((first, last))
    return result


def holders(table: list[EdgeVersion], moment: datetime, known: datetime | None = None) -> set[object]:
    return {edge.dst for edge in table if visible(edge, moment, known)}


# The thirteen relations of one interval to [10, 20), by Allen.
OTHERS = [(2, 8), (5, 10), (5, 15), (5, 20), (5, 25), (10, 15), (10, 20), (10, 25), (12, 18), (15, 20), (15, 25),
          (20, 25), (22, 28)]  # fmt: skip


@pytest.mark.parametrize("interval", OTHERS)
@pytest.mark.parametrize("later", ["bosch", "siemens"])
def test_of_two_that_overlap_the_one_that_began_later_holds(interval, later):
    both = {"bosch": (10, 20), "siemens": interval}
    facts = [
        EdgeVersion(dst, at(start), at(end), at(100 + (dst == later)), evidence=(dst,))
        for dst, (start, end) in both.items()
    ]
    table = edge_history(facts)
    for day in range(30):
        covering = {dst: start for dst, (start, end) in both.items() if start <= day < end}
        if len(covering) == 2:
            covering = {later: 0} if len(set(covering.values())) == 1 else {max(covering, key=covering.__getitem__): 0}
        assert holders(table, at(day)) == set(covering), day


def test_a_move_closes_the_old_edge_and_retires_the_row_that_said_otherwise():
    bosch = said("bosch", "2020-01-01", "2023-01-01")
    table = edge_history([bosch, said("siemens", "2021-05-01", "2023-02-01")])
    assert replace(bosch, retired_at=on("2023-02-01")) in table
    late, between = datetime(2022, 1, 1, tzinfo=UTC), datetime(2023, 1, 15, tzinfo=UTC)
    assert holders(table, late) == {"siemens"} and holders(table, late, between) == {"bosch"}
    assert holders(table, datetime(2020, 6, 1, tzinfo=UTC)) == {"bosch"}


def test_a_stated_end_ends_what_was_said_without_one_until_it_is_said_again():
    facts = [said("bosch", "2024-01-15", "2024-01-15"), said("bosch", "2024-01-16", "2024-01-17", "2024-01-17"),
             said("bosch", "2024-01-18", "2024-01-18")]  # fmt: skip
    assert spans_of(facts) == {"bosch": [("2024-01-15", "2024-01-17"), ("2024-01-18", None)]}


def test_facts_without_a_start_reach_back_from_their_recording():
    seen = [said("bosch", None, "2024-01-10"), said("siemens", None, "2024-03-30")]
    assert spans_of(seen) == {"bosch": [(None, "2024-03-30")], "siemens": [("2024-03-30", None)]}
    # A dated fact between them is neither overrun nor reached over.
    assert spans_of([*seen, said("bmw", "2024-02-15", "2024-02-15", "2024-02-20")]) == {
        "bosch": [(None, "2024-02-15")],
        "bmw": [("2024-02-15", "2024-02-20")],
        "siemens": [("2024-02-20", None)],
    }
    begun = said("badger", "2024-05-10", "2024-05-10")
    assert spans_of([begun, said("badger", None, "2024-06-01")]) == {"badger": [("2024-05-10", None)]}
    # What was seen before the day on which it is said to have begun was so before.
    assert spans_of([begun, said("badger", None, "2024-04-01")]) == {"badger": [(None, None)]}


@pytest.mark.parametrize(
    ("start", "end"), [(None, None), ("2024-01-01", None), (None, "2024-03-01"), (None, "2025-01-01")]
)
def test_a_fact_that_nothing_ends_is_its_own_history(start, end):
    alone = said("bosch", start, "2024-06-01", end)
    assert edge_history([alone]) == [alone]


def test_an_edge_cannot_end_before_it_begins():
    with pytest.raises(HopgateError, match="before it begins"):
        said("bosch", "2024-01-02", "2024-01-02", "2024-01-01")


def test_what_is_said_to_hold_since_before_an_undated_note_is_not_ended_by_that_note():
    siemens = said("siemens", None, "2024-03-01")
    facts = [siemens, said("bosch", "2024-02-01", "2024-03-02")]
    assert spans_of(facts) == {"siemens": [(None, "2024-02-01")], "bosch": [("2024-02-01", None)]}
    # What was known on the first of March is still known to have been known.
    known = [edge for edge in edge_history(facts) if edge.recorded_at == siemens.recorded_at]
    assert [(edge.dst, edge.valid_to) for edge in known] == [("siemens", None)]
    assert spans_of([*facts, said("siemens", None, "2025-01-05")]) == {
        "siemens": [(None, "2024-02-01"), ("2025-01-05", None)],
        "bosch": [("2024-02-01", "2025-01-05")],
    }


def test_what_is_told_together_with_its_end_is_over():
    facts = [said("mia", None, "2025-09-01"), said("mia", None, "2025-09-01", "2025-01-01")]
    assert spans_of([*facts, said("noor", "2025-01-01", "2025-09-01")]) == {
        "mia": [(None, "2025-01-01")],
        "noor": [("2025-01-01", None)],
    }


@pytest.mark.parametrize(("start", "end"), [("2019-01-01", "2021-01-01"), (None, "2020-01-01"), ("2019-01-01", None)])
def test_what_is_told_of_the_past_does_not_end_what_a_note_says_to_be_so(start, end):
    facts = [said("siemens", None, "2024-03-01"), said("bmw", start, "2024-03-02", end)]
    assert spans_of(facts)["siemens"][-1][1] is None


days = st.integers(0, 60).map(at)


@st.composite
def histories(draw: st.DrawFn) -> list[EdgeVersion]:
    facts: list[EdgeVersion] = []
    for number in range(draw(st.integers(1, 6))):
        start, dst = draw(st.none() | days), draw(st.sampled_from("abc"))
        told = draw(days) + timedelta(hours=draw(st.integers(0, 23)), minutes=number)
        end = draw(st.none() | st.none() | days.filter(lambda day, start=start: start is None or day >= start))
        facts.append(EdgeVersion(dst, start, end, told, evidence=(number,)))
    return facts


def shuffled(facts: list[EdgeVersion], random: st.DataObject) -> list[EdgeVersion]:
    return random.draw(st.permutations(facts))


@settings(max_examples=200, deadline=None)
@given(histories(), st.data())
def test_in_any_order_of_arrival_the_table_is_the_same_and_has_one_value_at_a_time(facts, random):
    edges = {replace(edge, recorded_at=EPOCH) for edge in current_edges(facts)}
    assert edges == {replace(edge, recorded_at=EPOCH) for edge in current_edges(shuffled(facts, random))}
    table = edge_history(shuffled(facts, random))
    assert table == edge_history(facts)
    assert edges == {replace(row, recorded_at=EPOCH) for row in table if row.retired_at is None}
    for day in range(-1, 70):
        assert len(holders(table, at(day) + timedelta(hours=1))) <= 1


@settings(max_examples=150, deadline=None)
@given(histories())
def test_no_fact_is_ever_lost(facts):
    """Whatever comes later: rows are added, and may be retired once; nothing else about them changes."""
    facts.sort(key=lambda fact: fact.recorded_at)
    before: list[EdgeVersion] = []
    for count in range(1, len(facts) + 1):
        table = edge_history(facts[:count])
        rows = {replace(row, retired_at=None, evidence=()) for row in table}
        assert {replace(row, retired_at=None, evidence=()) for row in before} <= rows
        assert all(row in table for row in before if row.retired_at is not None)
        before = table
    assert {memory for row in before for memory in row.evidence} <= {memory for f in facts for memory in f.evidence}
