"""What a query starts from: near facts exactly and by the index, in a scope and at a time, in one round trip."""

from __future__ import annotations

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
Rows = NDArray[np.float32]


def unit(rows: Rows) -> Rows:
    made: Rows = (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)
    return made


@pytest.fixture
def rows() -> Rows:
    made = unit(np.random.default_rng(5).normal(size=(FACTS, DIMENSION)).astype(np.float32))
    made[1] = made[0]
    return made


@pytest.fixture
def ids(kb: KnowledgeBase, rows: Rows) -> list[int]:
    """Facts with vectors; of every ten one is retired, and one is true from 2024 on only."""
    with kb.store.transaction() as connection:
        vectors.claim(connection, Identity("tiny", DIMENSION, spec="tiny"))
        connection.execute("INSERT INTO concepts (canonical_name) SELECT 'c' || n FROM generate_series(1, 2) n")
        found = connection.execute(
            "INSERT INTO concept_edges (src_id, dst_id, relation, retired_at, valid_from, evidence_memory_ids) "
            "SELECT 1, 2, 'r' || n, CASE WHEN n %% 10 = 3 THEN now() END, CASE WHEN n %% 10 = 4 THEN %s END, '{}' "
            "FROM generate_series(0, %s) n RETURNING id",
            (THEN, FACTS - 1),
        ).fetchall()
        made = [row[0] for row in found]
        vectors.set_vectors(connection, "concept_edges", made, rows)
    return made


def near(connection: Any, vector: Rows, view: View | None = None, **options: Any) -> list[tuple[int, float]]:
    return graph_vectors.near_facts(
        connection, view or View(), graph_vectors.Nearest(vector, **{"limit": 20} | options)
    )


def nearest(ids: list[int], rows: Rows, query: Rows, among: list[int], count: int = 20) -> list[int]:
    halves = rows.astype(np.float16).astype(float)
    cosine = halves @ query.astype(np.float16).astype(float) / np.linalg.norm(halves, axis=1)
    best = sorted(among, key=lambda n: (-cosine[n].round(7), n))
    return [ids[n] for n in best[:count]]


def test_every_fact_that_holds_is_compared(kb: KnowledgeBase, ids: list[int], rows: Rows) -> None:
    holds = [n for n in range(FACTS) if n % 10 != 3]
    with kb.store.transaction() as connection:
        found = near(connection, rows[0], exact=True)
        before = near(connection, rows[0], view=View(as_of=datetime(2023, 1, 1, tzinfo=UTC)), exact=True)
    assert [edge for edge, _ in found] == nearest(ids, rows, rows[0], holds)
    assert [edge for edge, _ in found][:2] == ids[:2], "equal facts go by id"
    assert [edge for edge, _ in before] == nearest(ids, rows, rows[0], [n for n in holds if n % 10 != 4])


def test_facts_get_an_index_when_they_are_many_and_it_finds_the_same(
    kb: KnowledgeBase, ids: list[int], rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    with kb.store.transaction() as connection:
        graph_vectors.ensure_index(connection)
        assert not has_index(connection)
    monkeypatch.setattr(graph_vectors, "EXACT_BELOW", FACTS - 1)
    with kb.store.transaction() as connection:
        graph_vectors.ensure_index(connection)
        assert has_index(connection)
    with kb.store.transaction() as connection:
        connection.execute("SET LOCAL enable_seqscan = off")
        source, values = f"concept_edges WHERE {View().edges()}", {"vector": vectors.to_sql(rows[0]), "limit": 20}
        for exact in (False, True):
            statement = graph_vectors.nearest_rows("id", source, exact=exact)
            plan = str(connection.execute("EXPLAIN " + statement, values).fetchall())
            assert ("concept_edges_embedding" in plan) is not exact
        for query in rows[:5]:
            assert near(connection, query) == near(connection, query, exact=True)


def has_index(connection: Any) -> bool:
    return bool(connection.execute("SELECT to_regclass(%s)", ("concept_edges_embedding",)).fetchone()[0])


@pytest.mark.parametrize("large", [False, True])
def test_a_scope_gets_its_own_facts(
    kb: KnowledgeBase, ids: list[int], rows: Rows, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_vectors, "EXACT_BELOW", 3 if large else FACTS)
    with kb.store.transaction() as connection:
        graph_vectors.ensure_index(connection)
    own = [n for n in range(FACTS) if n % 40 == 7]
    view = View(("own",))
    with kb.store.transaction() as connection:
        connection.execute("UPDATE concept_edges SET scope = 'own' WHERE id = ANY(%s)", ([ids[n] for n in own],))
        # The index gives up at once, and every fact of the scope is compared after all.
        connection.execute("SET LOCAL enable_seqscan = off")
        connection.execute("SET LOCAL hnsw.max_scan_tuples = 1")
        found = near(connection, rows[0], view, limit=5, exact=not large)
        assert found == near(connection, rows[0], view, limit=5, exact=True)
    assert [edge for edge, _ in found] == nearest(ids, rows, rows[0], own, 5)
