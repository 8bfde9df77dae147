"""A first build by whomever in whatever ranges; relations made one, declared early or late; vectors where they are."""

import zlib
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from graph_content import Scripted, content, version
from word_endpoint import DIMENSION

import hopgate
from hopgate.demo import corpus
from hopgate.extract.extraction import Fact, Mention, found
from hopgate.extract.rules.phrases import Phrases
from hopgate.extract.runner import Run
from hopgate.graph.build import pipeline
from hopgate.memory import Memory
from hopgate.scale.engine import Engine
from hopgate.store.graph import graph_vectors

DAY = datetime(2024, 1, 1, tzinfo=UTC)


@pytest.fixture
def embedding(kb, endpoint):
    """A store whose embedder knows that two words mean the same."""

    def vector(text):
        words = [zlib.crc32(word.encode()) for word in text.lower().replace("nyc", "gotham").split()]
        return sum(np.random.default_rng(word).standard_normal(DIMENSION) for word in words).tolist()

    endpoint.vector = vector
    kb.add(Memory("any", "x"))
    kb.embed(endpoint.spec)
    return kb


def add(kb, keys) -> None:
    kb.add(*(Memory(key, "x", created_at=DAY + timedelta(n)) for n, key in enumerate(keys)))


def lacking(kb) -> int:
    with kb.store.transaction() as connection:
        return len(graph_vectors.pending(connection, {"concept_edges": 0}, limit=10**6)["concept_edges"])


def test_relations_said_in_other_words_become_one_and_the_raw_ones_stay(kb):
    add(kb, "abc")
    told = ["was born in", "born in", "was born in"]
    kb.build(Scripted({key: found([], [Fact("Ada", how, "Leiden")]) for key, how in zip("abc", told, strict=True)}))
    (edge,) = content(kb)["edges"]
    assert '"was born in", "Leiden", 3.0' in edge
    with kb.store.transaction() as connection:
        raw = {row[0] for row in connection.execute("SELECT DISTINCT relation FROM facts")}
        became = dict(connection.execute("SELECT raw, canonical FROM relations").fetchall())
    assert raw == set(told) and became["born in"] == "was born in"


def test_declared_late_is_as_good_as_declared_early(kb):
    add(kb, "ab")
    moved = {"a": found([], [Fact("immich", "runs on", "nas")]), "b": found([], [Fact("immich", "runs on", "tower")])}
    kb.build(Scripted(moved))
    assert len(content(kb)["edges"]) == 2
    before = version(kb)
    kb.build(Scripted(moved), single_valued=["runs on"])
    assert version(kb) == before + 1
    late = content(kb)
    kb.build(Scripted(moved), rebuild=True)
    assert content(kb) == late
    assert len(late["edges"]) == 3  # as it was known first, as it ended, and what followed
    counts = kb.graph.counts()
    assert counts["retired"] == 1 and counts["invalidation_rate"] == 0.5 and counts["single_valued"] == 1


def test_a_fact_that_stays_keeps_its_vector_and_one_of_a_renamed_concept_loses_it(kb, embedding):
    add(kb, "abc")
    extractor = Scripted(
        {
            "a": found([Mention("The Hub")], [Fact("ada", "knows", "The Hub")]),
            "b": found([Mention("Hub")], [Fact("ada", "knows", "Hub")]),
            "c": found([Mention("Hub")], [Fact("ada", "knows", "Hub")]),
        }
    )
    embedding.build(extractor, only=["a", "b"])
    assert lacking(kb) == 0
    embedding.extract(extractor, only=["c"])
    kb.delete(["c"])
    assert lacking(kb) == 0
    kb.delete(["a"])
    assert any('["Hub", ["Hub"]' in row for row in content(kb)["concepts"])
    assert lacking(kb) == 1


def test_names_are_brought_together_by_their_vectors_too(kb, embedding):
    """No letter in common: only the embedder knows that they are one."""
    add(kb, ["first", "second"])
    crowd = [Mention(f"filler{n} word{n}") for n in range(120)]
    embedding.build(Scripted({"first": found([Mention("gotham"), *crowd], []), "second": found([Mention("nyc")], [])}))
    assert any('"gotham", "nyc"' in row for row in content(kb)["concepts"])


SOME = corpus().memories[:220]


@pytest.fixture
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "RANGE", 100)


def test_the_graph_is_that_of_batches(kb, other):
    odd = "Odd\tname \\ of Ada Lovelace\r\nlives in London."
    memories = [*SOME, Memory("odd", odd, tags=("a\tb",), created_at=datetime(2024, 5, 1, tzinfo=UTC))]
    kb.add(*memories)
    built = kb.build(Phrases(), engine=Engine("processes", workers=2))
    with hopgate.open(other) as second:
        second.add(*memories)
        assert second.build(Phrases(), run=Run(batch=63)).extraction.facts == built.extraction.facts
        assert content(kb) == content(second)
        assert second.extraction_states() == kb.extraction_states()


def test_a_backfill_that_was_broken_off_goes_on(kb, small_ranges):
    kb.add(*SOME)

    def interrupt(progress: object) -> None:
        if progress.stage == "extracting" and progress.memories > 50:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kb.build(Phrases(), show=interrupt)
    done = kb.extraction_states()["pending"]
    assert 0 < done < len(SOME)
    built = kb.build(Phrases())
    assert built.extraction.memories == done and built.extraction.skipped > 50
    assert not built.incremental and kb.graph.counts()["edges"] > 0
