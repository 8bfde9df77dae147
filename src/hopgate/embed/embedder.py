"""What an embedder is: an identity, and unit vectors for documents and queries; and how a line of text names one.

Each embedder is imported only where a spec names it: their libraries are large, and some are extras.
"""

import hashlib
import importlib
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal
from urllib.parse import parse_qsl, quote

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopgate.embed.cache import EmbeddingCache, cached
from hopgate.errors import HopgateError
from hopgate.memory import Cleared
from hopgate.plugins import plugin
from hopgate.redact import redacted, without_credentials

Vectors = NDArray[np.float32]
Kind = Literal["document", "query"]
FORMS = (
    "bge-small, sentence-transformers:, fastembed: or model2vec:NAME_OR_PATH, or openai:, voyage:, cohere: or "
    "ollama:MODEL, with @URL where the server is another"
)
# What a spec begins with, and the module whose `from_spec` makes the embedder of the rest of it, or gives none for what
# it cannot read; a plugin's are in the group of entry points `hopgate.embedders`.
KINDS = {
    "bge-small": "hopgate.embed.bundled",
    "bge-small-en-v1.5": "hopgate.embed.bundled",
    "sentence-transformers": "hopgate.embed.sentence_transformers",
    "fastembed": "hopgate.embed.local",
    "model2vec": "hopgate.embed.local",
    **dict.fromkeys(("openai", "voyage", "cohere", "ollama"), "hopgate.embed.hosted"),
}


@dataclass(frozen=True, slots=True)
class Identity:
    """Which embedder made a vector: two vectors may be compared only if their identities are equal.

    Examples
    --------
    >>> identity = Identity("tiny", 8, spec="tiny", query_prompt="query: ")
    >>> print(identity)
    tiny (8 dimensions)
    >>> identity.key == Identity("tiny", 8, spec="tiny").key
    False
    """

    name: str  # by which a person knows it
    dimension: int  # the length of its vectors
    spec: str  # what `hopgate.embed.embedder_from` takes to make it again
    query_prompt: str = ""  # what is put before a query
    document_prompt: str = ""
    fingerprint: str = ""  # a digest of the weights, where they can be seen; empty for an endpoint

    def __post_init__(self) -> None:
        # It is stored beside the vectors: who may use the endpoint is not a part of what made them.
        object.__setattr__(self, "spec", without_credentials(self.spec))

    def __str__(self) -> str:
        return f"{self.name} ({self.dimension} dimensions)"

    def prompt(self, kind: Kind) -> str:
        """What is put before a text of a kind."""
        return self.query_prompt if kind == "query" else self.document_prompt

    @property
    def key(self) -> str:
        """A digest of all that decides a vector; known weights count wherever they lie, and under whatever name."""
        who = self.fingerprint or self.spec
        parts = [who, self.dimension, self.query_prompt, self.document_prompt]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """The identity as plain values."""
        return asdict(self)


class Embedder(ABC):
    """Texts in, float32 rows of unit length out: `(len(texts), identity.dimension)`; what a model gives is checked.

    Attributes
    ----------
    identity : Identity
        Which embedder this is.
    languages : tuple of str
        The languages it was made for, by their codes; empty where that is not known.
    cache : EmbeddingCache, optional
        What has the vectors of texts that were embedded before.
    keep_queries : bool
        Whether queries are cached too, for an evaluation, which asks the same ones again: they have passed no guard.
    """

    identity: Identity
    languages: tuple[str, ...] = ()
    cache: EmbeddingCache | None = None
    keep_queries = False

    @abstractmethod
    def _rows(self, texts: Sequence[str], kind: Kind) -> ArrayLike:
        """Give a vector of each text, read behind the identity's prompt for its kind."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.identity.name!r})"

    def load(self) -> None:  # noqa: B027
        """Load now what would be loaded for the first text."""

    def documents(self, texts: Sequence[Cleared]) -> Vectors:
        """Embed memories' contents, which have passed the guard, behind the document prompt."""
        rows = cached(self.cache, self.identity, texts, partial(self._embed, "document"))
        return np.stack(rows) if rows else self._embed("document", texts)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries, behind the query prompt."""
        embed = partial(self._embed, "query")
        return np.stack(cached(self.cache, self.identity, texts, embed, "query")) if self.keep_queries else embed(texts)

    def _embed(self, kind: Kind, texts: Sequence[str]) -> Vectors:
        rows: ArrayLike = self._rows(texts, kind) if texts else []
        return unit_rows(rows, count=len(texts), dimension=self.identity.dimension, who=self.identity.name)


def unit_rows(rows: ArrayLike, *, count: int, dimension: int, who: str) -> Vectors:
    """Scale what a model answered to unit length, or refuse it."""
    try:
        with np.errstate(over="ignore"):
            vectors = np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError):
        raise HopgateError(f"{who} gave vectors of unequal lengths or of something other than numbers") from None
    if count == 0:
        return np.zeros((0, dimension), dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != count:
        raise HopgateError(f"{who} gave an answer of shape {vectors.shape} for {count} texts, not a vector each")
    if vectors.shape[1] != dimension:
        raise HopgateError(
            f"{who} gave vectors of dimension {vectors.shape[1]}, not {dimension}: it is not the model it was before"
        )
    norms: NDArray[np.float64] = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        raise HopgateError(f"{who} gave a vector with NaN or infinity in it")
    if (norms == 0).any():
        raise HopgateError(f"{who} gave a vector of zeros, which has no direction")
    units: Vectors = (vectors / norms).astype(np.float32)
    return units


def embedder_from(spec: str) -> Embedder:
    """Make the embedder a spec names.

    Parameters
    ----------
    spec : str
        `bge-small`; `sentence-transformers:`, `fastembed:` or `model2vec:NAME_OR_PATH`; `openai:`, `voyage:`, `cohere:`
        or `ollama:MODEL`, with `@URL` where the server is not the provider's own; or what a plugin brings.
        Options follow a `#`, joined by `&`, percent-encoded: `query` and `document` (the prompts), and for a server
        `dimension` and `key` (the environment variable that holds the key, or `none`).

    Examples
    --------
    >>> print(embedder_from("bge-small").identity)
    bge-small-en-v1.5 (384 dimensions)
    >>> embedder_from("bge-huge")
    Traceback (most recent call last):
    hopgate.errors.HopgateError: there is no embedder 'bge-huge': say bge-small, ...
    """
    kind, _, rest = spec.partition(":")
    if kind in KINDS:
        made = importlib.import_module(KINDS[kind]).from_spec(kind, rest)
    else:
        from_plugin = plugin("embedders", kind)
        made = from_plugin(rest) if from_plugin else None
    if not isinstance(made, Embedder):
        raise HopgateError(f"there is no embedder {redacted(spec)!r}: say {FORMS}")
    return made


def with_options(spec: str, **options: str | int | None) -> str:
    """Write the options that are set behind a spec."""
    tail = "&".join(f"{key}={quote(str(value))}" for key, value in options.items() if value is not None)
    return f"{spec}#{tail}" if tail else spec


def split_options(spec: str, allowed: frozenset[str]) -> tuple[str, dict[str, str]]:
    """Split a spec from its options."""
    head, _, tail = spec.partition("#")
    try:
        options = dict(parse_qsl(tail, keep_blank_values=True, strict_parsing=bool(tail)))
    except ValueError:
        raise HopgateError(f"cannot read the options of {redacted(spec)!r}: write NAME=VALUE, joined by &") from None
    if unknown := sorted(set(options) - allowed):
        raise HopgateError(
            f"unknown option {unknown[0]!r} in {redacted(spec)!r}: known are {', '.join(sorted(allowed))}"
        )
    return head, options
