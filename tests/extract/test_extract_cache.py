"""The extraction cache, as the store keeps it: an empty result is a hit, and prompts are told apart."""

from __future__ import annotations

from typing import Any

from hopgate.extract.extraction import Extraction, ExtractorIdentity, Fact, Mention, Source, State
from hopgate.kb import KnowledgeBase
from hopgate.memory import Cleared, Memory
from hopgate.store.extractions import StoreCache

SOURCE = Source("m1", Cleared("Ada owns the NAS."))
FOUND = Extraction((Mention("Canarybird", "bird"),), (Fact("a", "b", "c", "2019", None, 0.5),), State.COMPLETE)
NOTHING = Extraction(state=State.EMPTY, reason="nothing")


def test_an_empty_extraction_is_a_hit_another_prompt_misses_and_going_back_hits(kb: KnowledgeBase) -> None:
    kb.add(Memory("m1", SOURCE.text))
    cache = StoreCache(kb.store)
    first, second = (ExtractorIdentity("llama", "m", prompt=prompt) for prompt in ("a", "b"))
    cache.put(first, [])
    cache.put(first, [(SOURCE, FOUND)])
    assert cache.get(second, [SOURCE.text_hash]) == cache.get(first, []) == {}
    cache.put(second, [(SOURCE, NOTHING)])
    assert cache.get(second, [SOURCE.text_hash]) == {SOURCE.text_hash: NOTHING}
    assert cache.get(first, [SOURCE.text_hash]) == {SOURCE.text_hash: FOUND}


def test_everything_that_changes_an_answer_changes_the_key() -> None:
    changes: list[dict[str, Any]] = [{"model": "n"}, {"prompt": "q"}, {"grammar": "g"}, {"parameters": {"seed": 1}}]
    hashes = {ExtractorIdentity(**{"extractor": "llama", "model": "m"} | change).hash for change in [{}, *changes]}
    assert len(hashes) == 5
    read = [SOURCE, Source("m1", SOURCE.text, tags=("x",)), Source("m1", SOURCE.text, keywords=("x",))]
    assert len({source.text_hash for source in read}) == 3
