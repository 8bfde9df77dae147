"""What a store's models make of memories' texts: vectors and tokens, each text read by both in one call."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.embed.cache import EmbeddingCache, Making, kept
from hopgate.embed.embedder import Embedder
from hopgate.embed.late import LateModel, Tokens, gathered, late_parts
from hopgate.memory import Cleared
from hopgate.passages import passage_text, passages


class Made(NamedTuple):
    """What was made of a memory's text."""

    rows: NDArray[np.float32] | None  # its own vector, and its passages' after it; none where it has them already
    tokens: Tokens | None = None  # none where the store keeps none


@dataclass(frozen=True)
class TextModels:
    """An embedder and, where the store keeps tokens, a late-interaction model; what they made lies in a cache."""

    embedder: Embedder
    late: LateModel | None = None
    cache: EmbeddingCache | None = None

    def made(self, texts: Sequence[Cleared], embedded: Collection[int] = ()) -> list[Made]:
        """Make vectors and tokens of memories' contents; tokens alone of those, by their places, that have vectors."""
        if not texts:
            return []
        read = [
            [] if place in embedded else [text, *(passage_text(text, span) for span in passages(text))]
            for place, text in enumerate(texts)
        ]
        late_read = [late_parts(text) for text in texts] if self.late else []
        makings = [Making(self.embedder.identity, "document", list(chain(*read)), self.embedder.documents)]
        if self.late:
            makings.append(Making(self.late.identity, "tokens", list(chain(*late_read)), self.late.tokens))
        vectors, *tokens = kept(self.cache, *makings)
        rows = iter(vectors)
        own = [np.stack([next(rows) for _ in parts]) if parts else None for parts in read]
        late = gathered(late_read, tokens[0]) if self.late else [None] * len(texts)
        return [Made(*both) for both in zip(own, late, strict=True)]
