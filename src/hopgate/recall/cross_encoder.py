"""Cross-encoders: a score for each pair of a query and a text, given as soon as it is there."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Protocol

import numpy as np

from hopgate.embed.bundled import Bundled
from hopgate.memory import Cleared

MODEL_SHA256 = "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"
TOKENIZER_SHA256 = "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448"
# Pairs of one padded batch, and so those between two looks at the clock.
BATCH = 4
# The best candidates are read first, in case the time is short; among so many of them the longest first, so that no
# thread is left alone with a long text at the end, and a batch is of one length.
ROUND = 12


class CrossEncoder(Protocol):
    """Scores pairs of a query and a text: the higher, the better the text answers."""

    def score(self, query: str, texts: Sequence[Cleared]) -> Generator[tuple[int, float]]:
        """Give each text's place and score, in any order; once closed, nothing more is read."""
        ...


class MiniLM:
    """ms-marco-MiniLM-L-12-v2, int8, bundled; a pair's score does not depend on the pairs beside it.

    One pair a run and a thread a core: 30 pairs of a chat took 702 ms of CPU time where one padded batch took 1,617 to
    1,926 and sorted batches of 8 took 828 (Neoverse-N1).
    """

    def __init__(self, threads: int | None = None) -> None:
        self._model = Bundled("reranker_en", MODEL_SHA256, TOKENIZER_SHA256, threads)

    def score(self, query: str, texts: Sequence[Cleared]) -> Generator[tuple[int, float]]:
        """One logit a text."""
        pairs = self._model.encode([(query, text) for text in texts])
        order = reading_order([len(pair.ids) for pair in pairs])
        rows = self._model.each([pairs[at] for at in order], lambda output: output[0, 0])
        for at, row in zip(order, rows, strict=True):
            yield at, float(row)


class SentenceTransformersCrossEncoder:
    """Any sentence-transformers CrossEncoder, by its name or its path."""

    def __init__(self, model: str) -> None:
        from hopgate.embed.sentence_transformers import load

        self._model = load(model, "CrossEncoder")

    def score(self, query: str, texts: Sequence[Cleared]) -> Generator[tuple[int, float]]:
        """One score a text, in small batches of about one length."""
        order = reading_order([len(text) for text in texts])
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            pairs = [(query, texts[at]) for at in batch]
            scores = np.asarray(self._model.predict(pairs, show_progress_bar=False), dtype=np.float32).reshape(-1)
            yield from zip(batch, scores.tolist(), strict=False)


def reading_order(lengths: Sequence[int]) -> list[int]:
    """Give the order in which texts are read: the best rounds first, in a round the longest first.

    Examples
    --------
    >>> reading_order([3, 5, 4])
    [1, 2, 0]
    """
    return sorted(range(len(lengths)), key=lambda at: (at // ROUND, -lengths[at], at))
