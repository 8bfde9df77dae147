"""The graph looked at: as of a time, along its two times, and in parts to draw."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import numpy as np
import pytest
from graph_content import Scripted, of_triples, share_scopes

import hopgate
from hopgate.demo import corpus
from hopgate.errors import HopgateError
from hopgate.extract.extraction import Fact, Mention, found
from hopgate.graph.inspect import TOGETHER
from hopgate.graph.stats import degree_likeness
from hopgate.graph.walk.walk_graph import Pairs, WalkGraph, edge_graph, mention_graph
from hopgate.memory import Memory
from hopgate.store.graph import edge_rows
from hopgate.store.graph.visible import View

LAST = date(2027, 1, 1)


made = corpus()


@pytest.fixture(scope="module")
def world(module_dsn):
    """The synthetic corpus with its triples, which is only looked at."""
    with hopgate.open(module_dsn) as kb:
        share_scopes(kb)
        kb.add(*made.memories)
        kb.build(of_triples(made.triples), single_valued=made.single_valued)
        yield kb


def evening(day: date) -> datetime:
    """What was told on a day is known at its end."""
    return datetime.combine(day, time.max, UTC)


def told(kb, as_of: date | None, known_at: date | None = None) -> set[tuple[str, str, str]]:
    with kb.store.transaction() as connection:
        noon = datetime.combine(as_of, time(12), UTC) if as_of else None
        rows = edge_rows.visible(connection, View(None, noon, evening(known_at) if known_at else None))
    return {(row.source, row.relation, row.target) for row in rows}


def changing():
    groups: dict[tuple[str, str], list] = {}
    for fact in made.facts:
        if fact.relation in made.single_valued:
            groups.setdefault((fact.subject, fact.relation), []).append(fact)
    return [facts for facts in groups.values() if len(facts) > 1]


def moments() -> list[tuple[date, date | None]]:
    """Days before, on and after changes, with what was known before, on and after they were told."""
    found: list[tuple[date, date | None]] = []
    for facts in changing()[::4]:
        for fact in facts[1:]:
            began, at = fact.valid_from, fact.recorded_at
            days = [began - timedelta(1), began, began + timedelta(1)]
            found += [(day, known) for day in days for known in (None, at - timedelta(1), at, LAST)]
    return found


def test_as_of_and_known_at_answer_as_the_timeline_does(world):
    """Only single-valued relations end; where a fact's start is unknown it held at least since it was told."""
    asked = moments()
    assert len(asked) > 100
    single = {(facts[0].subject, facts[0].relation) for facts in changing()}
    for as_of, known_at in asked[:: max(1, len(asked) // 80)]:
        expected = {
            (fact.subject, fact.relation, fact.object)
            for fact in made.facts
            if fact.holds(as_of, known_at) and (fact.subject, fact.relation) in single
        }
        answered = {row for row in told(world, as_of, known_at) if row[:2] in single}
        assert answered == expected, (as_of, known_at)


# Parts of the graph to draw, the graph along its two times, and how alike PageRank and degree are.

DAY = datetime(2024, 1, 1, tzinfo=UTC)
LATER = datetime(2024, 6, 1, tzinfo=UTC)


@pytest.fixture
def moved(kb):
    """Immich runs on a tower, then on a server that stands in the cellar; a note names two things without a fact."""
    kb.add(
        Memory("m1", "Immich runs on the old tower.", created_at=DAY),
        Memory("m2", "Immich runs on the new server.", created_at=LATER),
        Memory("m3", "The new server stands in the cellar.", created_at=LATER),
        Memory("m4", "Immich and the cat.", created_at=LATER + timedelta(1)),
    )
    said = {
        "m1": found([], [Fact("Immich", "runs on", "old tower", valid_from="2024-01-01")]),
        "m2": found([], [Fact("Immich", "runs on", "new server", valid_from="2024-06-01")]),
        "m3": found([], [Fact("new server", "stands in", "cellar")]),
        "m4": found([Mention("Immich"), Mention("cat")], []),
    }
    kb.build(Scripted(said), single_valued=["runs on"])
    return kb


def names(view) -> set[str]:
    return {concept.name for concept in view.concepts}


def test_a_neighbourhood_grows_ring_by_ring_up_to_a_limit_and_is_of_its_time(moved):
    tower, immich, cat = (moved.graph.concept(name).concept.id for name in ("old tower", "Immich", "cat"))
    near = moved.graph.neighbourhood(tower)
    assert names(near) == {"old tower", "Immich"} and near.left_out == 0
    assert names(moved.graph.neighbourhood(tower, depth=3)) == {"old tower", "Immich", "new server", "cellar"}
    assert names(moved.graph.neighbourhood(immich, as_of=DAY + timedelta(10))) == {"Immich", "old tower"}
    # Company is drawn where no edge joins it.
    view = moved.graph.neighbourhood(cat)
    assert names(view) == {"cat", "Immich"} and [edge.relation for edge in view.edges] == [TOGETHER]
    assert {concept.last for concept in view.concepts} == {LATER + timedelta(1)}
    limited = moved.graph.neighbourhood(immich, limit=2)
    assert len(limited.concepts) == 2 and limited.left_out == 1
    assert moved.graph.neighbourhood(limit=3).left_out == 2
    assert moved.graph.neighbourhood(among=[cat]).edges == ()
    for depth, limit in ((0, 10), (9, 10), (1, 0)):
        with pytest.raises(HopgateError, match="ask for less"):
            moved.graph.neighbourhood(depth=depth, limit=limit)


def test_where_scopes_share_a_graph_a_concept_counts_the_memories_of_the_scope_that_is_asked(kb):
    share_scopes(kb)
    kb.add(
        *(Memory(f"{scope}{at}", "Ada.", scope=scope) for scope, count in (("a", 1), ("b", 2)) for at in range(count))
    )
    kb.build(Scripted({name: found([Mention("Ada"), Mention("Bea")], []) for name in ("a0", "b0", "b1")}))
    for scope, count in (("a", 1), ("b", 2), (None, 3)):
        detail, view = kb.graph.concept("Ada", scope=scope), kb.graph.neighbourhood(scope=scope)
        assert detail.concept.memory_count == len(detail.memories) == count
        assert [concept.memory_count for concept in kb.graph.concepts(scope=scope)] == [count] * 2
        assert [concept.memories for concept in view.concepts] == [count] * 2
        assert [edge.weight for edge in view.edges] == [count]


def test_the_graph_along_its_two_times(moved, other):
    span = moved.graph.span()
    assert (span.valid_from, span.valid_to, span.known_from) == (DAY, LATER, DAY)
    with hopgate.open(other) as empty:
        assert empty.graph.span().valid_from is None
    spring = moved.graph.changes(DAY + timedelta(1), LATER)
    assert [edge.target for edge in spring.began] == ["new server"]
    assert [edge.target for edge in spring.ended] == ["old tower"]
    nothing = moved.graph.changes(LATER, LATER + timedelta(9))
    assert (nothing.began, nothing.ended) == ((), ())
    learned = moved.graph.changes(LATER - timedelta(1), LATER, axis="known")
    assert {edge.target for edge in learned.began} == {"old tower", "new server", "cellar"}
    assert [edge.target for edge in learned.ended] == ["old tower"]
    with pytest.raises(HopgateError, match="exchange them"):
        moved.graph.changes(LATER, DAY)
    with pytest.raises(HopgateError, match="say valid"):
        moved.graph.changes(DAY, LATER, axis="sidereal")
    history = moved.graph.history("old tower")
    assert [(edge.valid_to, edge.retired_at) for edge in history] == [(None, LATER), (LATER, None)]


def test_contradictions_and_memories_that_gave_way_show_both_sides(moved):
    (one,) = moved.graph.conflicts()
    assert (one.older.target, one.newer.target, one.settled) == ("old tower", "new server", True)
    assert (one.older.evidence, one.newer.evidence) == (("m1",), ("m2",))
    assert moved.graph.conflicts("cellar") == [] == moved.graph.superseded()
    moved.add(Memory("m5", "Immich runs on the old tower.", superseded_by="m1", superseded_at=LATER))
    (gone,) = moved.graph.superseded()
    assert (gone.memory, gone.by, gone.since) == ("m5", "m1", LATER)


def hubs() -> WalkGraph:
    """Memories that differ a hundredfold in how much they mention."""
    rng = np.random.default_rng(0)
    share = rng.pareto(1.0, 600) + 0.1
    memory = rng.choice(600, 12_000, p=share / share.sum())
    return mention_graph(600, 800, Pairs(memory, rng.integers(0, 800, 12_000)))


def test_walks_of_much_damping_are_like_degree() -> None:
    low, high = (degree_likeness(hubs(), damping=damping) for damping in (0.5, 0.85))
    assert low.between_queries < high.between_queries and low.with_degree < high.with_degree
    assert low == degree_likeness(hubs())
    assert degree_likeness(edge_graph(4, [], [])) is None
