"""The hosted embedder against a real HTTP server, well behaved and otherwise."""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from patience import PATIENCE

from hopgate.embed import CachedEmbedder, EmbeddingCache, embedder_from
from hopgate.embed.openai import OpenAIEmbedder
from hopgate.errors import HopgateError
from hopgate.http import RetryPolicy
from hopgate.memory import Memory, cleared

Answer = tuple[int, dict[str, str], bytes] | None
CANARY = "the-canary-sings-at-midnight"


def good(body: dict[str, Any]) -> Answer:
    rows = [{"index": at, "embedding": [len(text), 1.0, 2.0]} for at, text in enumerate(body["input"])]
    return 200, {}, json.dumps({"model": body["model"], "data": rows[::-1]}).encode()


class Endpoint:
    """A server that answers as the test says, and remembers what it was asked."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.script: list[Callable[[dict[str, Any]], Answer]] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.requests.append(body | {"path": self.path})
                endpoint.headers.append(dict(self.headers))
                answer = (endpoint.script.pop(0) if endpoint.script else good)(body)
                if answer is None:
                    self.close_connection = True
                    return
                status, headers, data = answer
                self.send_response(status)
                for name, value in ({"Content-Length": str(len(data))} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    running = Endpoint()
    yield running
    running.server.shutdown()
    running.server.server_close()


def embedder(endpoint: Endpoint, **options: Any) -> OpenAIEmbedder:
    retry = RetryPolicy(retries=2, backoff=0.01)
    return OpenAIEmbedder("tiny", endpoint.url, **({"dimension": 3, "retry": retry} | options))


def says(status: int, data: bytes = b"", **headers: str) -> Callable[[dict[str, Any]], Answer]:
    return lambda _: (status, {name.replace("_", "-"): value for name, value in headers.items()}, data)


def data(*rows: object) -> Callable[[dict[str, Any]], Answer]:
    return says(200, json.dumps({"data": rows}).encode())


def test_texts_go_in_batches_and_rows_come_back_in_order(endpoint: Endpoint) -> None:
    texts = ["x" * size for size in (5, 1, 3, 2, 4)]
    rows = embedder(endpoint, batch_size=2).documents(texts)
    expected = np.array([[len(text), 1, 2] for text in texts], dtype=float)
    np.testing.assert_allclose(rows, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-6)
    assert [len(request["input"]) for request in endpoint.requests] == [2, 2, 1]
    assert {request["path"] for request in endpoint.requests} == {"/v1/embeddings"}
    assert {request["model"] for request in endpoint.requests} == {"tiny"}


def test_the_dimension_is_asked_once_when_it_is_not_given(endpoint: Endpoint) -> None:
    asking = embedder(endpoint, dimension=None)
    assert asking.identity.dimension == asking.identity.dimension == 3
    assert len(endpoint.requests) == 1
    assert asking.documents([]).shape == (0, 3)


def test_prompts_go_before_texts_and_into_the_identity(endpoint: Endpoint) -> None:
    prompted = embedder(endpoint, query_prompt="q: ", document_prompt="d: ")
    prompted.queries(["x"])
    prompted.documents(["x"])
    assert [request["input"] for request in endpoint.requests] == [["q: x"], ["d: x"]]
    assert prompted.identity.key != embedder(endpoint).identity.key


def test_the_key_comes_from_the_environment_and_shows_nowhere(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-hidden")
    keyed = embedder(endpoint, key_variable="MY_KEY")
    keyed.queries(["x"])
    assert endpoint.headers[0]["Authorization"] == "Bearer sk-hidden"
    assert "sk-hidden" not in repr(keyed) + json.dumps(keyed.identity.to_dict())
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    embedder(endpoint).queries(["x"])
    assert "Authorization" not in endpoint.headers[1]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_passing_trouble_is_tried_again(endpoint: Endpoint, status: int) -> None:
    endpoint.script = [says(status), says(status)]
    assert embedder(endpoint).queries(["x"]).shape == (1, 3)
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize("status", [429, 500])
def test_lasting_trouble_ends(endpoint: Endpoint, status: int) -> None:
    endpoint.script = [says(status, b'{"error": {"message": "slow\\n down"}}')] * 9
    with pytest.raises(HopgateError, match=rf"answered {status} \(slow down\), 3 times"):
        embedder(endpoint).queries(["x"])
    assert len(endpoint.requests) == 3


def test_retry_after_is_honoured(endpoint: Endpoint) -> None:
    endpoint.script = [says(429, Retry_After="1")]
    start = time.monotonic()
    embedder(endpoint).queries(["x"])
    assert time.monotonic() - start >= 1


def test_a_wait_that_is_too_long_is_refused_at_once(endpoint: Endpoint) -> None:
    endpoint.script = [says(429, Retry_After="3600")]
    with pytest.raises(HopgateError, match="asks to wait 3600 s"):
        embedder(endpoint).queries(["x"])
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(("key", "known"), [("sk-wrong", "is not accepted"), ("", "is not set")])
def test_a_wrong_key_is_told_at_once(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, key: str, known: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    endpoint.script = [says(401, b'{"error": {"message": "bad key sk-wrong"}}')]
    with pytest.raises(HopgateError, match=f"401: the key in OPENAI_API_KEY {known}") as raised:
        embedder(endpoint).queries(["x"])
    assert "sk-wrong" not in str(raised.value)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("status", [302, 400, 404])
def test_a_refusal_for_good_is_not_repeated(endpoint: Endpoint, status: int) -> None:
    endpoint.script = [says(status, b'{"error": "no such model"}', Location="http://127.0.0.1:9/")]
    with pytest.raises(HopgateError, match=rf"answered {status} for model tiny \(no such model\)"):
        embedder(endpoint).queries(["x"])
    assert len(endpoint.requests) == 1


ROW = {"index": 0, "embedding": [1.0, 2.0, 3.0]}


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (says(200, b"<html>hello</html>"), "did not answer in JSON"),
        (says(200, b""), "did not answer in JSON"),
        (says(200, b"\xff\xfe\x00"), "did not answer in JSON"),
        (says(200, b"[]"), "without embeddings"),
        (says(200, b'{"data": null}'), "without embeddings"),
        (data({"index": 0}), "without embeddings"),
        (data({"index": "first", "embedding": [1, 2, 3]}), "without embeddings"),
        (data(ROW), "gave 1 vectors for 2 texts"),
        (data(ROW, ROW), "gave 2 vectors for 2 texts"),
        (data(ROW, {"index": 1, "embedding": "AAAA"}), "not a list of numbers"),
        (data(ROW, {"index": 1, "embedding": []}), "not a list of numbers"),
        (data(ROW, {"index": 1, "embedding": [1.0]}), "unequal lengths"),
        (data(*({"index": at, "embedding": [1.0, 2.0]} for at in range(2))), "dimension 2, not 3"),
        (data(ROW, {"index": 1, "embedding": [1.0, float("nan"), 2.0]}), "NaN"),
        (data(ROW, {"index": 1, "embedding": [0, 0, 0]}), "zeros"),
    ],
)
def test_an_answer_that_is_none_is_refused_and_nothing_is_cached(
    endpoint: Endpoint, tmp_path: Path, answer: Callable[[dict[str, Any]], Answer], complaint: str
) -> None:
    endpoint.script = [answer]
    cache = EmbeddingCache(tmp_path / "cache.sqlite3")
    texts = [text for _, text in cleared([("a", Memory("a", "one")), ("b", Memory("b", "two"))])]
    with pytest.raises(HopgateError, match=complaint):
        CachedEmbedder(embedder(endpoint), cache).documents(texts)
    assert cache.info().vectors == 0


def test_silence_is_tried_again_and_told(endpoint: Endpoint) -> None:
    endpoint.script = [lambda _: None] * 9
    with pytest.raises(HopgateError, match=r"cannot be reached .*3 times"):
        embedder(endpoint).queries(["x"])
    assert len(endpoint.requests) == 3


def test_an_endpoint_that_never_answers_times_out(endpoint: Endpoint) -> None:
    held = threading.Event()

    def hold(_: dict[str, Any]) -> Answer:
        held.wait(PATIENCE)
        return None

    endpoint.script = [hold] * 2
    with pytest.raises(HopgateError, match=r"did not answer within 0.2 s, 2 times"):
        embedder(endpoint, retry=RetryPolicy(timeout=0.2, retries=1, backoff=0.01)).queries(["x"])
    held.set()


def test_nobody_there_is_told() -> None:
    with pytest.raises(HopgateError, match="cannot be reached"):
        OpenAIEmbedder(
            "tiny", "http://127.0.0.1:9/v1", retry=RetryPolicy(retries=1, backoff=0.01), dimension=3
        ).queries(["x"])


def test_a_wrong_url_is_told() -> None:
    with pytest.raises(HopgateError, match="not an http"):
        OpenAIEmbedder("tiny", "localhost:8080")


def test_a_spec_makes_it_again(endpoint: Endpoint) -> None:
    made = embedder_from(f"openai:org/tiny@{endpoint.url}#query=q%3A%20&dimension=3&key=MY_KEY")
    assert isinstance(made, OpenAIEmbedder)
    assert (made.model, made.base_url) == ("org/tiny", endpoint.url)
    assert made.identity.query_prompt == "q: "
    assert embedder_from(made.identity.spec).identity == made.identity
    assert endpoint.requests == []


def test_no_request_and_no_log_line_holds_a_sensitive_text(
    endpoint: Endpoint, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    endpoint.script = [says(500)]
    memories = [Memory("a", "open"), Memory("b", CANARY, title="also " + CANARY, is_sensitive=True)]
    cached = CachedEmbedder(embedder(endpoint), EmbeddingCache(tmp_path / "cache.sqlite3"))
    cached.documents([text for _, text in cleared(enumerate(memories))])
    assert [request["input"] for request in endpoint.requests] == [["open"], ["open"]]
    assert CANARY not in json.dumps(endpoint.requests) + caplog.text
    assert all(CANARY.encode() not in file.read_bytes() for file in tmp_path.iterdir())


def test_a_missing_extra_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(HopgateError, match=r"pip install 'hopgate\[hosted\]'"):
        OpenAIEmbedder("tiny", "http://127.0.0.1:9/v1", dimension=3).queries(["x"])
