"""Embedders behind HTTP against real servers: batches, order, keys, what providers refuse, answers that are none."""

import json
from http.server import BaseHTTPRequestHandler
from typing import Any

import numpy as np
import pytest
from answering import answering
from word_endpoint import WordEndpoint

from hopgate.embed import EmbeddingCache, embedder_from
from hopgate.embed.hosted import HostedEmbedder
from hopgate.errors import HopgateError
from hopgate.http import RetryPolicy
from hopgate.memory import Memory, cleared

ROW = {"index": 0, "embedding": [1.0, 2.0, 3.0]}


@pytest.fixture
def endpoint(endpoint: WordEndpoint, monkeypatch: pytest.MonkeyPatch) -> WordEndpoint:
    endpoint.vector = lambda text: [len(text), 1, 2]
    monkeypatch.setenv("OPENAI_API_KEY", "sk-here")
    return endpoint


def embedder(endpoint: WordEndpoint, **options: Any) -> HostedEmbedder:
    retry = RetryPolicy(retries=2, backoff=0.01)
    return HostedEmbedder("openai", "tiny", endpoint.url, **({"dimension": 3, "retry": retry} | options))


def test_texts_go_in_batches_and_rows_come_back_in_order(endpoint):
    texts = ["x" * size for size in (5, 1, 3, 2, 4)]
    rows = embedder(endpoint, batch_size=2, dimension=None).documents(texts)
    expected = np.array([[len(text), 1, 2] for text in texts], dtype=float)
    np.testing.assert_allclose(rows, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-6)
    # The first one asks for the dimension, which was not given.
    requests = [json.loads(body) for body in endpoint.bodies]
    assert [len(request["input"]) for request in requests] == [1, 2, 2, 1]
    assert {request["model"] for request in requests} == {"tiny"}


def test_prompts_go_before_texts_and_a_spec_makes_it_again(endpoint, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk")
    made = embedder_from(f"openai:org/tiny@{endpoint.url}#query=q%3A%20&document=d%3A%20&dimension=3&key=MY_KEY")
    made.queries(["x"])
    made.documents(["x"])
    assert endpoint.texts == ["q: x", "d: x"]
    assert embedder_from(made.identity.spec).identity == made.identity
    assert made.identity.key != embedder(endpoint).identity.key


def test_the_key_comes_from_the_environment_and_shows_nowhere(endpoint, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-hidden")
    keyed = embedder(endpoint, key_variable="MY_KEY")
    keyed.queries(["x"])
    embedder(endpoint, key_variable="none").queries(["x"])
    assert endpoint.keys == ["Bearer sk-hidden", None]
    # Where its key is kept does not make it another embedder.
    assert keyed.identity.key == embedder(endpoint).identity.key
    assert "sk-hidden" not in repr(keyed) + json.dumps(keyed.identity.to_dict())


@pytest.mark.parametrize(
    ("status", "body", "sentence"),
    [
        (500, {"error": {"message": "slow\n down"}}, r"answered 500 \(slow down\), 3 times: check the endpoint"),
        (401, {"error": {"message": "bad key sk-wrong"}}, "401: the key in OPENAI_API_KEY is not accepted"),
        (404, {"error": "no such model"}, r"answered 404 for model tiny \(no such model\)"),
        (200, [], "without embeddings"),
        (200, {"data": None}, "without embeddings"),
        (200, {"data": [{"index": 0}]}, "without embeddings"),
        (200, {"data": [{"index": "first", "embedding": [1, 2, 3]}]}, "without embeddings"),
        (200, {"data": [ROW]}, "gave 1 vectors for 2 texts"),
        (200, {"data": [ROW, ROW]}, "without embeddings"),
        (200, {"data": [ROW, {"index": 1, "embedding": "AAAA"}]}, "not a list of numbers"),
        (200, {"data": [ROW, {"index": 1, "embedding": [1.0]}]}, "unequal lengths"),
    ],
)
def test_an_answer_that_is_none_is_refused_and_nothing_is_cached(
    endpoint, tmp_path, monkeypatch, status, body, sentence
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong")
    endpoint.script = [(status, body)] * 3
    asking = embedder(endpoint)
    asking.cache = cache = EmbeddingCache(tmp_path / "cache.sqlite3")
    texts = [text for _, text in cleared([("a", Memory("a", "one")), ("b", Memory("b", "two"))])]
    with pytest.raises(HopgateError, match=sentence) as refused:
        asking.documents(texts)
    assert "sk-wrong" not in str(refused.value)
    assert cache.info().vectors == 0
    assert len(endpoint.bodies) == (3 if status == 500 else 1)


class Provider:
    """A server that refuses what the provider of its name refuses."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.asked: list[dict[str, Any]] = []

    def answer(self, request: BaseHTTPRequestHandler, body: str) -> tuple[int, Any]:
        asked = json.loads(body)
        self.asked.append(asked)
        if self.name != "ollama" and request.headers["Authorization"] != "Bearer right":
            return 401, {"error": "wrong key"}
        texts = asked["texts"] if self.name == "cohere" else asked["input"]
        rows = [[len(text), 1.0] for text in texts]
        kind = asked.get("input_type")
        if self.name == "voyage":
            extra = set(asked) - {"model", "input", "input_type", "truncation", "output_dimension"}
            ok = request.path.endswith("/embeddings") and not extra and kind in (None, "query", "document")
        elif self.name == "cohere":
            ok = request.path.endswith("/embed") and kind in ("search_query", "search_document") and len(texts) <= 96
            ok = ok and asked["embedding_types"] == ["float"]
        elif self.name == "ollama":
            ok = request.path.endswith("/api/embed") and set(asked) == {"model", "input"}
        else:
            ok = request.path.endswith("/embeddings") and kind is None
        if not ok:
            return 400, {"error": {"message": "a field is not allowed"}}
        if self.name == "cohere":
            return 200, {"embeddings": {"float": rows}}
        if self.name == "ollama":
            return 200, {"embeddings": rows}
        return 200, {"data": [{"index": at, "embedding": row} for at, row in enumerate(rows)]}


@pytest.mark.parametrize(
    ("name", "variable"),
    [("openai", "OPENAI_API_KEY"), ("voyage", "VOYAGE_API_KEY"), ("cohere", "CO_API_KEY"), ("ollama", "")],
)
def test_each_provider_is_asked_as_it_wants_and_never_without_a_key(name, variable, monkeypatch):
    monkeypatch.delenv(variable or "NONE", raising=False)
    server = Provider(name)
    with answering(server.answer) as url:
        made = embedder_from(f"{name}:m@{url}")
        if variable:
            with pytest.raises(HopgateError, match=f"no text was sent to .* set {variable}, or end the embedder with"):
                made.queries(["hidden"])
            assert server.asked == []
            monkeypatch.setenv(variable, "wrong")
            with pytest.raises(HopgateError, match=f"401: the key in {variable} is not accepted"):
                embedder_from(f"{name}:m@{url}").queries(["x"])
            monkeypatch.setenv(variable, "right")
        made = embedder_from(f"{name}:m@{url}")
        texts = [text for _, text in cleared((n, Memory(str(n), "x" * (n + 1))) for n in range(130))]
        assert made.documents(texts).shape == (130, 2)
        assert made.queries(["where"]).shape == (1, 2)
        assert made.identity.spec == f"{name}:m@{url}"
    kinds = [asked.get("input_type") for asked in server.asked]
    assert kinds[-1] == {"voyage": "query", "cohere": "search_query"}.get(name)
    assert kinds[-2] == {"voyage": "document", "cohere": "search_document"}.get(name)


def test_a_provider_has_its_own_address():
    assert embedder_from("voyage:voyage-3.5#dimension=8").identity.spec == "voyage:voyage-3.5#dimension=8"
