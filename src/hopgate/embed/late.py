"""Late interaction: a vector a token, and a memory is as near as its tokens' best matches with the query's."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.embed.bundled import MAX_TOKENS, Bundled
from hopgate.embed.cache import EmbeddingCache, cached
from hopgate.embed.embedder import Identity
from hopgate.errors import HopgateError
from hopgate.memory import Cleared

if TYPE_CHECKING:
    from tokenizers import Encoding

LATE = Bundled(
    "colbert",
    "4980983628c18e4f0a4c756114abd2d7c097c6ccad9cffc70e77302d21e05df0",
    "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
)
# What the model was trained to see after the first token, before a query and before a text.
QUERY_MARK, TEXT_MARK = 1, 2
# The directions in which tokens of our own texts differ most: benchmarks/late_basis.py makes it. Alone, recall@5 / @10
# on dev, with all 384 | 128 in bytes | 96 in bytes: locomo .708 / .768 | .696 / .771 | .692 / .766, musique
# .660 / .736 | .665 / .748 | .640 / .737.
BASIS = "late_basis.npy"
# A number of a unit row as a byte: 127 is 1.
SCALE = 127
BUNDLED, OFF = "bundled", "off"

Floats = NDArray[np.float32]
Tokens = NDArray[np.int8]
"""A row a token: a vector of unit length in bytes."""


class QueryTokens(NamedTuple):
    """A query's tokens: of each the word that it is a part of, empty for the marks, and its vector of unit length."""

    words: tuple[str, ...]
    rows: Floats


class LateModel(ABC):
    """A model of token vectors; what it makes of a text does not depend on the texts beside it."""

    identity: Identity  # which model this is: tokens may be compared only if their identities are equal
    cache: EmbeddingCache | None = None  # what has the tokens of texts that were read before

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.identity.name!r})"

    @abstractmethod
    def query_tokens(self, text: str) -> QueryTokens:
        """Give a query's tokens."""

    @abstractmethod
    def _rows(self, texts: Sequence[Cleared]) -> list[Floats]:
        """Give the rows of texts that are read whole, of unit length."""

    def tokens(self, texts: Sequence[Cleared]) -> list[Tokens]:
        """Give the tokens of texts that are read whole."""
        return cached(self.cache, self.identity, texts, self._tokens, "tokens")

    def _tokens(self, texts: Sequence[Cleared]) -> list[Tokens]:
        return [np.round(rows * SCALE).astype(np.int8) for rows in self._rows(texts)]


class BundledLate(LateModel):
    """answerai-colbert-small-v1, int8: its last layer, on the directions in which tokens differ most.

    Nothing is loaded before the first text. Alone it finds .838 on the test half of 2wiki (recall@10, over every
    memory), where bge-small finds .824.
    """

    @cached_property
    def identity(self) -> Identity:  # type: ignore[override]
        """Which model this is."""
        basis = hashlib.sha256(self._basis.tobytes()).hexdigest()
        fingerprint = f"{LATE.model_sha256} {basis}"
        return Identity("answerai-colbert-small-v1", self._basis.shape[1], spec=BUNDLED, fingerprint=fingerprint)

    def load(self) -> None:
        """Load the model before the first text."""
        LATE.load()

    def query_tokens(self, text: str) -> QueryTokens:
        """Give a query's tokens."""
        [encoding] = LATE.encode([text])
        [rows] = LATE.run([encoding], self._unit, mark=QUERY_MARK)
        words = [_word(text, encoding, at) for at in range(len(encoding.ids))]
        # The mark stands after the first token.
        return QueryTokens((words[0], "", *words[1:])[:MAX_TOKENS], rows)

    def _rows(self, texts: Sequence[Cleared]) -> list[Floats]:
        return LATE.run(LATE.encode(texts), self._unit, mark=TEXT_MARK)

    def _unit(self, output: Floats) -> Floats:
        return unit(output[0] @ self._basis)

    @cached_property
    def _basis(self) -> Floats:
        with files("hopgate.embed").joinpath("data", BASIS).open("rb") as stream:
            return np.asarray(np.load(stream), np.float32)


def late_model(spec: str) -> LateModel | None:
    """Make the late-interaction model that a spec names; none for "off"."""
    if spec == OFF:
        return None
    if spec == BUNDLED:
        return BundledLate()
    kind, _, name = spec.partition(":")
    if kind == "sentence-transformers" and name:
        from hopgate.embed.sentence_transformers import SentenceTransformersLate

        return SentenceTransformersLate(name)
    raise HopgateError(
        f"there is no late-interaction model {spec!r}: say {BUNDLED}, {OFF} or sentence-transformers:NAME_OR_PATH"
    )


def unit(rows: Floats) -> Floats:
    """Give rows of unit length."""
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def joined(tokens: Sequence[Tokens]) -> tuple[Tokens, NDArray[np.intp]]:
    """Put the tokens of some memories one after another, and say where each begins."""
    lengths = [len(rows) for rows in tokens]
    return np.concatenate(tokens), np.cumsum([0, *lengths[:-1]], dtype=np.intp)


def late_matches(query: Floats, rows: Tokens, starts: NDArray[np.intp]) -> Floats:
    """Give for each token of a query, a row, its best cosine in each memory, a column.

    All tokens are rows of unit length; those of the memories follow each other, and `starts` says where each begins.
    """
    if not len(starts):
        return np.zeros((len(query), 0), np.float32)
    cosines = (query / np.float32(SCALE)) @ rows.astype(np.float32).T
    return np.asarray(np.maximum.reduceat(cosines, starts, axis=1), np.float32)


def _word(text: str, encoding: Encoding, at: int) -> str:
    word = encoding.word_ids[at]
    span = None if word is None else encoding.word_to_chars(word)
    return text[slice(*span)] if span else ""
