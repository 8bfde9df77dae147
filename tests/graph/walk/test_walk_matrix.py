"""The matrix: what is loaded is what the tables hold, seen from one point of view."""

from datetime import datetime
from typing import Any

import numpy as np
import psycopg
import pytest
from graph_world import LONG_AGO, Edge, day, visible, write_concepts, write_edges, write_memories, write_mentions
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hopgate
from hopgate.graph.walk.matrix import load_matrix, positions
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
def test_the_adjacency_is_what_the_rows_say(connection, edges, mentions, times, as_of, known_at, superseded):
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
    at = {concept: len(nodes) + place for place, concept in enumerate(CONCEPTS)}

    def adjacency(rows):
        made = np.zeros((len(nodes) + len(CONCEPTS),) * 2)
        for one, two, weight in rows:
            made[one, two] += weight
            made[two, one] += weight * (one != two)
        return made

    mentioned = adjacency(
        (nodes.index(memory), at[concept], weight)
        for (memory, concept), (weight, _) in mentions.items()
        if memory in nodes
    )
    joined = adjacency((at[row.source], at[row.target], row.weight) for row in edges if visible(row, as_of, known_at))
    assert matrix.memory_ids.tolist() == nodes
    assert matrix.concept_ids.tolist() == list(CONCEPTS)
    np.testing.assert_allclose(matrix.graph.matrix.toarray(), mentioned + joined, rtol=1e-6)
    # The arrays for explanations hold exactly the weight that is walked between concepts.
    ends = (matrix.edges.source + len(nodes), matrix.edges.target + len(nodes))
    np.testing.assert_allclose(adjacency(zip(*ends, matrix.edges.weight, strict=True)), joined, rtol=1e-6)


@given(ids=st.sets(st.integers(-50, 3000)), wanted=st.lists(st.integers(-60, 3100)), many=st.booleans())
def test_positions_are_where_ids_stand(ids, wanted, many):
    ascending = sorted(ids)
    asked = wanted * (1 + many * (2000 // max(1, len(wanted))))
    found = positions(np.array(ascending, np.int64), np.array(asked, np.int64))
    places = {each: place for place, each in enumerate(ascending)}
    assert found.tolist() == [places.get(each, -1) for each in asked]


def test_concepts_of_equal_name_are_one_node_over_several_scopes(kb):
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
