"""Fusion in one SQL statement gives what fusion in Python gives: ids, scores to the last bit, ranks, contributions."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from word_endpoint import WordEndpoint, serving

from hopgate import Memory
from hopgate.embed import Identity
from hopgate.kb import KnowledgeBase
from hopgate.recall.filters import Filters
from hopgate.recall.fuse import RRF, TM2C2, Importance, order
from hopgate.recall.legs.dense import dense_leg
from hopgate.recall.legs.lexical import RANKERS, LexicalRanker, lexical_leg
from hopgate.recall.one_statement import can_fuse, sql_fused
from hopgate.recall.settings import Settings
from hopgate.store import memories, vectors

WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord")
DIMENSION = 4


def fill(kb: KnowledgeBase, count: int, seed: int) -> None:
    """Few words, few directions and few importances, so that ties are everywhere."""
    pick = random.Random(seed)
    noise = np.random.default_rng(seed)
    with kb.store.transaction() as connection:
        connection.execute("TRUNCATE memories CASCADE")
    kb.add(
        *(
            Memory(
                f"m{n}",
                " ".join(pick.choices(WORDS, k=pick.randint(1, 5))),
                importance=pick.choice([0.0, 0.1, 0.5, 0.7, 1.0]),
                scope=pick.choice(["home", "work"]),
                is_sensitive=pick.random() < 0.1,
            )
            for n in range(count)
        )
    )
    with kb.store.transaction() as connection:
        if vectors.space(connection) is None:
            vectors.claim(connection, Identity("tiny", DIMENSION, spec="tiny"))
        known = memories.fetch_by_id(connection, vectors.pending(connection, limit=count))
        if known:
            rows = noise.integers(-1, 2, size=(len(known), DIMENSION)).astype(np.float32)
            rows[(rows == 0).all(axis=1)] = 1
            vectors.write(connection, list(known), [one.content for one in known.values()], rows)


WEIGHT = st.one_of(st.sampled_from([0.0, 1.0, 0.35, 5.0]), st.floats(0, 5, allow_subnormal=False))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    corpus=st.tuples(st.integers(0, 30), st.integers(0, 7)),
    weights=st.fixed_dictionaries({"lexical": WEIGHT, "dense": WEIGHT, "graph": WEIGHT}),
    query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
    seed=st.integers(0, 1000),
    depth=st.integers(1, 12),
    k=st.integers(1, 30),
    k_rrf=st.one_of(st.just(60.0), st.floats(0, 100)),
    floor=st.sampled_from([0.0, 0.3, 0.7, 1.0]),
    scoped=st.booleans(),
    ranker=st.sampled_from(RANKERS),
)
def test_same_as_python(
    kb: KnowledgeBase,
    corpus: tuple[int, int],
    weights: dict[str, float],
    query: str,
    seed: int,
    depth: int,
    k: int,
    k_rrf: float,
    floor: float,
    scoped: bool,
    ranker: LexicalRanker,
) -> None:
    fill(kb, *corpus)
    fuser = RRF(k=k_rrf, **weights)
    pick = random.Random(seed)
    vector = np.array([pick.choice([-1, 0.5, 1]) for _ in range(DIMENSION)], dtype=np.float32)
    with kb.store.transaction() as connection:
        ids = [row[0] for row in connection.execute("SELECT id FROM memories WHERE scope = 'home' ORDER BY id")]
        filters = Filters(scope="home" if scoped else None, exclude=tuple(ids[:1]))
        graph = [(key, 1 / place) for place, key in enumerate(pick.sample(ids, min(len(ids), depth)), start=1)]
        legs = {
            "lexical": lexical_leg(connection, query, filters, depth=depth, ranker=ranker),
            "dense": dense_leg(connection, vector, filters, depth=depth, exact=True),
            "graph": graph,
        }
        importance = {key: weight for key, (weight, _) in memories.weights(connection, ids_of(connection)).items()}
        expected = order(fuser.fuse(legs), importance=importance, prior=Importance(floor))[:k]
        found = sql_fused(
            connection, fuser, query=query, filters=filters, vector=vector, graph=graph, depth=depth, k=k, floor=floor,
            ranker=ranker,
        )  # fmt: skip
    assert [hit for hit, _ in found] == expected
    for hit, scores in found:
        assert scores == {name: dict(legs[name])[hit.id] for name in hit.ranks}


def ids_of(connection: Any) -> list[int]:
    return [row[0] for row in connection.execute("SELECT id FROM memories")]


@pytest.fixture
def endpoint() -> Iterator[WordEndpoint]:
    with serving() as running:
        yield running


def test_recall_takes_the_fast_path_and_returns_the_same_hits(kb: KnowledgeBase, endpoint: WordEndpoint) -> None:
    pick = random.Random(5)
    kb.add(
        *(
            Memory(f"m{n}", " ".join(pick.choices(WORDS, k=4)), importance=round(pick.random(), 2), scope="ab"[n % 2])
            for n in range(60)
        )
    )
    assert kb.recall("amber", fast=True, graph=0) == kb.recall("amber", fast=False, graph=0)
    kb.embed(endpoint.spec)
    options: list[dict[str, Any]] = [
        {}, {"scope": "a"}, {"exclude": ["m1", "m2"]}, {"k": 40, "depth": 7}, {"lexical": 0}, {"dense": 0},
        {"prior": 1.0}, {"lexical": 0, "dense": 0}, {"exact": False},
    ]  # fmt: skip
    for option in options:
        for query in ("amber birch", "fjord", "nothing of it", "cedar dune ember"):
            slow = kb.recall(query, explain=True, fast=False, **{"graph": 0, **option})
            assert kb.recall(query, explain=True, fast=True, **{"graph": 0, **option}) == slow


def test_weight_0_of_dense_embeds_nothing_on_the_fast_path(kb: KnowledgeBase, endpoint: WordEndpoint) -> None:
    kb.add(Memory("a", "amber"))
    kb.embed(endpoint.spec)
    before = len(endpoint.bodies)
    assert [hit.external_id for hit in kb.recall("amber", fast=True, dense=0, graph=0)] == ["a"]
    assert len(endpoint.bodies) == before


def test_what_the_statement_cannot_do_goes_the_other_way() -> None:
    assert can_fuse(Settings())
    for changes in ({"sort_by": "recency"}, {"rerank": True}, {"exact_match": 0.5}, {"fuser": TM2C2()}):
        assert not can_fuse(Settings().replaced(changes))
    assert not can_fuse(Settings(fuser=RRF(others={"title": 1})))
