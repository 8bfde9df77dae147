"""The tokens of a text and their vectors, as the bundled embedder has them: the tagger was trained on top of these."""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.bundled import BGE_SMALL, bundled_file

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MOST_TOKENS = 256
# Where the table of the embedder's file begins, which its hash vouches for, and how its bytes are numbers.
_OFFSET, _ROWS, _COLUMNS = 566_691, 30_522, 384
# One thread loads both, and others that want them wait.
_loading = threading.Lock()
_SCALE, _ZERO = np.float32(0.0077856923), np.float32(70)


class Tokens(NamedTuple):
    """Tokens of two texts: where each stands in its own (0, 0 for those that stand for none), and a vector for each.

    `is_later` is 1 for those of the second text, and for the mark at its end.
    """

    offsets: list[tuple[int, int]]
    is_later: NDArray[np.float32]
    vectors: NDArray[np.float32]


def tokens_of(earlier: str, later: str) -> Tokens:
    """Cut two texts into tokens; a text by itself is the later one, beside an empty one.

    Examples
    --------
    >>> tokens = tokens_of("", "Backups go to Wasabi")
    >>> tokens.offsets[2], tokens.vectors.shape, tokens.is_later.tolist()
    ((0, 6), (9, 384), [0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    """
    with _loading:
        tokenizer, table = _tokenizer(), _table()
    encoding = tokenizer.encode(earlier, later)
    vectors = (table[encoding.ids].astype(np.float32) - _ZERO) * _SCALE
    return Tokens(encoding.offsets, np.array(encoding.type_ids, dtype=np.float32), vectors)


@cache
def _tokenizer() -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(bundled_file(BGE_SMALL.folder, "tokenizer.json", BGE_SMALL.tokenizer_sha256))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MOST_TOKENS)
    return tokenizer


@cache
def _table() -> NDArray[np.uint8]:
    model = bundled_file(BGE_SMALL.folder, "model.onnx", BGE_SMALL.model_sha256)
    # A copy, so that the other 22 MB of the file are let go.
    return np.frombuffer(model, np.uint8, _ROWS * _COLUMNS, _OFFSET).reshape(_ROWS, _COLUMNS).copy()
