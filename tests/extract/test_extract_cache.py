"""The extraction cache, as the store keeps it: an empty result is a hit, and prompts are told apart."""

from __future__ import annotations

from typing import Any

import pytest

from hopgate.extract.extraction import Extraction, ExtractorIdentity, Fact, Mention, Source, State
from hopgate.extract.runner import CacheEntry, ExtractionCache, cache_key, text_key
from hopgate.kb import KnowledgeBase
from hopgate.memory import Cleared, Memory
from hopgate.store.extractions import StoreCache

SOURCE = Source("m1", Cleared("Ada owns the NAS."))
FOUND = Extraction((Mention("Canarybird", "bird"),), (Fact("a", "b", "c", "2019", None, 0.5),), State.COMPLETE)


@pytest.fixture
def cache(kb: KnowledgeBase) -> ExtractionCache:
    kb.add(Memory("m1", SOURCE.text))
    return StoreCache(kb.store)


def test_an_empty_extraction_is_a_hit(cache: ExtractionCache) -> None:
    key = cache_key(SOURCE, ExtractorIdentity("x"))
    cache.put_many([CacheEntry(key, SOURCE, Extraction(state=State.EMPTY, reason="nothing"))])
    assert cache.get_many([key]) == {key: Extraction(state=State.EMPTY, reason="nothing")}


def test_another_prompt_misses_and_going_back_hits(cache: ExtractionCache) -> None:
    first, second = (cache_key(SOURCE, ExtractorIdentity("llama", "m", prompt=prompt)) for prompt in ("a", "b"))
    cache.put_many([CacheEntry(first, SOURCE, FOUND)])
    assert cache.get_many([second]) == {}
    cache.put_many([CacheEntry(second, SOURCE, Extraction())])
    assert cache.get_many([first]) == {first: FOUND}


def test_everything_that_changes_an_answer_changes_the_key(cache: ExtractionCache) -> None:
    cache.put_many([])
    assert cache.get_many([]) == {}
    changes: list[dict[str, Any]] = [{"model": "n"}, {"prompt": "q"}, {"grammar": "g"}, {"parameters": {"seed": 1}}]
    hashes = {ExtractorIdentity(**{"extractor": "llama", "model": "m"} | change).hash for change in [{}, *changes]}
    assert len(hashes) == 5
    read = [SOURCE, Source("m1", SOURCE.text, tags=("x",)), Source("m1", SOURCE.text, keywords=("x",))]
    assert len(set(map(text_key, read))) == 3
