"""Hops in SQL against a reference in plain Python, on graphs with everything that trips a walk."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import psycopg
import pytest
from graph_world import Edge, clear, day, write_concepts, write_edges, write_memories, write_mentions
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.graph.walk.hops import Hops, hop_memories
from hopgate.store.graph.visible import View

Scores = dict[int, float]


def heaviest(mass: Mapping[int, float], many: int) -> Scores:
    return dict(sorted(mass.items(), key=lambda one: (-round(one[1], 12), one[0]))[:many])


def reference(
    edges: list[Edge],
    mentions: list[tuple[int, int, float]],
    seeds: Scores,
    hops: Hops,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    allowed: set[int] | None = None,
) -> list[tuple[int, float]]:
    neighbours: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for edge in edges:
        if edge.visible(as_of, known_at):
            neighbours[edge.source].append((edge.target, edge.weight))
            if edge.source != edge.target:
                neighbours[edge.target].append((edge.source, edge.weight))
    whole = sum(seeds.values())
    frontier = heaviest({concept: mass / whole for concept, mass in seeds.items()}, hops.beam)
    reached: Scores = defaultdict(float, frontier)
    for _ in range(hops.hops):
        after: Scores = defaultdict(float)
        for concept, mass in frontier.items():
            strength = sum(weight for _, weight in neighbours[concept])
            for other, weight in neighbours[concept]:
                after[other] += hops.decay * mass * weight / strength**hops.degree
        frontier = heaviest(after, hops.beam)
        for concept, mass in frontier.items():
            reached[concept] += mass
    best = heaviest(reached, hops.beam)
    frequency = Counter(concept for _, concept, _ in mentions)
    scores: Scores = defaultdict(float)
    for memory, concept, weight in mentions:
        if concept in best:
            scores[memory] += best[concept] * weight / frequency[concept] ** hops.degree
    return list(heaviest({m: s for m, s in scores.items() if allowed is None or m in allowed}, hops.depth).items())


def same(found: list[tuple[int, float]], wanted: list[tuple[int, float]]) -> None:
    assert [memory for memory, _ in found] == [memory for memory, _ in wanted]
    assert [score for _, score in found] == pytest.approx([score for _, score in wanted], rel=1e-6)


CONCEPTS, MEMORIES = 12, 10
MOMENTS = st.none() | st.integers(1, 6).map(day)
# Weights that a real holds exactly, so that equal masses are equal in both.
WEIGHTS = st.sampled_from([0.25, 0.5, 1.0, 2.0])


@st.composite
def edge(draw: st.DrawFn) -> Edge:
    start, end = draw(MOMENTS), draw(MOMENTS)
    if start and end and end < start:
        start, end = end, start
    return Edge(
        # Half of all edges touch concept 1: a hub. Nothing keeps the ends apart, so there are self-loops.
        draw(st.just(1) | st.integers(1, CONCEPTS)),
        draw(st.integers(1, CONCEPTS)),
        draw(st.sampled_from(["knows", "owns"])),
        draw(WEIGHTS),
        start,
        end,
        draw(st.integers(1, 6).map(day)),
        draw(st.none() | st.integers(3, 9).map(day)),
    )


MENTIONS = st.dictionaries(
    st.tuples(st.integers(1, MEMORIES), st.integers(1, CONCEPTS)), st.sampled_from([1.0, 2.0]), max_size=30
)
SEEDS = st.dictionaries(st.integers(1, CONCEPTS), WEIGHTS, min_size=1, max_size=4)
HOPS = st.builds(
    Hops,
    hops=st.integers(0, 3),
    decay=st.sampled_from([0.5, 1.0]),
    degree=st.sampled_from([0.0, 0.5, 1.0]),
    beam=st.sampled_from([1, 3, 1000]),
    depth=st.sampled_from([2, 50]),
)


@given(
    edges=st.lists(edge(), max_size=30), mentions=MENTIONS, seeds=SEEDS, hops=HOPS, as_of=MOMENTS, known_at=MOMENTS,
    allowed=st.none() | st.sets(st.integers(1, MEMORIES)),
)  # fmt: skip
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_ranking_is_the_references(
    hopping: psycopg.Connection[Any],
    edges: list[Edge],
    mentions: dict[tuple[int, int], float],
    seeds: Scores,
    hops: Hops,
    as_of: datetime | None,
    known_at: datetime | None,
    allowed: set[int] | None,
) -> None:
    hopping.execute("DELETE FROM concept_edges")
    hopping.execute("DELETE FROM memory_concepts")
    rows = [(memory, concept, weight) for (memory, concept), weight in mentions.items()]
    write_mentions(hopping, rows)
    write_edges(hopping, edges)
    limits: dict[str, Any] = {}
    if allowed is not None:
        limits = {"condition": "id = ANY(%(allowed)s)", "parameters": {"allowed": list(allowed)}}
    found = hop_memories(hopping, seeds, hops, View(as_of=as_of, known_at=known_at), **limits)
    same(found, reference(edges, rows, seeds, hops, as_of, known_at, allowed))


@pytest.fixture
def hopping(dsn: str) -> Any:
    with psycopg.connect(dsn) as connection:
        write_memories(connection, range(1, MEMORIES + 1))
        write_concepts(connection, range(1, CONCEPTS + 1))
        yield connection


def test_a_hub_of_ten_thousand_edges_leaves_each_neighbour_its_share(dsn: str) -> None:
    leaves = 10_000
    with psycopg.connect(dsn) as connection:
        write_concepts(connection, range(1, leaves + 2))
        write_memories(connection, range(1, leaves + 1))
        write_mentions(connection, ((leaf, leaf + 1) for leaf in range(1, leaves + 1)))
        write_edges(connection, (Edge(1, leaf + 1) for leaf in range(1, leaves + 1)))
        connection.execute("ANALYZE")
        near = hop_memories(connection, {2: 1.0}, Hops(hops=2, beam=100))
    # The seed's own memory: 1 at hop 0, and 0.5² back from the hub through one of 10,000 edges; the others that alone.
    same(near, [(1, 1 + 0.25 / leaves), *((memory, 0.25 / leaves) for memory in range(2, 51))])


def test_a_cycle_spreads_evenly_both_ways(hopping: psycopg.Connection[Any]) -> None:
    write_mentions(hopping, ((n, n) for n in range(1, MEMORIES + 1)))
    write_edges(hopping, (Edge(n, n % 5 + 1) for n in range(1, 6)))
    found = hop_memories(hopping, {1: 7.0}, Hops(hops=2, decay=1.0))
    # After two steps on a cycle of five: 1 and ½ at the seed, ½ at its neighbours, ¼ at theirs.
    assert found == [(1, 1.5), (2, 0.5), (5, 0.5), (3, 0.25), (4, 0.25)]


def test_no_edges_and_lonely_or_unknown_seeds(hopping: psycopg.Connection[Any]) -> None:
    assert hop_memories(hopping, {1: 1.0}) == []
    write_mentions(hopping, [(4, 2)])
    assert hop_memories(hopping, {2: 1.0}) == [(4, 1.0)]
    assert hop_memories(hopping, {}) == hop_memories(hopping, {3: 1.0}) == hop_memories(hopping, {999: 1.0}) == []
    assert hop_memories(hopping, {2: 0.0}) == []


def test_namesakes_are_one_concept(hopping: psycopg.Connection[Any]) -> None:
    write_mentions(hopping, [(1, 1), (2, 2), (3, 3)])
    write_edges(hopping, [Edge(2, 3)])
    assert [memory for memory, _ in hop_memories(hopping, {1: 1.0})] == [1]
    one, two, three = 1 / 2 + 1 / 8, 1 / 2 + 1 / 8, 1 / 2
    assert hop_memories(hopping, {1: 1.0}, namesakes={2: 1}) == [(1, one), (2, two), (3, three)]


def test_sensitive_memories_and_later_ones_are_not_reached(hopping: psycopg.Connection[Any]) -> None:
    write_memories(hopping, [100], created_at=day(5))
    write_mentions(hopping, [(1, 1), (2, 1), (100, 1)])
    hopping.execute("UPDATE memories SET is_sensitive = true WHERE id = 2")
    assert [memory for memory, _ in hop_memories(hopping, {1: 1.0})] == [1, 100]
    assert hop_memories(hopping, {1: 1.0}, view=View(known_at=day(4))) == [(1, 1.0)]
    clear(hopping)
    assert hop_memories(hopping, {1: 1.0}) == []


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"hops": 4}, "hops must be between 0 and 3, not 4"),
        ({"decay": 0.0}, "decay must be above 0"),
        ({"degree": -1.0}, "degree must be 0 or more"),
        ({"degree": float("nan")}, "degree must be 0 or more"),
        ({"beam": 0}, "count from 1"),
        ({"depth": 0}, "count from 1"),
    ],
)
def test_settings_that_mean_nothing_are_refused(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(HopgateError, match=sentence):
        Hops(**wrong)


def test_a_negative_seed_is_refused(hopping: psycopg.Connection[Any]) -> None:
    with pytest.raises(HopgateError, match="not negative"):
        hop_memories(hopping, {1: -1.0})


def test_a_configuration_prints_as_itself() -> None:
    assert eval(repr(Hops(beam=7))) == Hops(beam=7)
