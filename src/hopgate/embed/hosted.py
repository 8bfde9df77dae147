"""Embedders behind HTTP: OpenAI's and whatever speaks as it does, Voyage, Cohere and Ollama.

No text leaves without a key: where none is set, nothing is sent, unless the spec says that the server needs none
(`key=none`), or it is Ollama, which has no keys.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hopgate.embed.embedder import Embedder, Identity, Kind, split_options, with_options
from hopgate.errors import HopgateError
from hopgate.http import KEY_VARIABLE, JsonClient, Reply, RetryPolicy

NO_KEY = "none"


@dataclass(frozen=True)
class Provider:
    """How one kind of server is asked."""

    url: str  # where it is, unless a spec says otherwise
    path: str
    key: str  # the environment variable that holds the key
    batch: int  # the most texts that a request may have
    # The body of a request: of the model's name, the texts, and whether they are documents or queries.
    body: Callable[[str, Sequence[str], Kind], dict[str, Any]]
    rows: Callable[[Any], list[Any]]  # the vectors in an answer, in the order of the texts


def _by_index(answer: Any) -> list[Any]:
    """The vectors of an answer in OpenAI's shape, which may give them in any order, with their `index`."""
    rows = {int(row["index"]): row["embedding"] for row in answer["data"]}
    if len(rows) != len(answer["data"]):
        raise ValueError("an index comes twice")
    return [rows[index] for index in range(len(rows))]


PROVIDERS = {
    "openai": Provider(
        "https://api.openai.com/v1",
        "embeddings",
        KEY_VARIABLE,
        128,
        lambda model, texts, _: {"model": model, "input": texts, "encoding_format": "float"},
        _by_index,
    ),
    # It refuses encoding_format=float.
    "voyage": Provider(
        "https://api.voyageai.com/v1",
        "embeddings",
        "VOYAGE_API_KEY",
        128,
        lambda model, texts, kind: {"model": model, "input": texts, "input_type": kind},
        _by_index,
    ),
    "cohere": Provider(
        "https://api.cohere.com/v2",
        "embed",
        "CO_API_KEY",
        96,
        lambda model, texts, kind: {
            "model": model,
            "texts": texts,
            "input_type": f"search_{kind}",
            "embedding_types": ["float"],
        },
        lambda answer: list(answer["embeddings"]["float"]),
    ),
    "ollama": Provider(
        "http://localhost:11434",
        "api/embed",
        NO_KEY,
        128,
        lambda model, texts, _: {"model": model, "input": texts},
        lambda answer: list(answer["embeddings"]),
    ),
}


@dataclass(repr=False)
class HostedEmbedder(Embedder):
    """Vectors from a server."""

    kind: str  # one of PROVIDERS
    model: str  # as the server knows it
    url: str = ""  # without the provider's path; by default where the provider is
    query_prompt: str = ""
    document_prompt: str = ""
    dimension: int | None = None  # by default what the server answers to a first, neutral text
    key_variable: str = ""  # the environment variable that holds the key, or `none`; by default the provider's
    batch_size: int = 0  # texts a request; by default what the provider takes
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    def __post_init__(self) -> None:
        self._provider = PROVIDERS[self.kind]
        self.url = self.url or self._provider.url
        self.key_variable = self.key_variable or self._provider.key
        self.batch_size = self.batch_size or self._provider.batch
        # An address or a key that cannot be used is refused before the first text.
        self._client  # noqa: B018

    @cached_property
    def _client(self) -> JsonClient:
        return JsonClient(self.url, key=os.environ.get(self.key_variable, ""), retry=self.retry)

    @cached_property
    def identity(self) -> Identity:  # type: ignore[override]
        """Which embedder this is; asks the server for its dimension unless that was given."""
        options = {
            "query": self.query_prompt or None,
            "document": self.document_prompt or None,
            "dimension": self.dimension,
            "key": self.key_variable if self.key_variable != self._provider.key else None,
        }
        url = self._client.base_url
        where = "" if url == self._provider.url else f"@{url}"
        return Identity(
            name=self.model,
            dimension=self.dimension or len(self._ask(["hopgate"], "document")[0]),
            spec=with_options(f"{self.kind}:{self.model}{where}", **options),
            query_prompt=self.query_prompt,
            document_prompt=self.document_prompt,
            # Where its key is kept does not make it another embedder.
            fingerprint=f"{self.kind}:{self.model}@{url}",
        )

    def _rows(self, texts: Sequence[str], kind: Kind) -> list[Any]:
        texts = [self.identity.prompt(kind) + text for text in texts]
        batches = (texts[start : start + self.batch_size] for start in range(0, len(texts), self.batch_size))
        return [row for batch in batches for row in self._ask(batch, kind)]

    def _ask(self, texts: Sequence[str], kind: Kind) -> list[Any]:
        url = self._client.base_url
        if self.key_variable != NO_KEY and not os.environ.get(self.key_variable):
            raise HopgateError(
                f"no text was sent to {url}: set {self.key_variable}, or end the embedder with #key=none "
                "where the server needs no key"
            )
        reply = self._client.post(self._provider.path, self._provider.body(self.model, texts, kind))
        if not reply.ok:
            raise HopgateError(f"{url} {self._refusal(reply)}")
        try:
            rows = self._provider.rows(reply.body)
        except (TypeError, KeyError, ValueError, OverflowError):
            raise HopgateError(f"{url} answered JSON without embeddings: is it an embeddings endpoint?") from None
        if len(rows) != len(texts):
            raise HopgateError(f"{url} gave {len(rows)} vectors for {len(texts)} texts")
        if not all(isinstance(row, list) and row for row in rows):
            raise HopgateError(f"{url} gave a vector that is not a list of numbers")
        return rows

    def _refusal(self, reply: Reply) -> str:
        """Say why there are no vectors, and what to do about it."""
        message = f" ({reply.message})" if reply.message else ""
        if reply.status in {401, 403}:
            wanted = (
                "it wants a key" if self.key_variable == NO_KEY else f"the key in {self.key_variable} is not accepted"
            )
            return f"{reply.reason}: {wanted}"
        if reply.transient:
            times = f", {reply.attempts} times" if reply.attempts > 1 else ""
            return f"{reply.reason}{message}{times}: check the endpoint and try again"
        if 200 <= reply.status < 300:
            return f"{reply.reason}: is it an embeddings endpoint?"
        return f"{reply.reason} for model {self.model}{message}"


def from_spec(kind: str, rest: str) -> HostedEmbedder | None:
    """Make the embedder of `MODEL` or `MODEL@URL`, with its options behind a `#`."""
    head, options = split_options(rest, frozenset({"query", "document", "dimension", "key"}))
    # A model's name may hold an @ as well.
    model, http, url = head.rpartition("@http")
    if not http:
        model, url = head, ""
    dimension = options.get("dimension")
    if dimension is not None and not (dimension.isdigit() and int(dimension) > 0):
        raise HopgateError(f"dimension must be a whole number above 0, not {dimension!r}")
    if not model or "://" in model:
        return None
    return HostedEmbedder(
        kind,
        model,
        http[1:] + url,
        query_prompt=options.get("query", ""),
        document_prompt=options.get("document", ""),
        dimension=int(dimension) if dimension else None,
        key_variable=options.get("key", ""),
    )
