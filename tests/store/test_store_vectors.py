"""A store's vectors: one space, claimed by name, filled batch by batch, changed beside running recall."""

import json
from typing import Any

import numpy as np
import psycopg
import pytest
from word_endpoint import DIMENSION, embed, serving

from hopgate import HopgateError, Memory
from hopgate.embed import EmbeddingCache, Identity
from hopgate.kb import KnowledgeBase
from hopgate.memory import Cleared
from hopgate.store import connect, fill, vectors
from hopgate.store.vectors import to_sql

TINY = Identity("tiny", 4, spec="tiny")


@pytest.fixture
def filled(kb: KnowledgeBase) -> KnowledgeBase:
    kb.add(*(Memory(f"m{n}", f"text number {n}") for n in range(7)), Memory("s", "a secret", is_sensitive=True))
    return kb


def rows_of(kb: KnowledgeBase, sql: str) -> list[tuple[object, ...]]:
    with kb.store.transaction() as connection:
        return connection.execute(sql).fetchall()


def ids(kb: KnowledgeBase) -> list[int]:
    with kb.store.transaction() as connection:
        return vectors.pending(connection, limit=100)


def write(connection: psycopg.Connection[Any], keys: list[int], rows: np.ndarray[Any, Any]) -> set[int]:
    """Vectors of the first of the memories of `filled`."""
    texts = [Cleared(f"text number {n}") for n in range(len(keys))]
    batch = [vectors.Embedded(key, text, row[None]) for key, text, row in zip(keys, texts, rows, strict=True)]
    return vectors.write(connection, batch, TINY)


def test_a_space_belongs_to_one_embedder(filled):
    with filled.store.transaction() as connection:
        assert vectors.space(connection) is None
        vectors.claim(connection, TINY)
        vectors.claim(connection, TINY)
        found = vectors.space(connection)
    assert found is not None and found.identity == TINY and not found.indexed
    for other in (Identity("large", 8, spec="large"), Identity("tiny", 4, spec="tiny", query_prompt="q: ")):
        refused = pytest.raises(HopgateError, match=r"embedded by tiny \(4 dimensions\), not by .*embed --change")
        with refused, filled.store.transaction() as connection:
            vectors.claim(connection, other)


def test_a_failing_embedder_writes_nothing_of_its_batch_and_the_next_run_goes_on(filled, endpoint, monkeypatch):
    monkeypatch.setattr(fill, "BATCH", 3)
    EmbeddingCache.default().forget([f"text number {n}" for n in range(7)])
    endpoint.vector = lambda text: embed(text) if "number 5" not in text else [float("nan")] * DIMENSION
    with pytest.raises(HopgateError):
        filled.embed(endpoint.spec)
    assert filled.pending_vectors() == 4
    endpoint.vector = embed
    assert filled.embed() == 4


def test_reembed_changes_over_at_the_end_and_resumes(filled, endpoint, monkeypatch):
    filled.embed(endpoint.spec)
    monkeypatch.setattr(fill, "BATCH", 3)
    with serving("others") as second:
        second.vector = lambda text: embed(text) if "number 4" not in text else [0.0] * DIMENSION
        with pytest.raises(HopgateError, match="zeros"):
            filled.reembed(second.spec)
        # Half way: the old vectors still answer, and the old embedder embeds what is new.
        assert filled.recall("number 4", legs=("dense",))
        asked = len(second.texts)
        second.vector = embed
        assert filled.reembed(second.spec) == 7
        assert not {"text number 0", "text number 1", "text number 2"} & set(second.texts[asked:])
        with filled.store.transaction() as connection:
            found = vectors.space(connection)
        assert found is not None and found.identity.name == "others"
        assert filled.recall("number 4", legs=("dense",))[0].external_id == "m4"
        assert filled.reembed(second.spec) == 0
    columns = rows_of(filled, "SELECT attname FROM pg_attribute WHERE attrelid = 'memories'::regclass "
                              "AND attname LIKE '%embedding' AND NOT attisdropped")  # fmt: skip
    assert columns == [("embedding",)]


def has_index(connection: psycopg.Connection[Any]) -> bool:
    space = vectors.space(connection)
    return space is not None and space.indexed


def test_the_index_is_built_once_and_an_invalid_one_anew_whoever_else_builds(filled):
    with filled.store.transaction() as connection:
        vectors.claim(connection, TINY)
    with psycopg.connect(filled.store.dsn, autocommit=True) as first, connect.connect(filled.store.dsn) as second:
        second.autocommit = True
        first.execute("SELECT pg_advisory_lock(hashtext('hopgate hnsw'))")
        vectors.build_index(second)
        assert not has_index(second)
        first.execute("SELECT pg_advisory_unlock(hashtext('hopgate hnsw'))")
        before = second.execute("SHOW maintenance_work_mem").fetchone()
        vectors.build_index(second)
        assert has_index(second)
        # Without workers: before 0.8.2 they are unsafe (CVE-2026-3172), on whoever's server.
        workers = "SELECT current_setting('max_parallel_maintenance_workers')"
        vectors.build_over(second, f"CREATE TEMP TABLE seen AS {workers}")
        assert second.execute("SELECT * FROM seen").fetchone() == ("0",)
        old = connect.vector_version(second) < (0, 8, 2)
        assert ("CVE-2026-3172" in filled.upkeep.status()["pgvector"]) == old
        second.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'memories_embedding'::regclass")
        assert not has_index(second)
        vectors.build_index(second)
        assert has_index(second)
        assert second.execute("SHOW maintenance_work_mem").fetchone() == before
        assert second.execute(workers).fetchone() == ("2",)


def test_a_query_is_rounded_as_stored_vectors_are_and_read_back_the_same(filled):
    values = np.random.default_rng(1).normal(size=(50, 4)).astype(np.float32)
    with filled.store.transaction() as connection:
        vectors.claim(connection, TINY)
        keys = vectors.pending(connection, limit=7)
        assert write(connection, keys, values[:7]) == set(keys)
        stored = connection.execute("SELECT embedding::text FROM memories WHERE id = ANY(%s) ORDER BY id", (keys,))
        read = np.array([json.loads(row[0]) for row in stored], np.float16)
        assert (read == values[:7].astype(np.float16)).all()
        # The server rounds a float's digits as we do.
        for vector in values:
            digits = "[" + ",".join(f"{value:.9g}" for value in vector.tolist()) + "]"
            same = connection.execute("SELECT %s::halfvec = %s::halfvec", (digits, to_sql(vector))).fetchone()
            assert same == (True,)
