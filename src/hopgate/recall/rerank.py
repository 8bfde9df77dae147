"""The cross-encoder second stage: read query and memory together, within a hard time-out, or leave the order alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hopgate.embed.onnx import Bundled
from hopgate.errors import HopgateError
from hopgate.memory import Cleared
from hopgate.recall.settings import BUNDLED_RERANKER

Id = TypeVar("Id", int, str)

MODEL_SHA256 = "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"
TOKENIZER_SHA256 = "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448"
# Pairs read between two looks at the clock: an abandoned reading ends within one of these.
BATCH = 4


class CrossEncoder(Protocol):
    """Scores pairs of a query and a text: the higher, the better the text answers."""

    def score(self, query: str, texts: Sequence[Cleared], stop: threading.Event) -> NDArray[np.float32]:
        """Give one score a text; may give up, with any answer, once `stop` is set."""
        ...


class MiniLM:
    """ms-marco-MiniLM-L-12-v2, int8, bundled; a pair's score does not depend on the pairs beside it."""

    def __init__(self, threads: int | None = None) -> None:
        self._model = Bundled("reranker_en", MODEL_SHA256, TOKENIZER_SHA256, threads)

    def score(self, query: str, texts: Sequence[Cleared], stop: threading.Event) -> NDArray[np.float32]:
        """One logit a text."""
        pairs = self._model.encode([(query, text) for text in texts])
        return self._model.run(pairs, lambda output: output[0, 0], stop)


class SentenceTransformersCrossEncoder:
    """Any sentence-transformers CrossEncoder, by its name or its path."""

    def __init__(self, model: str) -> None:
        from hopgate.embed.sentence_transformers import load

        self._model = load(model, "CrossEncoder")

    def score(self, query: str, texts: Sequence[Cleared], stop: threading.Event) -> NDArray[np.float32]:
        """One score a text, in small batches."""
        scores: list[NDArray[np.float32]] = []
        for start in range(0, len(texts), BATCH):
            if stop.is_set():
                break
            pairs = [(query, text) for text in texts[start : start + BATCH]]
            scores.append(np.asarray(self._model.predict(pairs, show_progress_bar=False), dtype=np.float32).reshape(-1))
        return np.concatenate(scores) if scores else np.zeros(0, dtype=np.float32)


class Reranker:
    """A cross-encoder with a clock.

    The texts are scored in a thread of their own that is abandoned when the time is over: it can delay neither the
    answer nor the end of the process, its late scores are thrown away, and no second scoring starts beside it.

    Examples
    --------
    >>> from hopgate.memory import Memory, cleared
    >>> memories = [Memory("a", "Bread needs flour, water and salt."), Memory("b", "The NAS is in the cellar.")]
    >>> candidates = list(cleared((memory.external_id, memory) for memory in memories))
    >>> [key for key, _ in load_reranker().rerank("where is the NAS?", candidates, timeout_s=60)]
    ['b', 'a']
    """

    def __init__(self, encoder: CrossEncoder) -> None:
        self.encoder = encoder
        self._reading = threading.Lock()

    def scores(self, query: str, texts: Sequence[tuple[Id, Cleared]], timeout_s: float) -> dict[Id, float]:
        """Give a score for every text, or none when there was not time for all of them.

        Only `Cleared` text is read: a sensitive memory cannot be among them.
        """
        if not texts:
            return {}
        until = time.monotonic() + timeout_s
        stop, done = threading.Event(), threading.Event()
        answers: list[NDArray[np.float32]] = []
        failures: list[Exception] = []

        def read() -> None:
            # A scoring that was abandoned may still hold the lock; it is waited for as long as the answer would be.
            if not self._reading.acquire(timeout=max(0.0, until - time.monotonic())):
                return
            try:
                if not stop.is_set():
                    answers.append(self.encoder.score(query, [text for _, text in texts], stop))
            except Exception as error:
                failures.append(error)
            finally:
                self._reading.release()
                done.set()

        threading.Thread(target=read, name="hopgate-rerank", daemon=True).start()
        in_time = done.wait(max(0.0, until - time.monotonic()))
        stop.set()
        if not in_time:
            return {}
        if failures:
            raise failures[0]
        return _checked([key for key, _ in texts], answers[0])

    def rerank(
        self, query: str, candidates: Sequence[tuple[Id, Cleared | None]], timeout_s: float
    ) -> list[tuple[Id, float | None]]:
        """Give the candidates in their new order, each with its score; in the old order when time was not enough.

        A candidate without text (a sensitive one) is not read, has no score and keeps its place; equal scores go by id.
        """
        read = [(key, text) for key, text in candidates if text is not None]
        scores = self.scores(query, read, timeout_s)
        if not scores:
            return [(key, None) for key, _ in candidates]
        queue = iter(sorted((key for key, _ in read), key=lambda key: (-scores[key], key)))
        order = [key if text is None else next(queue) for key, text in candidates]
        return [(key, scores.get(key)) for key in order]


@lru_cache(maxsize=4)
def load_reranker(model: str = BUNDLED_RERANKER) -> Reranker:
    """Give the second stage with a cross-encoder, made on first use and kept for the process.

    Parameters
    ----------
    model : str
        "bundled", or the name or path of a sentence-transformers CrossEncoder.
    """
    return Reranker(MiniLM() if model == BUNDLED_RERANKER else SentenceTransformersCrossEncoder(model))


def _checked(keys: Sequence[Id], scores: NDArray[np.float32]) -> dict[Id, float]:
    if scores.shape != (len(keys),):
        raise HopgateError(f"the cross-encoder gave {scores.shape} scores for {len(keys)} texts: it must give one each")
    if not np.isfinite(scores).all():
        raise HopgateError("the cross-encoder gave a score that is not a finite number")
    return dict(zip(keys, scores.tolist(), strict=True))
