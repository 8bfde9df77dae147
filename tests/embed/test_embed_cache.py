"""The cache: exact, private, shared between processes, and whole after a crash."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hopgate.embed import Embedder, EmbeddingCache, Identity
from hopgate.embed import cache as cached_module
from hopgate.errors import HopgateError
from hopgate.memory import Cleared, Memory, cleared

TINY = Identity("tiny", 3, spec="tiny", query_prompt="query: ")
OTHER = Identity("other", 2, spec="other")


class Counting(Embedder):
    """A real embedder over letters, which counts what it is asked and fails when told to."""

    identity = TINY

    def __init__(self, cache: EmbeddingCache | None = None) -> None:
        self.asked: list[str] = []
        self.fail_on = ""
        self.cache = cache

    def _rows(self, texts: Sequence[str], kind: str) -> NDArray[np.float32]:
        self.asked += texts
        if self.fail_on in texts:
            raise HopgateError("the endpoint is gone")
        rows = np.array([[len(text) + 1, text.count("a"), 1] for text in texts], dtype=np.float32)
        return -rows if kind == "query" else rows


@pytest.fixture
def cache(tmp_path: Path) -> EmbeddingCache:
    return EmbeddingCache(tmp_path / "deep" / "cache.sqlite3")


def passed(*texts: str) -> list[Cleared]:
    return [text for _, text in cleared((number, Memory(str(number), text)) for number, text in enumerate(texts))]


def row(*values: float) -> NDArray[np.float32]:
    return np.array(values, dtype=np.float32)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.text(), st.lists(st.floats(width=32), min_size=3, max_size=3), max_size=8))
def test_what_goes_in_comes_out_to_the_bit(cache, entries):
    vectors = {text: row(*values) for text, values in entries.items()}
    cache.put(TINY, vectors)
    found = cache.get(TINY, entries)
    assert found.keys() == vectors.keys()
    assert all(found[text].tobytes() == vectors[text].tobytes() for text in vectors)


def test_forget_takes_every_embedder_and_role_and_leaves_no_bytes(cache):
    marked = row(1234.5678, 2345.6789, 3456.789)
    cache.put(TINY, {"secret": marked, "open": row(1, 1, 1)})
    cache.put(TINY, {"secret": marked}, "query")
    assert (cache.get(OTHER, ["secret"]), cache.get(TINY, ["open"], "query")) == ({}, {})
    cache.put(OTHER, {"secret": marked[:2]})
    assert cache.info().embedders == {"other": 1, "tiny": 3}
    assert cache.forget(["secret", "never seen"]) == 3
    assert cache.info().vectors == 1
    for file in cache.path.parent.iterdir():
        assert marked[:2].tobytes() not in file.read_bytes()


def test_a_second_run_embeds_nothing(cache):
    texts = passed("a", "b", "a", "ccc")
    first, second = Counting(cache), Counting(EmbeddingCache(cache.path))
    rows = first.documents(texts)
    np.testing.assert_array_equal(rows, second.documents(texts))
    assert (first.asked, second.asked) == (["a", "b", "ccc"], [])
    assert second.documents([]).shape == (0, 3)


def test_queries_are_kept_only_on_demand(cache):
    plain, keeping = Counting(cache), Counting(cache)
    keeping.keep_queries = True
    plain.queries(["q"])
    assert cache.info().vectors == 0
    np.testing.assert_array_equal(keeping.queries(["q"]), keeping.queries(["q"]))
    assert keeping.asked == ["q"]
    assert (keeping.queries(["q"]) == -keeping.documents(passed("q"))).all()


def test_a_failure_keeps_whole_batches_and_nothing_of_the_failed_one(cache, monkeypatch):
    monkeypatch.setattr(cached_module, "BATCH", 2)
    failing, again = Counting(cache), Counting(cache)
    failing.fail_on = "d"
    with pytest.raises(HopgateError, match="gone"):
        failing.documents(passed("a", "b", "c", "d", "e"))
    assert set(cache.get(TINY, "abcde")) == {"a", "b"}
    assert len(again.documents(passed("a", "b", "c", "d", "e"))) == 5
    assert again.asked == ["c", "d", "e"]


def test_a_damaged_file_is_told_and_can_be_cleared(cache):
    cache.path.parent.mkdir(parents=True)
    cache.path.write_bytes(b"this is not a database, not at all" * 100)
    with pytest.raises(HopgateError, match="hopgate cache clear"):
        cache.get(TINY, ["a"])
    cache.clear()
    cache.put(TINY, {"a": row(1, 2, 3)})
    assert cache.info().vectors == 1


def test_a_file_that_grows_too_large_lets_go_of_a_part_and_one_that_is_cleared_of_all(cache, monkeypatch):
    vectors = {str(number): row(number, 0, 0) for number in range(2000)}
    cache.put(TINY, vectors)
    before = cache.info()
    monkeypatch.setattr(cached_module, "MOST_BYTES", before.bytes // 2)
    cache.put(TINY, vectors)
    assert 1200 < cache.info().vectors < 1800
    assert cache.clear() > 1200
    after = cache.info()
    assert (after.vectors, after.embedders) == (0, {})
    assert after.bytes < before.bytes
    assert after.path == str(cache.path)


def test_a_place_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(HopgateError, match="cannot be used"):
        EmbeddingCache(tmp_path / "file" / "cache.sqlite3").put(TINY, {"a": row(1, 2, 3)})
