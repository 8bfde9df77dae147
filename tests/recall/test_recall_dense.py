"""The dense leg: exact against numpy, HNSW against exact, filters that starve the index, vectors that are none."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

import hopgate
from hopgate import Memory
from hopgate.embed import Identity
from hopgate.errors import HopgateError
from hopgate.memory import Cleared
from hopgate.recall.dense import as_text, dense_leg, nearest
from hopgate.recall.filters import Filters
from hopgate.store import connect, vectors
from hopgate.store.vectors import to_sql

DIMENSION, COUNT = 8, 300
Rows = NDArray[np.float32]


@dataclass
class Store:
    """Memories with random vectors, every fourth with passages; those of scope "rare" are few, the last two equal."""

    connection: psycopg.Connection[tuple[object, ...]]
    ids: list[int]
    whole: Rows
    parts: dict[int, Rows]

    def best(self, query: Rows) -> dict[int, float]:
        """The similarity of each memory: that of its best passage, or its own where that is better."""
        rows = [np.vstack([self.whole[[at]], self.parts.get(key, self.whole[[at]])]) for at, key in enumerate(self.ids)]
        return {key: float((row @ query).max()) for key, row in zip(self.ids, rows, strict=True)}


@pytest.fixture(scope="module")
def filled(module_dsn: str) -> Iterator[Store]:
    noise = np.random.default_rng(3)

    def units(count: int) -> Rows:
        rows = noise.normal(size=(count, DIMENSION))
        made: Rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16).astype(np.float32)
        return made

    whole = units(COUNT)
    whole[-1] = whole[-2]
    scopes = ["rare" if n % 60 == 7 else "common" for n in range(COUNT)]
    with hopgate.open(module_dsn) as kb:
        kb.add(*(Memory(f"m{n:04}", f"text {n}", scope=scope) for n, scope in enumerate(scopes)))
        with kb.store.transaction() as connection:
            ids = [row[0] for row in connection.execute("SELECT id FROM memories ORDER BY external_id")]
            texts = [Cleared(f"text {n}") for n in range(COUNT)]
            made = [vectors.Embedded(key, texts[n], whole[[n]]) for n, key in enumerate(ids)]
            vectors.write(connection, made, Identity("tiny", DIMENSION, spec="tiny"))
            parts = {key: units(5) for key in ids[::4]}
            rows = [(key, n, to_sql(row)) for key, part in parts.items() for n, row in enumerate(part)]
            connection.cursor().executemany("INSERT INTO passages VALUES (%s, %s, 0, 1, %s::halfvec)", rows)
    with connect.connect(module_dsn) as connection:
        connection.autocommit = True
        vectors.build_index(connection)
        connection.execute("ANALYZE memories")
    with connect.connect(module_dsn) as connection:
        yield Store(connection, ids, whole, parts)


@pytest.fixture
def store(filled: Store) -> Iterator[Store]:
    """What a test sets for its transaction ends with it."""
    yield filled
    filled.connection.rollback()


def test_exact_is_what_numpy_says_the_best_passage_speaks_and_equal_ones_go_by_id(store):
    for query in (store.whole[7], store.whole[-1], next(iter(store.parts.values()))[2]):
        best = store.best(query)
        found = dense_leg(store.connection, query, Filters(), depth=20, exact=True)
        assert [key for key, _ in found] == sorted(best, key=lambda key: (-best[key], key))[:20]
        np.testing.assert_allclose([score for _, score in found], [best[key] for key, _ in found], atol=2e-3)


def test_the_index_fills_the_leg_and_ends_with_its_settings(store):
    exact = dense_leg(store.connection, store.whole[0], Filters(), depth=100, exact=True)
    store.connection.execute("SET LOCAL enable_seqscan = off")
    by_index = dense_leg(store.connection, store.whole[0], Filters(), depth=100, exact=False)
    assert len(by_index) == 100 and by_index[0] == exact[0]
    assert len({key for key, _ in by_index} & {key for key, _ in exact}) >= 90
    plan = store.connection.execute(
        f"EXPLAIN {nearest('true', exact=True)}", {"vector": to_sql(store.whole[0]), "depth": 10}
    ).fetchall()
    assert "memories_embedding" not in str(plan)
    store.connection.commit()
    assert store.connection.execute("SELECT current_setting('hnsw.ef_search')").fetchone() == ("40",)


def test_a_narrow_scope_does_not_starve_the_leg(store):
    for setting in ("enable_seqscan = off", "enable_bitmapscan = off", "hnsw.max_scan_tuples = 1"):
        store.connection.execute(f"SET LOCAL {setting}")
    store.connection.execute("DROP INDEX memories_scope")
    leg, exact = (
        dense_leg(store.connection, store.whole[0], Filters(scope="rare"), depth=5, exact=way) for way in (False, True)
    )
    assert leg == exact and len(leg) == 5


@pytest.mark.parametrize("vector", [[0.0] * 4, [float("nan")] * 4, [float("inf"), 0, 0, 0]])
def test_a_vector_that_is_none_is_refused(vector):
    with pytest.raises(HopgateError, match="vector"):
        as_text(np.array(vector, dtype=np.float32))
