"""Supersession over intervals: Allen's relations, open ends, any order of arrival, and nothing ever lost."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import permutations

import pytest
from graph_world import visible
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.graph.temporal.precedence import EdgeVersion, Tentative, current_edges
from hopgate.graph.temporal.versions import Changes, apply_changes, edge_history, supersede

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


def invalidated(changes: Changes) -> tuple[EdgeVersion, ...]:
    """Retired rows whose interval no new row has; the others only gained evidence."""
    kept = {(row.src, row.relation, row.dst, row.valid_from, row.valid_to) for row in changes.new_rows}
    return tuple(
        row
        for row in changes.retired_rows
        if (row.src, row.relation, row.dst, row.valid_from, row.valid_to) not in kept
    )


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
    first = fact("berlin", 10, 20, 1, "visited")
    changes = supersede([first], [first], [fact("munich", *interval, 2, "visited")], SINGLE)
    assert changes.retired_rows == ()
    assert [row.dst for row in changes.new_rows] == ["munich"]


def test_a_move_closes_the_old_edge_and_retires_the_row_that_said_otherwise() -> None:
    berlin = fact("berlin", 10, None, 1)
    changes = supersede([berlin], [berlin], [fact("munich", 50, None, 2)], SINGLE)
    assert spans(changes.new_rows, "berlin") == [(10, 50)]
    assert spans(changes.new_rows, "munich") == [(50, None)]
    assert changes.retired_rows == (replace(berlin, retired_at=at(1002)),)
    assert invalidated(changes) == changes.retired_rows
    table = apply_changes([berlin], changes)
    assert holders(table, 60) == {"munich"}
    assert holders(table, 60, known=1) == {"berlin"}
    assert holders(table, 20) == {"berlin"}


def maybe(dst: str, recorded: int) -> EdgeVersion:
    return replace(fact(dst, None, None, recorded), tentative=Tentative.ALONE)


def beside(dst: str, recorded: int) -> EdgeVersion:
    return replace(fact(dst, None, None, recorded), tentative=Tentative.BESIDE)


@given(start=st.integers(0, 90), recorded=st.integers(1, 9), dated=st.booleans())
def test_a_doubted_fact_ends_nothing_that_is_surer_and_counts_alone(start: int, recorded: int, dated: bool) -> None:
    doubted = replace(fact("munich", start if dated else None, None, recorded), doubted=True)
    assert {edge.dst for edge in current_edges([doubted], SINGLE)} == {"munich"}
    before, after = fact("berlin", -5, None, 0), fact("berlin", 2000, None, 0)
    assert current_edges([before, doubted], SINGLE) == current_edges([before], SINGLE)
    # It ends where a surer one begins, and what both say is more evidence.
    table = current_edges([after, doubted], SINGLE)
    assert holders(table, 1999) == {"munich"} and holders(table, 2001) == {"berlin"}
    assert {edge.dst for edge in current_edges([fact("munich", None, None, 5), doubted], SINGLE)} == {"munich"}
    # Of a relation with several values it stands beside the others.
    assert {edge.dst for edge in current_edges([before, doubted])} == {"berlin", "munich"}


def test_a_tentative_fact_tells_of_a_change_where_something_else_was_stated_before() -> None:
    assert current_edges([maybe("munich", 2)], SINGLE) == ()
    assert current_edges([maybe("munich", 2), maybe("bonn", 1)], SINGLE) == ()
    table = edge_history([fact("berlin", None, None, 1), maybe("munich", 2)], SINGLE)
    assert holders(table, 1001) == {"berlin"} and holders(table, 1003) == {"munich"}
    assert not any(row.tentative for row in table)
    # What is stated later begins after it; what is stated again was never over.
    assert spans(current_edges([fact("berlin", 5, None, 3), maybe("munich", 2)], SINGLE), "munich") == [(1002, None)]
    assert spans(current_edges([fact("berlin", 1005, None, 3), maybe("munich", 2)], SINGLE), "munich") == []
    again = [fact("berlin", None, None, 1), maybe("munich", 2), fact("berlin", None, None, 3)]
    assert spans(current_edges(again, SINGLE), "munich") == []
    # Named beside what held before, one other: it is the new one, whatever the words and their order.
    berlin = fact("berlin", None, None, 1)
    assert spans(current_edges([berlin, beside("munich", 2)], SINGLE), "munich") == []
    both = [beside("munich", 2), beside("berlin", 2)]
    assert spans(current_edges([berlin, *both], SINGLE), "munich") == [(1002, None)]
    assert current_edges(both, SINGLE) == ()
    three = current_edges([berlin, *both, beside("bonn", 2)], SINGLE)
    assert {edge.dst for edge in three} == {"berlin"}
    # Of a relation with several values nothing ends anything.
    assert spans(current_edges([fact("berlin", None, None, 1), maybe("munich", 2)]), "munich") == []


def test_an_older_fact_that_arrives_late_takes_its_place_in_the_past() -> None:
    munich = fact("munich", 50, None, 1)
    changes = supersede([munich], [munich], [fact("berlin", 10, None, 2)], SINGLE)
    assert changes.retired_rows == ()
    assert spans(changes.new_rows, "berlin") == [(10, 50)]


def test_more_evidence_is_no_invalidation() -> None:
    first = fact("berlin", 10, 20, 1)
    changes = supersede([first], [first], [fact("berlin", 10, 20, 2)], SINGLE)
    assert [row.evidence for row in changes.new_rows] == [("m1", "m2")]
    assert len(changes.retired_rows) == 1
    assert invalidated(changes) == ()


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


def test_nothing_said_changes_nothing() -> None:
    first = fact("berlin", 1, 2, 1)
    assert supersede([first], [first], []) == Changes((), ())


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
    table: list[EdgeVersion] = []
    for number, edge in enumerate(said):
        changes = supersede(table, said[:number], [edge], SINGLE)
        after = apply_changes(table, changes)
        # Rows are added, and may be retired once; nothing else about them changes.
        assert {replace(row, retired_at=None) for row in table} <= {replace(row, retired_at=None) for row in after}
        assert all(row in after for row in table if row.retired_at is not None)
        table = after
    for edge in said:
        assumed = edge.valid_from is None and (edge.valid_to is None or edge.valid_to > edge.recorded_at)
        first = edge.recorded_at if assumed else edge.valid_from or _began(edge, said)
        known = as_of(table, first, edge.recorded_at)
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


@settings(max_examples=100, deadline=None)
@given(facts(), facts())
def test_only_the_same_source_and_relation_is_touched(table: list[EdgeVersion], other: list[EdgeVersion]) -> None:
    elsewhere_facts = [replace(edge, relation="works at") for edge in other]
    elsewhere = edge_history(elsewhere_facts, SINGLE)
    rows = [*elsewhere, *edge_history(table, SINGLE)]
    changes = supersede(rows, [*elsewhere_facts, *table], [fact("z", 5, None, 99)], SINGLE)
    assert all((row.src, row.relation) == ("ada", "lives in") for row in (*changes.new_rows, *changes.retired_rows))
