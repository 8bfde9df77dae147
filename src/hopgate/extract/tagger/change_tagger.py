"""A trained model of six layers that marks the words of a short note: thing, value, former value; and tells a change.

How it was trained and what it sees that rules do not is in docs/research/extraction.md; `tools/tagger` makes the
file again. One text a run, as with the bundled embedder: what it says of a text depends on no other.
"""

from __future__ import annotations

import hashlib
import threading
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.bundled import session_options
from hopgate.errors import HopgateError
from hopgate.extract.tagger.tagged_spans import TaggedSpan, spans_of
from hopgate.extract.tagger.token_vectors import tokens_of

WEIGHTS_SHA256 = "1b9cf7ee2d231fcbdcd57903d1c67da58cce7a0f1161a3f3d412b50d48c51d7b"
THING, VALUE, FORMER = "thing", "value", "former"
# The model's outputs for each token: three labels and none, in this order, and of the first token the change.
_LABELS = ("", THING, VALUE, FORMER)
# One thread loads the model, and others that want it wait.
_loading = threading.Lock()


class Tagged(NamedTuple):
    """What the model sees in a text: how likely it tells of a change, and which words are what."""

    change: float
    spans: list[TaggedSpan]


def tagged(text: str) -> Tagged:
    """Mark the words of a short note.

    Examples
    --------
    >>> seen = tagged("We've gone from HealthRoster to Loop for the rota.")
    >>> seen.change > 0.9, [(span.label, span.text) for span in seen.spans]
    (True, [('former', 'HealthRoster'), ('value', 'Loop'), ('thing', 'rota')])
    """
    offsets, vectors = tokens_of(text)
    logits: NDArray[np.float32] = _session().run(None, {"words": vectors[None]})[0][0]
    labels = np.exp(logits[:, :4] - logits[:, :4].max(axis=1, keepdims=True))
    labels /= labels.sum(axis=1, keepdims=True)
    return Tagged(float(1 / (1 + np.exp(-logits[0, 4]))), spans_of(text, offsets, labels, _LABELS))


def _session() -> Any:
    with _loading:
        return _loaded()


@cache
def _loaded() -> Any:
    weights = resources.files("hopgate.extract.tagger").joinpath("weights", "changes.onnx").read_bytes()
    if hashlib.sha256(weights).hexdigest() != WEIGHTS_SHA256:
        raise HopgateError("hopgate's own changes.onnx is damaged: install hopgate again")
    options = session_options()
    import onnxruntime

    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
