"""The dense leg: exact against numpy, HNSW against exact, filters that starve the index, vectors that are none."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from hopgate import Memory
from hopgate.embed import Identity
from hopgate.errors import HopgateError
from hopgate.kb import KnowledgeBase
from hopgate.memory import Cleared
from hopgate.recall.dense import as_text, dense_leg, nearest
from hopgate.recall.filters import Filters
from hopgate.store import connect, vectors

DIMENSION = 8
Rows = NDArray[np.float32]


def unit(rows: Rows) -> Rows:
    made: Rows = (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)
    return made


def fill(kb: KnowledgeBase, rows: Rows, scopes: list[str | None] | None = None) -> list[int]:
    """One memory a vector; gives the store's ids."""
    kb.add(*(Memory(f"m{n:04}", f"text {n}", scope=scopes[n] if scopes else None) for n in range(len(rows))))
    with kb.store.transaction() as connection:
        ids = [row[0] for row in connection.execute("SELECT id FROM memories ORDER BY external_id")]
        vectors.write(
            connection,
            [vectors.Embedded(key, Cleared(f"text {n}"), rows[[n]]) for n, key in enumerate(ids)],
            Identity("tiny", rows.shape[1], spec="tiny"),
        )
    return ids


@pytest.fixture
def rows() -> Rows:
    return unit(np.random.default_rng(3).normal(size=(300, DIMENSION)).astype(np.float32))


@pytest.fixture
def indexed(kb: KnowledgeBase, rows: Rows) -> Iterator[KnowledgeBase]:
    fill(kb, rows, ["rare" if n % 60 == 7 else "common" for n in range(len(rows))])
    with connect.connect(kb.store.dsn) as connection:
        connection.autocommit = True
        vectors.build_index(connection)
        connection.execute("ANALYZE memories")
    yield kb


def test_exact_is_what_numpy_says(kb: KnowledgeBase, rows: Rows) -> None:
    ids = fill(kb, rows)
    query = unit(np.random.default_rng(4).normal(size=DIMENSION).astype(np.float32))
    with kb.store.transaction() as connection:
        leg = dense_leg(connection, query, Filters(), depth=20, exact=True)
    halves = rows.astype(np.float16).astype(np.float64)
    cosine = halves @ query.astype(np.float16).astype(np.float64)
    cosine /= np.linalg.norm(halves, axis=1) * np.linalg.norm(query.astype(np.float16).astype(np.float64))
    best = np.argsort(-cosine, kind="stable")[:20]
    assert [key for key, _ in leg] == [ids[n] for n in best]
    assert np.allclose([score for _, score in leg], cosine[best], atol=1e-6)


def test_equal_vectors_go_by_id(kb: KnowledgeBase) -> None:
    ids = fill(kb, unit(np.ones((5, DIMENSION), dtype=np.float32)))
    with kb.store.transaction() as connection:
        leg = dense_leg(connection, np.ones(DIMENSION, dtype=np.float32), Filters(), depth=3, exact=True)
    assert [key for key, _ in leg] == ids[:3]


def test_the_index_fills_the_leg(indexed: KnowledgeBase, rows: Rows) -> None:
    with indexed.store.transaction() as connection:
        found = vectors.space(connection)
        assert found is not None and found.indexed
        exact = dense_leg(connection, rows[0], Filters(), depth=100, exact=True)
        connection.execute("SET LOCAL enable_seqscan = off")
        by_index = dense_leg(connection, rows[0], Filters(), depth=100, exact=False)
    assert len(by_index) == 100
    assert len({key for key, _ in by_index} & {key for key, _ in exact}) >= 95


def test_a_narrow_scope_does_not_starve_the_leg(indexed: KnowledgeBase, rows: Rows) -> None:
    with indexed.store.transaction() as connection:
        connection.execute("SET LOCAL enable_seqscan = off")
        connection.execute("SET LOCAL enable_bitmapscan = off")
        connection.execute("DROP INDEX memories_scope")
        connection.execute("SET LOCAL hnsw.max_scan_tuples = 1")
        leg = dense_leg(connection, rows[0], Filters(scope="rare"), depth=5, exact=False)
        exact = dense_leg(connection, rows[0], Filters(scope="rare"), depth=5, exact=True)
        connection.rollback()
    assert leg == exact and len(leg) == 5


def test_planner_settings_end_with_the_transaction(indexed: KnowledgeBase, rows: Rows) -> None:
    with connect.connect(indexed.store.dsn) as connection:
        dense_leg(connection, rows[0], Filters(), depth=100, exact=False)
        connection.commit()
        (left,) = connection.execute("SELECT current_setting('hnsw.ef_search')").fetchone() or ("",)
    assert left == "40"


def test_an_index_never_serves_an_exact_search(indexed: KnowledgeBase, rows: Rows) -> None:
    with indexed.store.transaction() as connection:
        connection.execute("SET LOCAL enable_seqscan = off")
        plan = connection.execute(
            f"EXPLAIN {nearest('true', exact=True)}",
            {"vector": as_text(rows[0]), "depth": 10},
        ).fetchall()
    assert vectors.INDEX not in str(plan)


@pytest.mark.parametrize("vector", [[0.0] * 4, [float("nan")] * 4, [float("inf"), 0, 0, 0]])
def test_a_vector_that_is_none_is_refused(vector: list[float]) -> None:
    with pytest.raises(HopgateError, match="vector"):
        as_text(np.array(vector, dtype=np.float32))
