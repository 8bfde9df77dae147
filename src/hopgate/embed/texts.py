"""What a store's models make of memories' texts: vectors and tokens, each text read by both in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.embed.embedder import Embedder
from hopgate.embed.late import LateModel, Tokens
from hopgate.memory import Cleared
from hopgate.passages import passage_text, passages


class Made(NamedTuple):
    """What was made of a memory's text.

    Parameters
    ----------
    rows : array, optional
        Its own vector, and those of its passages after it; none where it has them already.
    tokens : array, optional
        Its tokens; none where the store keeps none.
    """

    rows: NDArray[np.float32] | None
    tokens: Tokens | None = None


@dataclass(frozen=True)
class TextModels:
    """An embedder and, where the store keeps tokens, a late-interaction model."""

    embedder: Embedder
    late: LateModel | None = None

    def made(self, texts: Sequence[Cleared]) -> list[Made]:
        """Make vectors and tokens of memories' contents."""
        if not texts:
            return []
        read = [[text, *(passage_text(text, span) for span in passages(text))] for text in texts]
        rows = self.embedder.documents([text for parts in read for text in parts])
        ends = np.cumsum([len(parts) for parts in read])
        return [Made(*both) for both in zip(np.split(rows, ends[:-1]), self._tokens(texts), strict=True)]

    def tokens_alone(self, texts: Sequence[Cleared]) -> list[Made]:
        """Make tokens of contents whose vectors are there."""
        return [Made(None, tokens) for tokens in self._tokens(texts)]

    def _tokens(self, texts: Sequence[Cleared]) -> Sequence[Tokens | None]:
        return self.late.memory_tokens(texts) if self.late else [None] * len(texts)
