"""What a query starts from: near facts exactly and by the index, in a scope and at a time, in one round trip."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hopgate.embed import Identity
from hopgate.kb import KnowledgeBase
from hopgate.store import vectors
from hopgate.store.graph import graph_vectors
from hopgate.store.graph.visible import View

DIMENSION, FACTS = 8, 400
THEN = datetime(2024, 1, 1, tzinfo=UTC)
ROWS = np.random.default_rng(5).normal(size=(FACTS, DIMENSION)).astype(np.float32)
ROWS[1] = ROWS[0]
ROWS /= np.linalg.norm(ROWS, axis=1, keepdims=True)
# Of every ten facts one is retired, and one is true from 2024 on only; some are of a scope.
HOLD = [n for n in range(FACTS) if n % 10 != 3]
BEFORE = [n for n in HOLD if n % 10 != 4]
OWN = [n for n in range(FACTS) if n % 40 == 7]


@pytest.fixture
def connection(kb: KnowledgeBase) -> Iterator[Any]:
    """Facts with vectors, numbered from 1 on."""
    with kb.store.transaction() as connection:
        vectors.claim(connection, Identity("tiny", DIMENSION, spec="tiny"))
        connection.execute("INSERT INTO concepts (canonical_name) VALUES ('c1'), ('c2')")
        connection.execute(
            "INSERT INTO concept_edges (src_id, dst_id, relation, retired_at, valid_from, evidence_memory_ids, scope) "
            "SELECT 1, 2, 'r' || n, CASE WHEN n %% 10 = 3 THEN now() END, CASE WHEN n %% 10 = 4 THEN %s END, '{}', "
            "CASE WHEN n %% 40 = 7 THEN 'own' ELSE '' END FROM generate_series(0, %s) n",
            (THEN, FACTS - 1),
        )
        vectors.set_vectors(connection, "concept_edges", range(1, FACTS + 1), ROWS)
        yield connection


def near(connection: Any, vector: NDArray[np.float32], view: View | None = None, **options: Any) -> list[int]:
    asked = graph_vectors.Nearest(vector, **{"limit": 20} | options)
    return [edge - 1 for edge, _ in graph_vectors.near_facts(connection, view or View(), asked)]


def nearest(query: NDArray[np.float32], among: list[int], count: int = 20) -> list[int]:
    halves = ROWS.astype(np.float16).astype(float)
    cosine = halves @ query.astype(np.float16).astype(float) / np.linalg.norm(halves, axis=1)
    return sorted(among, key=lambda n: (-cosine[n].round(7), n))[:count]


def test_every_fact_that_holds_is_compared_and_equal_ones_go_by_id(connection):
    found = near(connection, ROWS[0], exact=True)
    assert found == nearest(ROWS[0], HOLD) and found[:2] == [0, 1]
    then = near(connection, ROWS[0], View(as_of=datetime(2023, 1, 1, tzinfo=UTC)), exact=True)
    assert then == nearest(ROWS[0], BEFORE)


def test_facts_get_an_index_when_they_are_many_and_it_finds_the_same(connection, monkeypatch):
    for least, has_index in ((FACTS, False), (FACTS - 1, True)):
        monkeypatch.setattr(graph_vectors, "EXACT_BELOW", least)
        graph_vectors.ensure_index(connection)
        there = connection.execute("SELECT to_regclass('concept_edges_embedding') IS NOT NULL").fetchone()
        assert there == (has_index,)
    connection.execute("SET LOCAL enable_seqscan = off")
    source, values = f"concept_edges WHERE {View().edges()}", {"vector": vectors.to_sql(ROWS[0]), "limit": 20}
    for exact in (False, True):
        statement = graph_vectors.nearest_rows("id", source, exact=exact)
        plan = str(connection.execute("EXPLAIN " + statement, values).fetchall())
        assert ("concept_edges_embedding" in plan) is not exact
    for query in ROWS[:5]:
        assert near(connection, query) == near(connection, query, exact=True)
    # Of a scope the index gives up at once, and every fact of it is compared after all.
    connection.execute("SET LOCAL hnsw.max_scan_tuples = 1")
    for exact in (False, True):
        assert near(connection, ROWS[0], View(("own",)), limit=5, exact=exact) == nearest(ROWS[0], OWN, 5)
