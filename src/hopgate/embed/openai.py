"""Any endpoint that speaks OpenAI's `/v1/embeddings`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from hopgate.embed.embedder import Identity, PromptedEmbedder, with_options
from hopgate.errors import HopgateError
from hopgate.http import KEY_VARIABLE, JsonClient, Reply, RetryPolicy


class OpenAIEmbedder(PromptedEmbedder):
    """Vectors from an endpoint.

    Parameters
    ----------
    model : str
        The model's name as the endpoint knows it.
    base_url : str
        Up to and with `/v1`; `/embeddings` is added.
    dimension : int, optional
        What the vectors must have; by default what the endpoint answers to a first, neutral text.
    key_variable : str
        The environment variable that holds the key. No key is sent when it is not set.
    batch_size : int
        Texts a request.
    retry : RetryPolicy, optional
        How long to wait for the endpoint, and how often a request is sent.
    """

    def __init__(
        self,
        model: str,
        base_url: str,
        *,
        query_prompt: str = "",
        document_prompt: str = "",
        dimension: int | None = None,
        key_variable: str = KEY_VARIABLE,
        batch_size: int = 128,
        retry: RetryPolicy | None = None,
    ) -> None:
        key = os.environ.get(key_variable, "").strip()
        self._key_variable, self._key_is_set = key_variable, bool(key)
        self._client = JsonClient(base_url, key=key, retry=retry)
        self.model, self.base_url = model, self._client.base_url
        self._prompts = query_prompt, document_prompt
        self._dimension = dimension
        self._batch_size = batch_size

    @cached_property
    def identity(self) -> Identity:
        """Which embedder this is; asks the endpoint for its dimension unless that was given."""
        query, document = self._prompts
        return Identity(
            name=self.model,
            dimension=self._dimension or len(self._ask(["hopgate"])[0]),
            spec=with_options(
                f"openai:{self.model}@{self.base_url}",
                query=query or None,
                document=document or None,
                dimension=self._dimension,
                key=self._key_variable if self._key_variable != KEY_VARIABLE else None,
            ),
            query_prompt=query,
            document_prompt=document,
        )

    def _rows(self, texts: Sequence[str], prompt: str) -> list[list[float]]:
        rows: list[list[float]] = []
        for start in range(0, len(texts), self._batch_size):
            rows += self._ask([prompt + text for text in texts[start : start + self._batch_size]])
        return rows

    def _ask(self, texts: list[str]) -> list[list[float]]:
        reply = self._client.post("embeddings", {"model": self.model, "input": texts, "encoding_format": "float"})
        if not reply.ok:
            raise HopgateError(f"{self.base_url} {self._refusal(reply)}")
        return _vectors(reply.body, len(texts), self.base_url)

    def _refusal(self, reply: Reply) -> str:
        """Say why there are no vectors, and what to do about it."""
        message = f" ({reply.message})" if reply.message else ""
        if reply.status in {401, 403}:
            trouble = "is not accepted" if self._key_is_set else "is not set"
            return f"{reply.reason}: the key in {self._key_variable} {trouble}"
        if reply.transient:
            times = f", {reply.attempts} times" if reply.attempts > 1 else ""
            return f"{reply.reason}{message}{times}: check the endpoint and try again"
        if 200 <= reply.status < 300:
            return f"{reply.reason}: is it an embeddings endpoint?"
        return f"{reply.reason} for model {self.model}{message}"


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
