"""Parts of the graph to draw, and the graph along its two times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from graph_content import Scripted

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Fact, Mention, found
from hopgate.graph.inspect.view import TOGETHER
from hopgate.memory import Memory

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


def number(kb, name: str) -> int:
    return kb.graph.concept(name).concept.id


def names(view) -> set[str]:
    return {concept.name for concept in view.concepts}


def test_a_neighbourhood_grows_ring_by_ring(moved):
    near = moved.graph.neighbourhood(number(moved, "old tower"))
    assert names(near) == {"old tower", "Immich"} and near.left_out == 0
    far = moved.graph.neighbourhood(number(moved, "old tower"), depth=3)
    assert names(far) == {"old tower", "Immich", "new server", "cellar"}


def test_company_is_drawn_where_no_edge_joins_it(moved):
    view = moved.graph.neighbourhood(number(moved, "cat"))
    assert names(view) == {"cat", "Immich"} and [edge.relation for edge in view.edges] == [TOGETHER]
    assert {concept.last for concept in view.concepts} == {LATER + timedelta(1)}


def test_a_limit_says_how_many_it_left_out(moved):
    view = moved.graph.neighbourhood(number(moved, "Immich"), limit=2)
    assert len(view.concepts) == 2 and view.left_out == 1
    assert moved.graph.neighbourhood(limit=3).left_out == 2
    assert moved.graph.neighbourhood(among=[number(moved, "cat")]).edges == ()
    for depth, limit in ((0, 10), (9, 10), (1, 0)):
        with pytest.raises(HopgateError, match="ask for less"):
            moved.graph.neighbourhood(depth=depth, limit=limit)


def test_a_neighbourhood_is_of_its_time(moved):
    then = moved.graph.neighbourhood(number(moved, "Immich"), as_of=DAY + timedelta(10))
    assert names(then) == {"Immich", "old tower"}


def test_the_times_of_edges_have_a_span(moved, other):
    span = moved.graph.span()
    assert (span.valid_from, span.valid_to, span.known_from) == (DAY, LATER, DAY)
    import hopgate

    with hopgate.open(other) as empty:
        assert empty.graph.span().valid_from is None


def test_what_changed_between_two_dates_began_or_ended(moved):
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


def test_a_history_holds_what_is_believed_no_more(moved):
    history = moved.graph.history("old tower")
    assert [(edge.valid_to, edge.retired_at) for edge in history] == [(None, LATER), (LATER, None)]


def test_a_settled_contradiction_shows_both_sides_with_their_evidence(moved):
    (one,) = moved.graph.conflicts()
    assert (one.older.target, one.newer.target, one.settled) == ("old tower", "new server", True)
    assert (one.older.evidence, one.newer.evidence) == (("m1",), ("m2",))
    assert moved.graph.conflicts("cellar") == []


def test_memories_that_gave_way_say_to_which(moved):
    assert moved.graph.superseded() == []
    moved.add(Memory("m5", "Immich runs on the old tower.", superseded_by="m1", superseded_at=LATER))
    (gone,) = moved.graph.superseded()
    assert (gone.memory, gone.by, gone.since) == ("m5", "m1", LATER)


def test_a_walk_counts_the_steps_from_where_it_starts(moved):
    moved.embed()
    walk = moved.graph.walk("What does Immich run on?")
    steps = walk.steps()
    assert steps["Immich"] == 0 and set(steps) == set(walk.nodes)
    assert all(abs(steps[one] - steps[other]) <= 1 for one, other in walk.lines)
    assert walk.nodes["Immich"].concept_id == number(moved, "Immich")
