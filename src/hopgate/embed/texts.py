"""What a store's models make of memories' texts: vectors and tokens, each text read by both in one call."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.embed.embedder import Embedder
from hopgate.embed.late import LateModel, Tokens
from hopgate.memory import Cleared
from hopgate.passages import passage_text, passages

# Of a long memory's passages so many have tokens, some 32,000 characters and 7,000 tokens.
MOST_PASSAGES = 32


class Made(NamedTuple):
    """What was made of a memory's text."""

    rows: NDArray[np.float32] | None  # its own vector, and its passages' after it; none where it has them already
    tokens: Tokens | None = None  # none where the store keeps none


@dataclass(frozen=True)
class TextModels:
    """An embedder and, where the store keeps tokens, a late-interaction model."""

    embedder: Embedder
    late: LateModel | None = None

    def made(self, texts: Sequence[Cleared], embedded: Collection[int] = ()) -> list[Made]:
        """Make vectors and tokens of memories' contents; tokens alone of those, by their places, that have vectors."""
        read = [
            [] if place in embedded else [text, *(passage_text(text, span) for span in passages(text))]
            for place, text in enumerate(texts)
        ]
        vectors = self.embedder.documents(list(chain(*read)))
        if self.late is None:
            return [Made(rows) for rows in _joined(read, vectors)]
        late_read = [[passage_text(text, span) for span in passages(text)[:MOST_PASSAGES]] or [text] for text in texts]
        tokens = self.late.tokens(list(chain(*late_read)))
        both = zip(_joined(read, vectors), _joined(late_read, tokens), strict=True)
        return [Made(*of_memory) for of_memory in both]


def _joined(read: Iterable[Sequence[Cleared]], made: Iterable[NDArray[Any]]) -> list[NDArray[Any] | None]:
    """Put what was made of all parts together again, a memory's in one array."""
    rows = iter(made)
    return [np.vstack([next(rows) for _ in parts]) if parts else None for parts in read]
