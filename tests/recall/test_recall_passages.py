"""Long memories: what stands late in one is found, the hit says where, and nothing of it outlives its text."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from word_endpoint import DIMENSION, WordEndpoint, serving

from hopgate import Memory
from hopgate.cli import application
from hopgate.embed import EmbeddingCache
from hopgate.kb import KnowledgeBase
from hopgate.memory import Cleared
from hopgate.passages import LONG_BYTES, PASSAGE_BYTES, is_long, passage_text, passages
from hopgate.recall.dense import dense_leg
from hopgate.recall.filters import Filters
from hopgate.recall.settings import RecallOptions
from hopgate.store import connect, vectors
from hopgate.store.vectors import to_sql

WEATHER = "Clouds came over the hill and went away again in the afternoon. "
FACT = "The spare key of the greenhouse hangs behind the blue kettle. "
# The fact is in word 900: the bundled model reads some 380 words.
LATE = WEATHER * 75 + FACT + WEATHER * 20
QUESTION = "where is the spare key of the greenhouse"


def count(kb: KnowledgeBase, sql: str = "SELECT count(*) FROM passages") -> int:
    with kb.store.transaction() as connection:
        row = connection.execute(sql).fetchone()
    return int(row[0]) if row else 0


def test_a_fact_in_word_900_is_found_and_the_hit_says_which_passage(kb: KnowledgeBase) -> None:
    others = [f"The {thing} of the shed is behind the door." for thing in ("rake", "spade", "lamp", "hose", "ladder")]
    kb.add(Memory("late", LATE), *(Memory(f"o{n}", text) for n, text in enumerate(others)))
    kb.embed("bge-small")
    assert kb.recall(QUESTION, legs=("dense",), k=6)[0].external_id == "late"
    kb.add(Memory("short", FACT))
    kb.embed()
    ways: list[RecallOptions] = [{}, {"rerank": True, "rerank_timeout": 60.0}]
    for options in ways:
        found = {hit.external_id: hit for hit in kb.recall(QUESTION, legs=("lexical", "dense"), **options)}
        passage = found["late"].passage
        assert passage is not None and FACT.strip() in passage.text
        assert LATE[passage.start : passage.end] == passage.text
        assert found["late"].to_dict()["passage"]["start"] == passage.start
        assert found["short"].passage is None and "passage" not in found["short"].to_dict()
    assert (found["late"].rerank_score or 0) > 0
    shown = CliRunner().invoke(
        application, ["recall", QUESTION, "--dsn", kb.store.dsn, "--explain"], env={"COLUMNS": "200"}
    )
    assert "greenhouse" in shown.output and "characters " in shown.output


text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40)


@settings(max_examples=60, deadline=None)
@given(st.lists(text, min_size=1, max_size=6), st.sampled_from([" ", ". ", "\n", "。", ""]), st.integers(1, 400))
def test_passages_are_small_and_leave_nothing_out(words: list[str], between: str, times: int) -> None:
    content = (between.join(words) + between) * times
    found = passages(content)
    assert bool(found) == is_long(content) == (len(content.encode()) > LONG_BYTES)
    covered = np.zeros(len(content), dtype=bool)
    for span in found:
        assert 0 <= span.start < span.end <= len(content)
        assert len(content[slice(*span)].encode()) <= PASSAGE_BYTES or not content.strip()
        covered[slice(*span)] = True
    if found:
        assert not "".join(np.array(list(content))[~covered]).strip()
        assert [span.start for span in found] == sorted({span.start for span in found})


def test_a_heading_goes_before_every_passage() -> None:
    content = Cleared("The greenhouse\n" + WEATHER * 60)
    first, second, *_ = passages(content)
    assert passage_text(content, first) == content[slice(*first)]
    assert passage_text(content, second) == "The greenhouse\n" + content[slice(*second)]


def test_only_long_memories_have_passages_and_a_change_takes_them_away(
    kb: KnowledgeBase, endpoint: WordEndpoint, cache: Path
) -> None:
    kb.add(Memory("late", LATE), Memory("short", FACT))
    kb.embed(endpoint.spec)
    assert count(kb) == len(passages(LATE)) == count(kb, "SELECT count(embedding) FROM passages")
    assert kb.pending_vectors() == 0
    kb.add(Memory("late", LATE + FACT))
    assert (count(kb), kb.pending_vectors()) == (0, 1)
    kb.embed()
    assert count(kb) == len(passages(LATE + FACT)) and kb.pending_vectors() == 0
    kb.delete(["late"])
    assert count(kb) == 0


def test_turning_sensitive_takes_passages_out_of_store_and_cache(
    kb: KnowledgeBase, endpoint: WordEndpoint, cache: Path
) -> None:
    kb.add(Memory("late", LATE), Memory("short", FACT))
    kb.embed(endpoint.spec)
    digests = [
        hashlib.sha256(f"document\0{passage_text(Cleared(LATE), span)}".encode()).digest() for span in passages(LATE)
    ]
    path = EmbeddingCache.default().path

    def kept() -> list[bool]:
        files = b"".join(file.read_bytes() for file in path.parent.glob(path.name + "*"))
        return [digest in files for digest in digests]

    assert all(kept())
    kb.mark_sensitive(["late"])
    assert count(kb) == 0 and not any(kept())
    kb.embed()
    assert count(kb) == 0
    assert kb.recall("spare key of the greenhouse", k=2)[0].passage is None


def test_another_embedder_embeds_passages_anew(kb: KnowledgeBase, endpoint: WordEndpoint, cache: Path) -> None:
    kb.add(Memory("late", LATE), Memory("short", FACT))
    kb.embed(endpoint.spec)
    with kb.store.transaction() as connection:
        before = connection.execute("SELECT embedding::text FROM passages ORDER BY number").fetchall()
    with serving("others") as second:
        real = second.vector
        second.vector = lambda text: [*real(text)[1:], real(text)[0]]
        assert kb.reembed(second.spec) == 2
        with kb.store.transaction() as connection:
            after = connection.execute("SELECT embedding::text FROM passages ORDER BY number").fetchall()
        assert len(after) == len(before) and after != before
        assert kb.recall("greenhouse kettle", legs=("dense",))[0].passage is not None


Rows = NDArray[np.float32]


@pytest.fixture
def random_store(kb: KnowledgeBase, endpoint: WordEndpoint) -> tuple[KnowledgeBase, Rows, dict[int, Rows]]:
    """Memories and passages with random vectors: their own, and those of each memory's passages."""
    noise = np.random.default_rng(5)

    def units(count: int) -> Rows:
        rows = noise.normal(size=(count, DIMENSION)).astype(np.float32)
        made: Rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16).astype(np.float32)
        return made

    kb.add(*(Memory(f"m{n:03}", f"text {n}", scope="a" if n % 3 else "b") for n in range(120)))
    kb.embed(endpoint.spec)
    whole, parts = units(120), {}
    with kb.store.transaction() as connection:
        ids = [row[0] for row in connection.execute("SELECT id FROM memories ORDER BY external_id")]
        for key, vector in zip(ids, whole, strict=True):
            connection.execute("UPDATE memories SET embedding = %s::halfvec WHERE id = %s", (to_sql(vector), key))
        for key in ids[::4]:
            parts[key] = units(5)
            for number, vector in enumerate(parts[key]):
                connection.execute(
                    "INSERT INTO passages VALUES (%s, %s, 0, 1, %s::halfvec)", (key, number, to_sql(vector))
                )
    return kb, whole, parts


def test_the_best_passage_speaks_for_a_memory_by_index_as_exactly(
    random_store: tuple[KnowledgeBase, Rows, dict[int, Rows]],
) -> None:
    kb, whole, parts = random_store
    query = whole[7] + whole[30] + next(iter(parts.values()))[2]
    query = (query / np.linalg.norm(query)).astype(np.float16).astype(np.float32)
    with kb.store.transaction() as connection:
        ids = [row[0] for row in connection.execute("SELECT id FROM memories ORDER BY external_id")]
        found = dense_leg(connection, query, Filters("a"), depth=20, exact=True)
    best = {key: max([vector @ query, *(parts.get(key, np.zeros((0, DIMENSION))) @ query)]) for key, vector in
            zip(ids, whole, strict=True) if ids.index(key) % 3}  # fmt: skip
    expected = sorted(best, key=lambda key: (-best[key], key))[:20]
    assert [key for key, _ in found] == expected
    np.testing.assert_allclose([score for _, score in found], [best[key] for key in expected], atol=2e-3)
    with connect.connect(kb.store.dsn) as connection:
        connection.autocommit = True
        vectors.build_index(connection)
    with kb.store.transaction() as connection:
        connection.execute("SET LOCAL enable_seqscan = off")
        by_index = dense_leg(connection, whole[3], Filters(), depth=20, exact=False)
        exactly = dense_leg(connection, whole[3], Filters(), depth=20, exact=True)
    assert len({key for key, _ in by_index} & {key for key, _ in exactly}) >= 18
    assert by_index[0] == exactly[0]
