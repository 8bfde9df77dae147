"""The synthetic corpus's moves and replacements before, between and after each change: as true, and as known."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import pytest
from graph_content import of_triples, share_scopes

from hopgate.demo import corpus
from hopgate.graph.inspect import edges
from hopgate.store.graph.visible import View

LAST = date(2027, 1, 1)


@pytest.fixture
def world(kb):
    share_scopes(kb)
    made = corpus()
    kb.add(*made.memories)
    kb.build(of_triples(made.triples), single_valued=made.single_valued)
    return made


def _noon(day: date) -> View:
    return View(as_of=datetime.combine(day, time(12), UTC))


def evening(day: date) -> datetime:
    """What was told on a day is known at its end."""
    return datetime.combine(day, time.max, UTC)


def told(kb, as_of: date | None, known_at: date | None = None) -> set[tuple[str, str, str]]:
    with kb.store.transaction() as connection:
        noon = datetime.combine(as_of, time(12), UTC) if as_of else None
        rows = edges(connection, View(None, noon, evening(known_at) if known_at else None))
    return {(row.source, row.relation, row.target) for row in rows}


def changing(world):
    groups: dict[tuple[str, str], list] = {}
    for fact in world.facts:
        if fact.relation in world.single_valued:
            groups.setdefault((fact.subject, fact.relation), []).append(fact)
    return [facts for facts in groups.values() if len(facts) > 1]


def moments(world) -> list[tuple[date, date | None]]:
    """Days before, on and after changes, with what was known before, on and after they were told."""
    found: list[tuple[date, date | None]] = []
    for facts in changing(world)[::4]:
        for fact in facts[1:]:
            began, at = fact.valid_from, fact.recorded_at
            days = [began - timedelta(1), began, began + timedelta(1)]
            found += [(day, known) for day in days for known in (None, at - timedelta(1), at, LAST)]
    return found


def test_as_of_and_known_at_answer_as_the_timeline_does(kb, world):
    """Only single-valued relations end; where a fact's start is unknown it held at least since it was told."""
    asked = moments(world)
    assert len(asked) > 100
    single = {(facts[0].subject, facts[0].relation) for facts in changing(world)}
    for as_of, known_at in asked[:: max(1, len(asked) // 80)]:
        expected = {
            (fact.subject, fact.relation, fact.object)
            for fact in world.facts
            if fact.holds(as_of, known_at) and (fact.subject, fact.relation) in single
        }
        answered = {row for row in told(kb, as_of, known_at) if row[:2] in single}
        assert answered == expected, (as_of, known_at)


def test_no_fact_is_lost_whatever_superseded_it(kb, world):
    everything = {(fact.subject, fact.relation, fact.object) for fact in world.facts}
    assert everything <= told(kb, None)
    assert everything <= {(edge.source, edge.relation, edge.target) for edge in kb.graph.edges()}


def test_recall_walks_the_graph_as_it_was(kb, world):
    """The graph leg reaches the new host's memory through the edge only while the edge holds and is known."""
    facts = next(facts for facts in changing(world) if facts[0].relation == "runs on")
    old, new = facts[0], facts[1]
    before = datetime.combine(new.recorded_at - timedelta(1), time.max, UTC)
    hits = kb.recall(f"{old.subject}", legs=("graph",), k=50, known_at=before)
    assert hits and new.evidence[0] not in {hit.external_id for hit in hits}
    assert all(hit.memory.created_at <= before for hit in hits)
    later = kb.recall(f"{old.subject}", legs=("graph",), k=50)
    assert {old.evidence[0], new.evidence[0]} <= {hit.external_id for hit in later}
    with kb.store.transaction() as connection:
        then = edges(connection, _noon(new.valid_from - timedelta(1)), of=old.subject)
        now = edges(connection, _noon(new.valid_from + timedelta(1)), of=old.subject)
    assert (old.object in {row.target for row in then}, new.object in {row.target for row in then}) == (True, False)
    assert (old.object in {row.target for row in now}, new.object in {row.target for row in now}) == (False, True)
