"""Any endpoint that speaks OpenAI's `/v1/embeddings`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hopgate.embed.embedder import Embedder, Identity, split_options, with_options
from hopgate.errors import HopgateError
from hopgate.http import KEY_VARIABLE, JsonClient, Reply, RetryPolicy


@dataclass(repr=False)
class OpenAIEmbedder(Embedder):
    """Vectors from an endpoint."""

    model: str  # as the endpoint knows it
    url: str  # up to and with `/v1`; `/embeddings` is added
    query_prompt: str = ""
    document_prompt: str = ""
    dimension: int | None = None  # by default what the endpoint answers to a first, neutral text
    key_variable: str = KEY_VARIABLE  # the environment variable that holds the key; none is sent where it is not set
    batch_size: int = 128  # texts a request
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    def __post_init__(self) -> None:
        # An address or a key that cannot be used is refused before the first text.
        self._client  # noqa: B018

    @cached_property
    def _client(self) -> JsonClient:
        return JsonClient(self.url, key=os.environ.get(self.key_variable, ""), retry=self.retry)

    @cached_property
    def identity(self) -> Identity:  # type: ignore[override]
        """Which embedder this is; asks the endpoint for its dimension unless that was given."""
        options = {
            "query": self.query_prompt or None,
            "document": self.document_prompt or None,
            "dimension": self.dimension,
            "key": self.key_variable if self.key_variable != KEY_VARIABLE else None,
        }
        return Identity(
            name=self.model,
            dimension=self.dimension or len(self._ask(["hopgate"])[0]),
            spec=with_options(f"openai:{self.model}@{self._client.base_url}", **options),
            query_prompt=self.query_prompt,
            document_prompt=self.document_prompt,
        )

    def _rows(self, texts: Sequence[str], prompt: str) -> list[list[float]]:
        rows: list[list[float]] = []
        for start in range(0, len(texts), self.batch_size):
            rows += self._ask([prompt + text for text in texts[start : start + self.batch_size]])
        return rows

    def _ask(self, texts: list[str]) -> list[list[float]]:
        reply = self._client.post("embeddings", {"model": self.model, "input": texts, "encoding_format": "float"})
        if not reply.ok:
            raise HopgateError(f"{self._client.base_url} {self._refusal(reply)}")
        return _vectors(reply.body, len(texts), self._client.base_url)

    def _refusal(self, reply: Reply) -> str:
        """Say why there are no vectors, and what to do about it."""
        message = f" ({reply.message})" if reply.message else ""
        if reply.status in {401, 403}:
            trouble = "is not accepted" if os.environ.get(self.key_variable) else "is not set"
            return f"{reply.reason}: the key in {self.key_variable} {trouble}"
        if reply.transient:
            times = f", {reply.attempts} times" if reply.attempts > 1 else ""
            return f"{reply.reason}{message}{times}: check the endpoint and try again"
        if 200 <= reply.status < 300:
            return f"{reply.reason}: is it an embeddings endpoint?"
        return f"{reply.reason} for model {self.model}{message}"


def from_spec(rest: str) -> OpenAIEmbedder | None:
    """Make the embedder of `MODEL@URL`, with its options behind a `#`."""
    head, options = split_options(rest, frozenset({"query", "document", "dimension", "key"}))
    model, http, url = head.rpartition("@http")
    if not http:
        return None
    dimension = options.get("dimension")
    if dimension is not None and not (dimension.isdigit() and int(dimension) > 0):
        raise HopgateError(f"dimension must be a whole number above 0, not {dimension!r}")
    return OpenAIEmbedder(
        model,
        f"http{url}",
        query_prompt=options.get("query", ""),
        document_prompt=options.get("document", ""),
        dimension=int(dimension) if dimension else None,
        key_variable=options.get("key", KEY_VARIABLE),
    )


def _vectors(answer: Any, count: int, url: str) -> list[list[float]]:
    """The vectors in the order of the texts; the endpoint may give them in any, with their `index`."""
    try:
        rows = {int(row["index"]): row["embedding"] for row in answer["data"]}
    except (TypeError, KeyError, ValueError, OverflowError):
        raise HopgateError(f"{url} answered JSON without embeddings: is it an embeddings endpoint?") from None
    if len(answer["data"]) != count or set(rows) != set(range(count)):
        raise HopgateError(f"{url} gave {len(answer['data'])} vectors for {count} texts")
    if not all(isinstance(row, list) and row for row in rows.values()):
        raise HopgateError(f"{url} gave a vector that is not a list of numbers")
    return [rows[index] for index in range(count)]
