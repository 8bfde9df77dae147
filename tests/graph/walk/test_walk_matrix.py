"""The matrix: what is loaded is what the tables hold, seen from one point of view."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
import psycopg
import pytest
from graph_world import LONG_AGO, Edge, clear, day, write_concepts, write_edges, write_memories, write_mentions
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hopgate
from hopgate.graph.walk.matrix import load_matrix, positions
from hopgate.graph.walk.pagerank import pagerank
from hopgate.store.graph import version
from hopgate.store.graph.visible import View

MEMORIES, CONCEPTS = (10, 20, 30, 40), (5, 6, 7, 8, 9)
MOMENTS = st.none() | st.integers(1, 6).map(day)


@st.composite
def edge(draw: st.DrawFn) -> Edge:
    start, end = sorted([draw(st.integers(1, 6)), draw(st.integers(1, 6))])
    return Edge(
        draw(st.sampled_from(CONCEPTS)),
        draw(st.sampled_from(CONCEPTS)),
        draw(st.sampled_from(["knows", "owns"])),
        draw(st.sampled_from([0.5, 1.0])),
        draw(st.sampled_from([None, day(start)])),
        draw(st.sampled_from([None, day(end)])),
        draw(st.integers(1, 6).map(day)),
        draw(st.none() | st.integers(3, 9).map(day)),
    )


MENTIONS = st.dictionaries(
    st.tuples(st.sampled_from(MEMORIES), st.sampled_from(CONCEPTS)),
    st.tuples(st.sampled_from([1.0, 2.0]), st.sampled_from(["mentions", "about"])),
)
TIMES = st.fixed_dictionaries({memory: st.tuples(MOMENTS, MOMENTS, st.booleans()) for memory in MEMORIES})


@pytest.fixture
def connection(dsn: str) -> Any:
    with psycopg.connect(dsn) as opened:
        write_memories(opened, MEMORIES)
        write_concepts(opened, CONCEPTS)
        yield opened


@given(
    edges=st.lists(edge(), max_size=15), mentions=MENTIONS, times=TIMES, as_of=MOMENTS, known_at=MOMENTS,
    superseded=st.booleans(),
)  # fmt: skip
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_adjacency_is_what_the_rows_say(
    connection: psycopg.Connection[Any],
    edges: list[Edge],
    mentions: dict[tuple[int, int], tuple[float, str]],
    times: dict[int, tuple[datetime | None, datetime | None, bool]],
    as_of: datetime | None,
    known_at: datetime | None,
    superseded: bool,
) -> None:
    connection.execute("DELETE FROM concept_edges")
    connection.execute("DELETE FROM memory_concepts")
    write_edges(connection, edges)
    write_mentions(connection, ((*ends, *rest) for ends, rest in mentions.items()))
    for memory, (made, ended, sensitive) in times.items():
        connection.execute(
            "UPDATE memories SET created_at = %s, superseded_at = %s, is_sensitive = %s WHERE id = %s",
            (made or LONG_AGO, ended, sensitive, memory),
        )
    matrix = load_matrix(connection, View(as_of=as_of, known_at=known_at), superseded=superseded)

    known = known_at or datetime.max.replace(tzinfo=day(1).tzinfo)
    asked = [time for time in (as_of, known_at) if time is not None]
    nodes = [
        memory
        for memory, (made, ended, sensitive) in sorted(times.items())
        if not sensitive
        and (made or LONG_AGO) <= known
        and (superseded or not ended or any(ended > at for at in asked))
    ]
    wanted = np.zeros((len(nodes) + len(CONCEPTS),) * 2)
    for (memory, concept), (weight, _) in mentions.items():
        if memory in nodes:
            one, two = nodes.index(memory), len(nodes) + CONCEPTS.index(concept)
            wanted[one, two] = wanted[two, one] = weight
    of_edges = np.zeros_like(wanted)
    for row in edges:
        if row.visible(as_of, known_at):
            one, two = (len(nodes) + CONCEPTS.index(end) for end in (row.source, row.target))
            of_edges[one, two] += row.weight
            if one != two:
                of_edges[two, one] += row.weight
    assert matrix.memory_ids.tolist() == nodes
    assert matrix.concept_ids.tolist() == list(CONCEPTS)
    np.testing.assert_allclose(matrix.graph.matrix.toarray(), wanted + of_edges, rtol=1e-6)
    # The arrays for explanations hold exactly the weight that is walked between concepts.
    told = np.zeros_like(wanted)
    for source, target, weight in zip(matrix.edge_source, matrix.edge_target, matrix.edge_weight, strict=True):
        told[len(nodes) + source, len(nodes) + target] += weight
        if source != target:
            told[len(nodes) + target, len(nodes) + source] += weight
    np.testing.assert_allclose(told, of_edges, rtol=1e-6)


def test_nodes_and_edges_lead_back_to_rows(connection: psycopg.Connection[Any]) -> None:
    assert (load_matrix(connection).graph.nodes, load_matrix(connection).graph.arcs) == (9, 0)
    write_mentions(connection, [(10, 5), (20, 5)])
    write_edges(connection, [Edge(5, 6, "knows"), Edge(6, 5, "owns"), Edge(6, 7, "owns")])
    version.bump(connection)
    matrix = load_matrix(connection)
    assert repr(matrix) == "GraphMatrix(version=1, memories=4, concepts=5, edges=3, arcs=8)"
    assert matrix.memories([40, 11, 10]).tolist() == [3, -1, 0]
    assert matrix.concepts([5, 0, 9]).tolist() == [0, -1, 4]
    allowed = matrix.allowed(["other"]), matrix.allowed(None, [5, 0]), matrix.allowed(exclude=[20, 11])
    assert [each is not None and each.tolist() for each in allowed] == [
        [False, False, False, False], [True, True, False, False], [True, False, True, True],
    ]  # fmt: skip
    assert matrix.allowed([""]) is matrix.allowed() is None
    rows = matrix.edges_between(1, 0)
    assert matrix.edges_between(3, 4) == []
    assert sorted(matrix.relations[matrix.edge_relation[row]] for row in rows) == ["knows", "owns"]
    ids = [int(matrix.edge_id[row]) for row in rows]
    ends = connection.execute("SELECT least(src_id, dst_id) FROM concept_edges WHERE id = ANY(%s)", (ids,))
    assert ends.fetchall() == [(5,), (5,)]
    with pytest.raises(ValueError, match="read-only"):
        matrix.memory_ids[0] = 1
    clear(connection)
    empty = load_matrix(connection)
    assert (empty.graph.nodes, len(empty.edge_id), empty.memories([1]).tolist()) == (0, 0, [-1])


def test_a_loaded_hub_of_ten_thousand_mentions_shares_its_mass(dsn: str) -> None:
    many = 10_000
    with psycopg.connect(dsn) as connection:
        write_memories(connection, range(1, many + 1))
        write_concepts(connection, [1, 2])
        write_mentions(connection, ((memory, 1) for memory in range(1, many + 1)))
        matrix = load_matrix(connection)
    start = np.zeros(matrix.graph.nodes)
    start[many] = 1
    scores = np.asarray(pagerank(matrix.graph, start, damping=0.5, tolerance=1e-7))
    # A star seeded at its centre: 2/3 stay there and 1/3 is shared out evenly. A concept without edges gets nothing.
    np.testing.assert_allclose(scores[:many], 1 / 3 / many, rtol=1e-3)
    assert scores[many] == pytest.approx(2 / 3, rel=1e-4)
    assert scores[many + 1] == 0


@given(ids=st.sets(st.integers(-50, 3000)), wanted=st.lists(st.integers(-60, 3100)), many=st.booleans())
def test_positions_are_where_ids_stand(ids: set[int], wanted: list[int], many: bool) -> None:
    ascending = sorted(ids)
    asked = wanted * (1 + many * (2000 // max(1, len(wanted))))
    found = positions(np.array(ascending, np.int64), np.array(asked, np.int64))
    places = {each: place for place, each in enumerate(ascending)}
    assert found.tolist() == [places.get(each, -1) for each in asked]


def test_concepts_of_equal_name_are_one_node_over_several_scopes(kb) -> None:
    kb.add(
        hopgate.Memory("a", "Ada Byron works at Atlas Labs.", scope="a"),
        hopgate.Memory("b", "Ada Byron lives in Zephyr House.", scope="b"),
        hopgate.Memory("c", "Ada Byron met Grace Hopper.", scope="b"),
    )
    kb.build()
    with kb.store.transaction() as connection:
        ids = dict(connection.execute("SELECT scope, id FROM concepts WHERE canonical_name = 'Ada Byron'").fetchall())
        whole, alone = load_matrix(connection), load_matrix(connection, View(("a",)))
    assert (len(whole.concept_ids), len(alone.concept_ids)) == (4, 2)
    assert len({*whole.concepts([ids["a"], ids["b"]]).tolist()} - {-1}) == 1
    assert ids["b"] in whole.concept_ids.tolist()  # by the name of the scope where more memories have it
    assert alone.concepts([ids["b"]]).tolist() == [-1]
