"""The cross-encoder: read query and memory together within a budget of time; what was read is put in a better order."""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Generic, NamedTuple, Protocol

import numpy as np

from hopgate.embed.bundled import Bundled
from hopgate.errors import HopgateError
from hopgate.memory import Cleared
from hopgate.passages import Extent, passage_text, passages
from hopgate.plugins import plugin
from hopgate.recall.fusion import Id
from hopgate.recall.settings import BUNDLED_RERANKER

MODEL_SHA256 = "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"
TOKENIZER_SHA256 = "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448"
# Pairs of one padded batch, and so those between two looks at the clock.
BATCH = 4
# The best candidates are read first, in case the time is short; among so many of them the longest first, so that no
# thread is left alone with a long text at the end, and a batch is of one length.
ROUND = 12
# Of a long memory the cross-encoder reads no more passages than these: the nearest to the query.
MOST_PASSAGES = 3
_WORDS = re.compile(r"\w+")


class RerankCutShort(UserWarning):
    """The time for the cross-encoder was over before it had read all that it was to read."""


@dataclass(frozen=True, slots=True)
class RerankCost:
    """What re-ranking cost: pairs of the query and a text that were read, of those asked for, and milliseconds."""

    pairs: int = 0
    asked: int = 0
    milliseconds: float = 0.0

    @property
    def cut_short(self) -> bool:
        """Whether the time was over before all was read."""
        return self.pairs < self.asked

    def __str__(self) -> str:
        read = f"{self.pairs} of {self.asked}" if self.cut_short else f"{self.pairs}"
        return f"{read} pairs in {self.milliseconds:.0f} ms"

    def to_dict(self) -> dict[str, int | float | bool]:
        """The cost as plain values."""
        return {
            "pairs": self.pairs,
            "asked": self.asked,
            "ms": round(self.milliseconds, 1),
            "cut_short": self.cut_short,
        }


class Reranked(NamedTuple, Generic[Id]):
    """The score of each candidate that was read, of the long ones the passage that spoke for it, and the cost."""

    scores: dict[Id, float]
    passages: dict[Id, Extent]
    cost: RerankCost


class Reranker:
    """A cross-encoder with a clock.

    The texts are scored in a thread of their own that is abandoned when the time is over: it can delay neither the
    answer nor the end of the process, its late scores are thrown away, and no second scoring starts beside it.

    Examples
    --------
    >>> from hopgate.memory import Memory, cleared
    >>> memories = [Memory("a", "Bread needs flour, water and salt."), Memory("b", "The NAS is in the cellar.")]
    >>> candidates = cleared((memory.external_id, memory) for memory in memories)
    >>> answer = load_reranker().rerank("where is the NAS?", candidates, timeout_s=60)
    >>> max(answer.scores, key=answer.scores.get), answer.cost.pairs
    ('b', 2)
    """

    def __init__(self, encoder: CrossEncoder) -> None:
        self.encoder = encoder
        self._reading = threading.Lock()

    def rerank(
        self,
        query: str,
        candidates: Iterable[tuple[Id, Cleared]],
        timeout_s: float,
        *,
        near: Mapping[Id, Sequence[Extent]] = MappingProxyType({}),
    ) -> Reranked[Id]:
        """Score the candidates as far as the time goes; one that there was no time for has no score.

        Candidates come best first, and only `Cleared` text is read, so that a sensitive memory cannot be. `near` has
        the passages of long texts, the nearest to the query first; by default those that share most words with it.
        """
        asked = [
            (key, span, text if span is None else passage_text(text, span))
            for key, text in candidates
            for span in _spans(query, text, near.get(key))
        ]
        start = time.monotonic()
        read = self._read(query, [text for _, _, text in asked], timeout_s)
        cost = RerankCost(len(read), len(asked), 1000 * (time.monotonic() - start))
        scores, speaking = dict[Id, float](), dict[Id, Extent]()
        for place, score in sorted(read.items()):
            key, span, _ = asked[place]
            if key not in scores or score > scores[key]:
                scores[key] = score
                if span is not None:
                    speaking[key] = span
        return Reranked(scores, speaking, cost)

    def _read(self, query: str, texts: Sequence[Cleared], timeout_s: float) -> dict[int, float]:
        """Give the scores, by place, that there was time for."""
        if not texts:
            return {}
        until = time.monotonic() + timeout_s
        stop, done = threading.Event(), threading.Event()
        scores: dict[int, float] = {}
        failures: list[Exception] = []

        def read() -> None:
            # A scoring that was abandoned may still hold the lock; it is waited for as long as the answer would be.
            if not self._reading.acquire(timeout=max(0.0, until - time.monotonic())):
                return
            try:
                if not stop.is_set():
                    with closing(self.encoder.score(query, texts)) as pairs:
                        for place, score in pairs:
                            if stop.is_set():
                                return
                            if not math.isfinite(score):
                                raise HopgateError("the cross-encoder gave a score that is not a finite number")
                            scores[place] = score
            except Exception as error:
                failures.append(error)
            finally:
                self._reading.release()
                done.set()

        threading.Thread(target=read, name="hopgate-rerank", daemon=True).start()
        done.wait(max(0.0, until - time.monotonic()))
        stop.set()
        if failures:
            raise failures[0]
        return dict(scores)


@lru_cache(maxsize=4)
def load_reranker(model: str = BUNDLED_RERANKER) -> Reranker:
    """Give the second stage with a cross-encoder, made on first use and kept for the process.

    Parameters
    ----------
    model : str
        "bundled", `NAME:REST` of a plugin, or the name or path of a sentence-transformers CrossEncoder.
    """
    if model == BUNDLED_RERANKER:
        return Reranker(MiniLM())
    name, _, rest = model.partition(":")
    from_plugin = plugin("rerankers", name)
    return Reranker(from_plugin(rest) if from_plugin else SentenceTransformersCrossEncoder(model))


def _spans(query: str, text: Cleared, near: Sequence[Extent] | None) -> Sequence[Extent | None]:
    """What is read of a text: all of it, or the passages nearest to the query."""
    if near is None:
        words = set(_WORDS.findall(query.lower()))
        near = sorted(
            passages(text),
            key=lambda span: (-len(words.intersection(_WORDS.findall(text[slice(*span)].lower()))), span),
        )
    return near[:MOST_PASSAGES] or [None]


# Cross-encoders: a score for each pair of a query and a text, given as soon as it is there.


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

    def __init__(self) -> None:
        self._model = Bundled("reranker_en", MODEL_SHA256, TOKENIZER_SHA256)

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
            scores = np.asarray(self._model.predict(pairs, show_progress_bar=False), dtype=np.float32)
            if scores.size != len(batch):
                count = scores.size // len(batch)
                raise HopgateError(f"the cross-encoder gives {count} scores a text: it must give one")
            yield from zip(batch, scores.reshape(-1).tolist(), strict=True)


def reading_order(lengths: Sequence[int]) -> list[int]:
    """Give the order in which texts are read: the best rounds first, in a round the longest first.

    Examples
    --------
    >>> reading_order([3, 5, 4])
    [1, 2, 0]
    """
    return sorted(range(len(lengths)), key=lambda at: (at // ROUND, -lengths[at], at))
