"""An OpenAI-compatible endpoint against a real server: batches, order, keys, and answers that are none."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from word_endpoint import WordEndpoint

from hopgate.embed import EmbeddingCache, embedder_from
from hopgate.embed.openai import OpenAIEmbedder
from hopgate.errors import HopgateError
from hopgate.http import RetryPolicy
from hopgate.memory import Memory, cleared

ROW = {"index": 0, "embedding": [1.0, 2.0, 3.0]}


@pytest.fixture
def endpoint(endpoint: WordEndpoint) -> WordEndpoint:
    endpoint.vector = lambda text: [len(text), 1, 2]
    return endpoint


def embedder(endpoint: WordEndpoint, **options: Any) -> OpenAIEmbedder:
    retry = RetryPolicy(retries=2, backoff=0.01)
    return OpenAIEmbedder("tiny", endpoint.url, **({"dimension": 3, "retry": retry} | options))


def test_texts_go_in_batches_and_rows_come_back_in_order(endpoint: WordEndpoint) -> None:
    texts = ["x" * size for size in (5, 1, 3, 2, 4)]
    rows = embedder(endpoint, batch_size=2, dimension=None).documents(texts)
    expected = np.array([[len(text), 1, 2] for text in texts], dtype=float)
    np.testing.assert_allclose(rows, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-6)
    # The first one asks for the dimension, which was not given.
    requests = [json.loads(body) for body in endpoint.bodies]
    assert [len(request["input"]) for request in requests] == [1, 2, 2, 1]
    assert {request["model"] for request in requests} == {"tiny"}


def test_prompts_go_before_texts_and_a_spec_makes_it_again(endpoint: WordEndpoint) -> None:
    made = embedder_from(f"openai:org/tiny@{endpoint.url}#query=q%3A%20&document=d%3A%20&dimension=3&key=MY_KEY")
    made.queries(["x"])
    made.documents(["x"])
    assert endpoint.texts == ["q: x", "d: x"]
    assert embedder_from(made.identity.spec).identity == made.identity
    assert made.identity.key != embedder(endpoint).identity.key


def test_the_key_comes_from_the_environment_and_shows_nowhere(
    endpoint: WordEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-hidden")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    keyed = embedder(endpoint, key_variable="MY_KEY")
    keyed.queries(["x"])
    embedder(endpoint).queries(["x"])
    assert endpoint.keys == ["Bearer sk-hidden", None]
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
        (200, {"data": [ROW, ROW]}, "gave 2 vectors for 2 texts"),
        (200, {"data": [ROW, {"index": 1, "embedding": "AAAA"}]}, "not a list of numbers"),
        (200, {"data": [ROW, {"index": 1, "embedding": [1.0]}]}, "unequal lengths"),
    ],
)
def test_an_answer_that_is_none_is_refused_and_nothing_is_cached(
    endpoint: WordEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, body: Any, sentence: str
) -> None:
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
