"""The runner: one bad memory stops nothing, a killed run loses nothing, the guard is asked first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import extraction_caches
import pytest
from extraction_caches import DictCache, FileCache, Rows

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
)  # fmt: skip
from hopgate.extract.files import Replay
from hopgate.extract.model.openai import OpenAI
from hopgate.extract.rules.phrases import Phrases
from hopgate.extract.runner import Run
from hopgate.kb import KnowledgeBase
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
def test_one_bad_memory_never_stops_the_run(prompt: str) -> None:
    sink = Rows()
    progress = Run(batch=3).over(made("a", "crash", "b", "fail", "c"), Moody(prompt), sink)
    assert [sink.rows[number].state.value for number in range(5)] == [
        *("complete", "failed", "complete", "failed", "complete")
    ]
    assert sink.rows[1].reason == "ZeroDivisionError: one bad memory"
    assert (progress.memories, progress.failed) == (5, 2)
    assert progress.reasons == {"failed: ZeroDivisionError: one bad memory": 1, "failed: it said no": 1}


def test_failures_in_a_row_end_the_run_and_say_why() -> None:
    extractor = Moody()
    with pytest.raises(HopgateError, match="at least 1"):
        Run(batch=0)
    progress = Run(patience=4, batch=5).over(made(*["fail"] * 30), extractor, Rows())
    assert "4 memories in a row failed" in progress.stopped and "it said no" in progress.stopped
    assert len(extractor.seen) == 4


def test_what_would_fail_alike_for_all_is_raised_after_writing_what_is_ready() -> None:
    sink = Rows()
    with pytest.raises(HopgateError, match="no server"):
        Run(batch=2).over(made("a", "b", "hopeless", "c"), Moody(), sink)
    assert set(sink.rows) == {0, 1}


def test_the_second_run_is_served_from_the_cache_and_failures_are_not_cached() -> None:
    cache, extractor = DictCache(), Moody()
    first = Run().over(made("a", "fail", "b"), extractor, Rows(), cache=cache)
    again = Run().over(made("a", "fail", "b"), extractor, Rows(), cache=cache)
    assert (first.cache_hits, again.cache_hits) == (0, 2)
    assert (first.tokens, again.tokens) == (30, 0)
    assert sorted(extractor.seen) == [0, 1, 1, 2]
    assert first.mentions == again.mentions == 2


def test_ctrl_c_writes_what_is_ready_and_a_second_run_does_the_rest() -> None:
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


KILLED = r"""
import pathlib, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job inherits it ignored
sys.path.insert(0, sys.argv[2])
from extraction_caches import FileCache
from hopgate.extract.extraction import Mention, Source, found
from hopgate.extract.extraction import ExtractorIdentity
from hopgate.extract.runner import Run
from hopgate.memory import Cleared

class Slow:
    identity = ExtractorIdentity("slow", prompt="p")
    def extract(self, sources):
        with open(sys.argv[1] + "/asked", "a") as asked:
            for source in sources:
                asked.write(f"{source.memory_id}\n")
        time.sleep(0.02)
        return [found([Mention(source.text)], []) for source in sources]

class Lines:
    path = pathlib.Path(sys.argv[1]) / "written"
    def done(self, ids, identity):
        return {int(line) for line in self.path.read_text().split()} if self.path.exists() else set()
    def write(self, batch, identity):
        with self.path.open("a") as file:
            file.write("".join(f"{one.source.memory_id}\n" for one in batch))

sources = [Source(number, Cleared(f"text {number}")) for number in range(60)]
cache = FileCache(pathlib.Path(sys.argv[1]) / "cache.jsonl")
progress = Run(batch=4, concurrency=2).over(sources, Slow(), Lines(), cache=cache)
print(progress.skipped, progress.memories, progress.cache_hits)
"""


@pytest.mark.parametrize(
    ("how", "twice"), [(signal.SIGKILL, 2), pytest.param(signal.SIGINT, 0, marks=pytest.mark.full)]
)
def test_stopped_in_the_middle_and_resumed_nothing_is_lost_and_nothing_doubled(
    tmp_path: Path, how: signal.Signals, twice: int
) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path), str(Path(extraction_caches.__file__).parent)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and len(_asked(tmp_path)) < 20:
        time.sleep(0.005)
    os.kill(process.pid, how)
    assert process.wait() != 0
    assert 0 < len(_asked(tmp_path)) < 60
    subprocess.run(command, check=True, capture_output=True)
    memories = sorted(int(line) for line in (tmp_path / "written").read_text().split())
    assert memories == list(range(60))
    # Only what was in flight at a kill, two memories, may be asked about twice; Ctrl-C waits for that.
    assert 60 <= len(_asked(tmp_path)) <= 60 + twice


def _asked(folder: Path) -> list[str]:
    path = folder / "asked"
    return path.read_text().split() if path.exists() else []


CANARY = "Zanzibarine"


def test_a_sensitive_memory_reaches_no_extractor_no_cache_and_no_sink(chat_server: Any, tmp_path: Path) -> None:
    triples = tmp_path / "triples.jsonl"
    triples.write_text('{"doc_id": "secret", "entity": "' + CANARY + '"}\n{"doc_id": "open", "entity": "NAS"}\n')
    memories = [
        Memory("open", "Ada owns the NAS."),
        Memory("secret", f"{CANARY} runs on nas-2.", tags=(CANARY,), is_sensitive=True),
    ]
    for extractor in (Phrases(), OpenAI("tiny", chat_server.url), Replay(str(triples)), Moody()):
        sink = Rows()
        cache = FileCache(tmp_path / f"{extractor.identity.extractor}.cache")
        progress = Run().over(sources(memories), extractor, sink, cache=cache)
        assert set(sink.rows) == {"open"}
        assert sink.rows["open"].state is State.COMPLETE
        assert CANARY not in repr(sink.rows) + repr(progress)
    assert CANARY not in repr(chat_server.requests)
    assert chat_server.requests
    kept = list(tmp_path.glob("*.cache"))
    assert len(kept) == 3, "a replay is not cached"
    for path in kept:
        assert CANARY.encode() not in path.read_bytes()


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
