"""The graph looked at: as of a time, along its two times, and in parts to draw."""

from collections import defaultdict
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

made = corpus()


@pytest.fixture(scope="module")
def world(module_dsn):
    """The synthetic corpus with its triples, which is only looked at."""
    with hopgate.open(module_dsn) as kb:
        share_scopes(kb)
        kb.add(*made.memories)
        kb.build(of_triples(made.triples), single_valued=made.single_valued)
        yield kb


def test_as_of_and_known_at_answer_as_the_timeline_does(world):
    """Only single-valued relations end; where a fact's start is unknown it held at least since it was told."""
    groups = defaultdict(list)
    for fact in made.facts:
        if fact.relation in made.single_valued:
            groups[fact.subject, fact.relation].append(fact)
    changing = {key: facts for key, facts in groups.items() if len(facts) > 1}
    # Days before, on and after changes, with what was known before, on and after they were told.
    asked = [
        (fact.valid_from + timedelta(days), known_at)
        for facts in [*changing.values()][::4]
        for fact in facts[1:]
        for days in (-1, 0, 1)
        for known_at in (None, fact.recorded_at - timedelta(1), fact.recorded_at, date(2027, 1, 1))
    ]
    assert len(asked) > 100
    for as_of, known_at in asked[:: max(1, len(asked) // 80)]:
        # What was told on a day is known at its end.
        known = known_at and datetime.combine(known_at, time.max, UTC)
        edges = world.graph.edges(as_of=datetime.combine(as_of, time(12), UTC), known_at=known)
        answered = {(edge.source, edge.relation, edge.target) for edge in edges}
        expected = {
            (fact.subject, fact.relation, fact.object)
            for facts in changing.values()
            for fact in facts
            if fact.holds(as_of, known_at)
        }
        assert {row for row in answered if row[:2] in changing} == expected, (as_of, known_at)


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


def test_walks_of_much_damping_are_like_degree():
    low, high = (degree_likeness(hubs(), damping=damping) for damping in (0.5, 0.85))
    assert low.between_queries < high.between_queries and low.with_degree < high.with_degree
    assert low == degree_likeness(hubs())
    assert degree_likeness(edge_graph(4, [], [])) is None
