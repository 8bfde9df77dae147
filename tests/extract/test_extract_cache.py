"""The extraction cache: an empty result is a hit, prompts are told apart, nothing of a forgotten text stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from hopgate.errors import HopgateError
from hopgate.extract.cache import DiskCache, ExtractionCache, MemoryCache, cache_key, text_key
from hopgate.extract.extraction import Extraction, Fact, Mention, Source, State
from hopgate.extract.extractor import ExtractorIdentity
from hopgate.memory import Cleared

SOURCE = Source("m1", Cleared("Ada owns the NAS."))
FOUND = Extraction((Mention("Canarybird", "bird"),), (Fact("a", "b", "c", "2019", None, 0.5),), State.COMPLETE)


@pytest.fixture(params=["memory", "disk"])
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> ExtractionCache:
    return MemoryCache() if request.param == "memory" else DiskCache(tmp_path / "deep" / "cache.sqlite")


def test_an_empty_extraction_is_a_hit(cache: ExtractionCache) -> None:
    key = cache_key(SOURCE, ExtractorIdentity("x"))
    cache.put_many({key: Extraction(state=State.EMPTY, reason="nothing")})
    assert cache.get_many([key]) == {key: Extraction(state=State.EMPTY, reason="nothing")}


def test_another_prompt_misses_and_going_back_hits(cache: ExtractionCache) -> None:
    first, second = (cache_key(SOURCE, ExtractorIdentity("llama", "m", prompt=prompt)) for prompt in ("a", "b"))
    cache.put_many({first: FOUND})
    assert cache.get_many([second]) == {}
    cache.put_many({second: Extraction()})
    assert cache.get_many([first]) == {first: FOUND}


@pytest.mark.parametrize("change", [{"model": "n"}, {"prompt": "q"}, {"grammar": "g"}, {"parameters": {"seed": 1}}])
def test_everything_that_changes_an_answer_changes_the_key(change: dict[str, object]) -> None:
    base = {"extractor": "llama", "model": "m"}
    assert ExtractorIdentity(**base).hash != ExtractorIdentity(**{**base, **change}).hash  # type: ignore[arg-type]


def test_tags_are_read_so_they_are_in_the_key() -> None:
    assert text_key(SOURCE) != text_key(Source("m1", SOURCE.text, tags=("x",)))
    assert text_key(Source("m1", SOURCE.text, tags=("x",))) != text_key(Source("m1", SOURCE.text, keywords=("x",)))


def test_forgetting_a_text_removes_every_identity_of_it(cache: ExtractionCache) -> None:
    keys = [cache_key(SOURCE, ExtractorIdentity(name)) for name in ("a", "b")]
    other = cache_key(Source("m2", Cleared("Bob.")), ExtractorIdentity("a"))
    cache.put_many(dict.fromkeys([*keys, other], FOUND))
    assert cache.forget([text_key(SOURCE)]) == 2
    assert set(cache.get_many([*keys, other])) == {other}


def test_what_is_forgotten_is_not_on_disk(tmp_path: Path) -> None:
    with DiskCache(tmp_path / "cache.sqlite") as cache:
        cache.put_many({cache_key(SOURCE, ExtractorIdentity("a")): FOUND})
        cache.forget([text_key(SOURCE)])
        assert not any(b"Canarybird" in path.read_bytes() for path in tmp_path.iterdir())


def test_a_file_that_is_no_database_is_refused_by_name(tmp_path: Path) -> None:
    bad = tmp_path / "cache.sqlite"
    bad.write_bytes(b"not a database, but long enough to be taken for one" * 40)
    with pytest.raises(HopgateError, match=r"cache\.sqlite"):
        DiskCache(bad)
