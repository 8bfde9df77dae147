"""Vectors are made anew by another embedder while memories are divided into parts: each ends as it would have alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from unittest import mock

import psycopg
import pytest
from reliability.oracle import broken
from word_endpoint import serving

from hopgate.embed.embedder import embedder_from
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory
from hopgate.store import vectors
from hopgate.store.partition import copy_rows

Step = Callable[[KnowledgeBase], object]


@pytest.fixture(scope="module")
def specs() -> Iterator[tuple[str, str]]:
    with serving() as first, serving("others") as second:
        yield first.spec, second.spec


def in_batches(kb: KnowledgeBase, *steps: Step) -> None:
    """Divide a store, with one step of another writer after each batch of two."""
    left = iter(steps)

    def between(_: int) -> None:
        if step := next(left, None):
            step(kb)

    with mock.patch.object(copy_rows, "BATCH", 2):
        kb.upkeep.partition(3, progress=between)
    assert list(left) == []
    with psycopg.connect(kb.store.dsn, options="-c search_path=hopgate,public") as connection:
        assert broken(connection) == {}


def test_columns_that_come_and_go_begin_the_copy_anew(kb: KnowledgeBase, specs: tuple[str, str]) -> None:
    kb.load(Memory(f"n{at}", f"word{at} is known", scope=f"scope {at % 3}") for at in range(8))
    kb.embed(specs[0])
    identity = embedder_from(specs[1]).identity

    def begin(kb: KnowledgeBase) -> None:
        kb.store.run(lambda connection: vectors.begin_next(connection, identity))

    # The first copy lacks the second column, and the second copy has one that is gone.
    in_batches(kb, begin, lambda _: None, lambda _: None, lambda _: None, lambda kb: kb.reembed(specs[1]))
    assert {hit.external_id for hit in kb.recall("word5", legs=("dense",), k=1)} == {"n5"}


def test_no_vector_of_the_embedder_before_is_left(kb: KnowledgeBase, specs: tuple[str, str]) -> None:
    kb.load(Memory(f"n{at}", f"word{at} is known", scope=f"scope {at % 3}") for at in range(8))
    kb.embed(specs[0])

    def change_over(kb: KnowledgeBase) -> None:
        # As where somebody is embedded after the last look at what has no vector of the next embedder.
        identity = embedder_from(specs[1]).identity
        kb.store.run(lambda connection: vectors.begin_next(connection, identity))
        kb.store.run(lambda connection: vectors.finish_next(connection, identity))

    in_batches(kb, lambda _: None, change_over)
    with kb.store.transaction() as connection:
        assert connection.execute("SELECT count(*) FROM memories WHERE embedding IS NOT NULL").fetchone() == (0,)
    assert kb.embed() == 8
