"""Tentative facts that cannot count are left out of a group's history, and nothing else changes."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import groupby

from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.graph.temporal.may_count import may_count
from hopgate.graph.temporal.precedence import EdgeVersion, Tentative
from hopgate.graph.temporal.versions import apply_changes, edge_history, supersede

EPOCH = datetime(2020, 1, 1)
SINGLE = frozenset({"lives in", "located in"})
moments = st.integers(0, 5).map(lambda days: EPOCH + timedelta(days))


@st.composite
def fact(draw: st.DrawFn) -> EdgeVersion:
    start = draw(st.none() | moments)
    end = draw(st.none() | st.none() | moments.filter(lambda moment: start is None or moment >= start))
    memories = draw(st.lists(st.integers(1, 5), min_size=0, max_size=2, unique=True))
    relation = draw(st.sampled_from(["lives in", "located in", "knows"]))
    kind = draw(st.sampled_from([Tentative.NO, Tentative.ALONE, Tentative.BESIDE, Tentative.BESIDE, Tentative.BESIDE]))
    dst = draw(st.sampled_from("abcde"))
    return EdgeVersion("ada", relation, dst, start, end, draw(moments), None, tuple(memories), kind)


@st.composite
def history(draw: st.DrawFn) -> list[EdgeVersion]:
    """Something that is stated, notes that name a few places each, and facts of any kind."""
    facts = [EdgeVersion("ada", "lives in", "a", None, None, EPOCH, None, (100,))]
    for memory, names in enumerate(
        draw(st.lists(st.sets(st.sampled_from("abcdef"), min_size=1, max_size=3), max_size=6))
    ):
        recorded = EPOCH + timedelta(1 + memory)
        facts += [
            EdgeVersion("ada", "lives in", dst, None, None, recorded, None, (memory,), Tentative.BESIDE)
            for dst in sorted(names)
        ]
    return [*facts, *draw(st.lists(fact(), max_size=3))]


def history_of_all(facts: list[EdgeVersion]) -> list[EdgeVersion]:
    """The history with every fact looked at, at every moment."""
    table: list[EdgeVersion] = []
    earlier: list[EdgeVersion] = []
    for _, batch in groupby(sorted(facts, key=lambda one: one.recorded_at), key=lambda one: one.recorded_at):
        recorded = list(batch)
        table = apply_changes(table, supersede(table, earlier, recorded, SINGLE))
        earlier += recorded
    return table


@settings(max_examples=150, deadline=None)
@given(st.lists(fact(), max_size=12) | history())
def test_the_history_is_that_of_all_facts(facts: list[EdgeVersion]) -> None:
    found, expected = edge_history(facts, SINGLE), history_of_all(facts)
    assert sorted(found, key=repr) == sorted(expected, key=repr)
    for relation in SINGLE:
        assert [row for row in found if row.relation == relation] == [
            row for row in expected if row.relation == relation
        ]


def beside(dst: str, memory: int) -> EdgeVersion:
    recorded = EPOCH + timedelta(days=memory)
    return EdgeVersion("hub", "located in", dst, None, None, recorded, None, (memory,), Tentative.BESIDE)


def test_of_a_hub_nothing_is_left_that_no_statement_is_about() -> None:
    named = [beside(f"place {memory}-{number}", memory) for memory in range(1, 200) for number in range(3)]
    stated = EdgeVersion("hub", "located in", "cellar", None, None, EPOCH, None, (0,))
    moved = [beside("cellar", 300), beside("attic", 300)]
    later = [beside("attic", 301), beside("roof", 301)]
    assert may_count(named, SINGLE) == []
    assert may_count([stated, *named, *moved, *later], SINGLE) == [stated, *moved, *later]
