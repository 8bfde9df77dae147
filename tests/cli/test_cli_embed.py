"""`hopgate embed` and `cache`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from cli_run import Runner
from word_endpoint import WordEndpoint, serving

Writer = Callable[..., str]
CHANGE = ("embed", "--change", "--yes", "--embedder")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPGATE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def filled(run: Runner, corpus: Writer) -> None:
    run("ingest", corpus(*({"_id": f"m{n}", "text": f"text {n}"} for n in range(5))), "--later")


def test_embed_then_reembed(run: Runner, bare: Runner, filled: None, endpoint: WordEndpoint) -> None:
    assert run("embed", "--embedder", endpoint.spec, "--json").json == {"embedded": 5}
    assert run("embed").out == "embedded 0 memories\n"
    with serving("others") as second:
        refusal = run("embed", "--embedder", second.spec, status=2).refused()
        assert "embedded by words" in refusal and "hopgate embed --change" in refusal
        assert run(*CHANGE, second.spec, "--no-backup", "--json").json == {"embedded": 5}
        assert run("embed", "--json").json == {"embedded": 0}
        assert "embedded by others" in run("embed", "--embedder", endpoint.spec, status=2).refused()
        told = bare("cache", "info", "--json").json
    assert told["vectors"] == 10
    assert told["embedders"] == {"words": 5, "others": 5}


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("colour", "no embedder 'colour'"),
        ("sentence-transformers:/no/such/model", "model"),
        ("openai:m@http://127.0.0.1:1/v1#colour=1", "unknown option 'colour'"),
    ],
)
def test_a_wrong_embedder_is_one_line_and_nothing_is_claimed(run: Runner, filled: None, spec: str, reason: str) -> None:
    assert reason in run("embed", "--embedder", spec, status=2).refused()
    assert reason in run(*CHANGE, spec, status=2).refused()
    assert run("recall", "text", "--json", "--lexical", "0", "--graph", "0").json == []


def test_an_endpoint_that_gives_garbage_leaves_the_store_as_it_was(
    run: Runner, filled: None, endpoint: WordEndpoint
) -> None:
    for garbage in ([float("nan")] * 64, [0.0] * 64, [1.0] * 3, []):
        endpoint.vector = lambda _, garbage=garbage: garbage
        run("embed", "--embedder", endpoint.spec, status=2).refused()
    assert run("recall", "text", "--json", "--lexical", "0", "--graph", "0").json == []
    # Nothing was written, so nothing is claimed: another embedder is welcome.
    with serving("others") as second:
        assert run("embed", "--embedder", second.spec, "--json").json == {"embedded": 5}


def test_cache(run: Runner, bare: Runner, filled: None, endpoint: WordEndpoint) -> None:
    assert bare("cache", "info", "--json").json["vectors"] == 0
    assert bare("cache", "clear", "--yes", "--json").json["removed"] == 0
    run("embed", "--embedder", endpoint.spec)
    assert "vectors: 5" in bare("cache", "info").out
    assert bare("cache", "clear", "--yes").out.startswith("removed 5 vectors, ")
    assert bare("cache", "info", "--json").json["vectors"] == 0
