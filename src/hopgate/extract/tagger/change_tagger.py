"""A trained model of six layers that marks the words of short notes: thing, value, former value; and tells changes.

Of a note by itself it says whether it tells of a change, and of an earlier and a later one whether that ends what the
first says. How it was trained and what it sees that rules do not is in docs/research/extraction.md; `tools/tagger`
makes the file again. One text, or two, a run, as with the bundled embedder: what it says depends on no other.
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
from hopgate.extract.tagger.token_vectors import Tokens, tokens_of

WEIGHTS_SHA256 = "88d31a97d37e6caa3ac47d1a46b244909b531576a53f7c6ff85084ff550db1db"
THING, VALUE, FORMER = "thing", "value", "former"
# The model's outputs for each token: three labels and none, in this order; and of the first token a change and an end.
_LABELS = ("", THING, VALUE, FORMER)
# One thread loads the model, and others that want it wait.
_loading = threading.Lock()


class Tagged(NamedTuple):
    """What the model sees in a text: how likely it tells of a change, and which words are what."""

    change: float
    spans: list[TaggedSpan]


class Compared(NamedTuple):
    """What it sees in two texts: how likely the later ends what the earlier says, and which words of each are what."""

    end: float
    of_earlier: list[TaggedSpan]
    of_later: list[TaggedSpan]


def tagged(text: str) -> Tagged:
    """Mark the words of a short note.

    Examples
    --------
    >>> seen = tagged("We've gone from HealthRoster to Loop for the rota.")
    >>> seen.change > 0.9, [(span.label, span.text) for span in seen.spans]
    (True, [('former', 'HealthRoster'), ('value', 'Loop'), ('thing', 'rota')])
    """
    tokens, labels, (change, _) = _run("", text)
    return Tagged(change, _spans(text, tokens, labels, tokens.is_later == 1))


def compared(earlier: str, later: str) -> Compared:
    """Say whether a note ends what an earlier one says, and mark the words of both.

    Examples
    --------
    >>> seen = compared("Piano for Edie is with Mrs Lathom.", "From this week on Edie has piano with Mr Dube instead.")
    >>> seen.end > 0.9, [span.text for span in seen.of_earlier if span.label == "former"]
    (True, ['Mrs Lathom'])
    """
    tokens, labels, (_, end) = _run(earlier, later)
    is_later = tokens.is_later == 1
    return Compared(end, _spans(earlier, tokens, labels, ~is_later), _spans(later, tokens, labels, is_later))


def _run(earlier: str, later: str) -> tuple[Tokens, NDArray[np.float32], tuple[float, float]]:
    """The tokens, how likely each label of each is, and how likely the later text tells a change, and an end."""
    tokens = tokens_of(earlier, later)
    given = {"words": tokens.vectors[None], "later": tokens.is_later[None, :, None]}
    logits: NDArray[np.float32] = _session().run(None, given)[0][0]
    labels = np.exp(logits[:, :4] - logits[:, :4].max(axis=1, keepdims=True))
    change, end = 1 / (1 + np.exp(-logits[0, 4:]))
    return tokens, labels / labels.sum(axis=1, keepdims=True), (float(change), float(end))


def _spans(text: str, tokens: Tokens, labels: NDArray[np.float32], is_here: NDArray[np.bool_]) -> list[TaggedSpan]:
    offsets = [tokens.offsets[at] for at in np.flatnonzero(is_here)]
    return spans_of(text, offsets, labels[is_here], _LABELS)


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
