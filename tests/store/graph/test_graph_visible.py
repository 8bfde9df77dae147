"""What the graph shows at a time: SQL and the rule in Python agree, points and naive times included."""

from datetime import datetime
from typing import Any

import psycopg
import pytest
from graph_world import Edge, day, visible, write_concepts, write_edges, write_memories
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hopgate.store.graph import arrays, edge_rows
from hopgate.store.graph.visible import View

CONCEPTS = (1, 2)
DAYS = st.integers(1, 5).map(day)
TIMES = st.none() | DAYS
INTERVALS = st.one_of(
    st.tuples(TIMES, TIMES).filter(lambda ends: None in ends or ends[0] <= ends[1]),
    DAYS.map(lambda instant: (instant, instant)),
)
KNOWN = st.tuples(DAYS, TIMES).filter(lambda ends: ends[1] is None or ends[0] < ends[1])
EDGES = st.lists(
    st.builds(lambda valid, known, n: Edge(1, 2, f"r{n}", 1.0, *valid, *known), INTERVALS, KNOWN, st.integers(0, 9)),
    max_size=8,
)


@pytest.fixture
def connection(dsn: str) -> Any:
    with psycopg.connect(dsn) as opened:
        write_memories(opened, [1])
        write_concepts(opened, CONCEPTS)
        yield opened


Row = tuple[str, float, float, float, float]


def row(relation: str, *times: datetime | None) -> Row:
    """An edge with its four times as numbers, which sort and are the same in every zone."""
    one, two, three, four = (time.timestamp() if time else -1.0 for time in times)
    return relation, one, two, three, four


def shown(connection: psycopg.Connection[Any], as_of: datetime | None, known_at: datetime | None) -> list[Row]:
    found = edge_rows.visible(connection, View(None, as_of, known_at))
    return sorted(row(e.relation, e.valid_from, e.valid_to, e.recorded_at, e.retired_at) for e in found)


@given(edges=EDGES, as_of=TIMES, known_at=TIMES)
@example(edges=[Edge(1, 2, "point", 1.0, day(2), day(2), day(1))], as_of=day(2), known_at=None)
@example(edges=[Edge(1, 2, "met", 1.0, day(1), day(2), day(1))], as_of=day(2), known_at=day(1))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sql_shows_what_the_rule_says(connection, edges, as_of, known_at):
    connection.execute("DELETE FROM concept_edges")
    write_edges(connection, edges)
    expected = sorted(
        row(edge.relation, edge.valid_from, edge.valid_to, edge.recorded_at, edge.retired_at)
        for edge in edges
        if visible(edge, as_of, known_at)
    )
    assert shown(connection, as_of, known_at) == expected
    # The same in the arrays that are walked.
    walked = arrays.edges(connection, View(None, as_of, known_at))
    assert sorted(walked.kinds[number] for number in walked.kind) == [name for name, *_ in expected]
