"""The runner: one bad memory stops nothing, a killed run loses nothing, the guard is asked first."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from extraction_caches import DictCache, Rows

from hopgate.errors import HopgateError
from hopgate.extract.extraction import (
    Extraction,
    ExtractorIdentity,
    Fact,
    Mention,
    Source,
    State,
    failed,
    found,
    sources,
)
from hopgate.extract.files import Replay
from hopgate.extract.model.openai import OpenAI
from hopgate.extract.rules.phrases import Phrases
from hopgate.extract.runner import Extracted, Run
from hopgate.memory import Cleared, Memory
from hopgate.progress import Progress
from hopgate.store.extractions import StoreCache


@dataclass
class Moody:
    """An extractor with a bad day: it raises, fails or answers as the text says."""

    prompt: str = "p"
    seen: list[str | int] = field(default_factory=list)

    @property
    def identity(self) -> ExtractorIdentity:
        return ExtractorIdentity("moody", prompt=self.prompt)

    def extract(self, sources: Sequence[Source]) -> list[Extraction]:
        return [self._one(source) for source in sources]

    def _one(self, source: Source) -> Extraction:
        self.seen.append(source.memory_id)
        if "crash" in source.text:
            raise ZeroDivisionError("one bad memory")
        if "hopeless" in source.text:
            raise HopgateError("no server at all")
        if "fail" in source.text:
            return failed("it said no")
        return found([Mention(source.text)], []).spent(10, 5)


def made(*texts: str) -> list[Source]:
    return [Source(number, Cleared(text)) for number, text in enumerate(texts)]


@pytest.mark.parametrize("prompt", ["", "p"])
def test_one_bad_memory_never_stops_the_run(prompt):
    sink = Rows()
    progress = Run(batch=3).over(made("a", "crash", "b", "fail", "c"), Moody(prompt), sink)
    assert [sink.rows[number].state.value for number in range(5)] == [
        *("complete", "failed", "complete", "failed", "complete")
    ]
    assert sink.rows[1].reason == "ZeroDivisionError: one bad memory"
    assert (progress.memories, progress.failed) == (5, 2)
    assert progress.reasons == {"failed: ZeroDivisionError: one bad memory": 1, "failed: it said no": 1}


def test_failures_in_a_row_end_the_run_and_say_why():
    extractor = Moody()
    with pytest.raises(HopgateError, match="at least 1"):
        Run(batch=0)
    progress = Run(patience=4, batch=5).over(made(*["fail"] * 30), extractor, Rows())
    assert "4 memories in a row failed" in progress.stopped and "it said no" in progress.stopped
    assert len(extractor.seen) == 4


def test_what_would_fail_alike_for_all_is_raised_after_writing_what_is_ready():
    sink = Rows()
    with pytest.raises(HopgateError, match="no server"):
        Run(batch=2).over(made("a", "b", "hopeless", "c"), Moody(), sink)
    assert set(sink.rows) == {0, 1}


def test_the_second_run_is_served_from_the_cache_and_failures_are_not_cached():
    cache, extractor = DictCache(), Moody()
    first = Run().over(made("a", "fail", "b"), extractor, Rows(), cache=cache)
    again = Run().over(made("a", "fail", "b"), extractor, Rows(), cache=cache)
    assert (first.cache_hits, again.cache_hits) == (0, 2)
    assert (first.tokens, again.tokens) == (30, 0)
    assert sorted(extractor.seen) == [0, 1, 1, 2]
    assert first.mentions == again.mentions == 2


def test_ctrl_c_writes_what_is_ready_and_a_second_run_does_the_rest():
    sink, extractor = Rows(), Moody()

    def interrupt(progress: Progress) -> None:
        if progress.memories == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Run(batch=2).over(made(*"abcdef"), extractor, sink, show=interrupt)
    assert set(sink.rows) == {0, 1}
    progress = Run(batch=2).over(made(*"abcdef"), extractor, sink)
    assert progress.skipped == 2 and set(sink.rows) == set(range(6))
    assert len(extractor.seen) == 6


def test_what_a_run_that_died_had_asked_about_is_not_asked_again():
    class Dying(Rows):
        def write(self, batch: Sequence[Extracted], identity: ExtractorIdentity) -> None:
            if len(self.rows) == 5:
                raise MemoryError
            super().write(batch, identity)

    cache, extractor, dying = DictCache(), Moody(), Dying()
    with pytest.raises(MemoryError):
        Run(batch=4, concurrency=2).over(made(*"abcdefghijkl"), extractor, dying, cache=cache)
    sink = Rows()
    sink.rows |= dying.rows
    progress = Run(batch=4, concurrency=2).over(made(*"abcdefghijkl"), extractor, sink, cache=cache)
    assert (progress.skipped, progress.memories) == (5, 7) and progress.cache_hits >= 1
    assert sorted(extractor.seen) == list(range(12)) == sorted(sink.rows)


CANARY = "Zanzibarine"


def test_a_sensitive_memory_reaches_no_extractor_no_cache_and_no_sink(chat_server, tmp_path):
    triples = tmp_path / "triples.jsonl"
    triples.write_text('{"doc_id": "secret", "entity": "' + CANARY + '"}\n{"doc_id": "open", "entity": "NAS"}\n')
    memories = [
        Memory("open", "Ada owns the NAS."),
        Memory("secret", f"{CANARY} runs on nas-2.", tags=(CANARY,), is_sensitive=True),
    ]
    for extractor in (Phrases(), OpenAI("tiny", chat_server.url), Replay(str(triples)), Moody()):
        sink, cache = Rows(), DictCache()
        progress = Run().over(sources(memories), extractor, sink, cache=cache)
        assert {key: row.state.value for key, row in sink.rows.items()} == {"open": "complete"}
        assert CANARY not in repr(sink.rows) + repr(progress) + repr(cache.kept)
        assert bool(cache.kept) != isinstance(extractor, Replay), "a replay is not cached"
    assert chat_server.requests and CANARY not in repr(chat_server.requests)


def test_an_empty_extraction_is_a_hit_and_everything_that_changes_an_answer_changes_the_key(kb):
    text = Cleared("Ada owns the NAS.")
    read = Source("m1", text)
    fact = Fact("a", "b", "c", "2019", None, 0.5)
    extraction = Extraction((Mention("Canarybird", "bird"),), (fact,), State.COMPLETE)
    nothing = Extraction(state=State.EMPTY, reason="nothing")
    kb.add(Memory("m1", text))
    cache = StoreCache(kb.store)
    same: dict[str, Any] = {"extractor": "llama", "model": "m"}
    changes: list[dict[str, Any]] = [{"model": "n"}, {"prompt": "q"}, {"grammar": "g"}, {"parameters": {"seed": 1}}]
    first, *others = (ExtractorIdentity(**same | change) for change in [{}, *changes])
    cache.put(first, [(read, extraction)])
    for other in others:
        assert cache.get(other, [read.text_hash]) == cache.get(first, []) == {}
        cache.put(other, [(read, nothing)])
        assert cache.get(other, [read.text_hash]) == {read.text_hash: nothing}
    assert cache.get(first, [read.text_hash]) == {read.text_hash: extraction}
    assert len({source.text_hash for source in (read, replace(read, tags=("x",)), replace(read, keywords=("x",)))}) == 3
