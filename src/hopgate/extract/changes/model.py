"""The trained model of changes: whether a later note ends what an earlier one says, and which words say what of what.

Six layers on top of the token vectors of the bundled embedder; `tools/tagger` says how it was made, and
docs/measurements.md has what it sees. Which notes are worth asking about says a linear model of their words.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.embed.bundled import BGE_SMALL, bundled_file, session_options, side_by_side
from hopgate.errors import HopgateError
from hopgate.extract.rules.words import LANGUAGES

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WEIGHTS_SHA256 = "88d31a97d37e6caa3ac47d1a46b244909b531576a53f7c6ff85084ff550db1db"
MOST_TOKENS = 256
# From the first likelihood on a later note ends what the earlier one says, and from the second on, that it tells of a
# change by itself, a note is compared with earlier ones: on the tuning halves of benchmarks/notes that loses none of
# 206 changes, and spares most of the comparisons. Below the third what rules take for an end is none.
THRESHOLD, TOLD, VETO = 0.98, 0.5, 0.02
# With so much `sureness` a sentence ends one of its own note, and one of another: of 290 changes in logs made of the
# tuning halves of sets 20 to 27 that loses 20, and of 18 ends that are none in 1,048 lines of LoCoMo's talks all.
SURE, SURE_ACROSS = 9.5, 12
NAME = f"changes {WEIGHTS_SHA256[:8]} {THRESHOLD} {TOLD} {VETO} {SURE} {SURE_ACROSS}"
"""By what a memory that was compared is marked, so that each is compared once."""
# The model's outputs for each token: three labels and none, in this order; and of the first token a change and an end.
_LABELS = ("", "thing", "value", "former")
_CHANGE, _END = 4, 5
# Of notes by authors that it was not trained on, 96 in a hundred changes are above, and 12 in a hundred others.
_LEAST_LIKELY = -1.0
# Where the table of token vectors begins in the embedder's file, which its hash vouches for, and how bytes are numbers.
_OFFSET, _ROWS, _COLUMNS = 566_691, 30_522, 384
_SCALE, _ZERO = np.float32(0.0077856923), np.float32(70)
# A word is what stands between spaces and marks; "E.ON", "nas-2", "Mo's", "19:00" and "€1,020" are one.
_WORD = re.compile(r"""(?:[^\s,;:()"“”„!?…=→>]|(?<=\d)[,:](?=\d))+""")
_AT_END = ".'’/-"
# What may stand at the edges of marked words and is none of them: small words, a year.
_SMALL = frozenset().union(*(language.function for language in LANGUAGES.values()))
_YEAR = re.compile(r"[12]\d{3}(?:-\d\d){0,2}$")
_LIKELY_WORD = re.compile(r"[^\W\d_]+|->|→|=>")
_WEIGHTS = resources.files("hopgate.extract.changes").joinpath("weights")


class Span(NamedTuple):
    """Words of a text with one label, where they begin, and the confidence of the least sure of them."""

    label: str
    text: str
    start: int
    confidence: float


class Compared(NamedTuple):
    """How likely a later note ends what an earlier one says, and the marked words of both, the surest first.

    Of a note by itself, beside an empty one, `change` is how likely it tells of a change. No words are marked where
    neither is likely.
    """

    end: float
    of_earlier: list[Span]
    of_later: list[Span]
    change: float = 0.0

    @property
    def thing(self) -> str:
        """What it is about: as the earlier note calls it, or else the later."""
        return _first("thing", self.of_earlier, self.of_later)

    @property
    def former(self) -> str:
        """What was: in the earlier note, or else as the later one names it."""
        return _first("former", self.of_earlier, self.of_later)

    @property
    def value(self) -> str:
        """What is instead; empty where something is merely over."""
        return _first("value", self.of_later)

    @property
    def sureness(self) -> float:
        """How sure the model is of an end or a change and of its words together, as log-odds; of these half as much."""
        best: dict[str, float] = {}
        for span in (*self.of_earlier, *self.of_later):
            best.setdefault(span.label, span.confidence)
        chances = [max(self.end, self.change), *(best.get(label, 0.5) for label in _LABELS[1:])]
        end, *words = (math.log(chance / (1 - chance)) for chance in np.clip(chances, 1e-4, 1 - 1e-4))
        return end + sum(words) / 2


@lru_cache(maxsize=4096)  # what rules take for an end is often asked about a second time
def compared(earlier: str, later: str) -> Compared:
    """Say whether a note ends what an earlier one says, and mark the words of both; the earlier may be empty."""
    tokenizer, table, session = _loaded()
    encoding = tokenizer.encode(earlier, later)
    is_later, offsets = np.array(encoding.type_ids) == 1, np.array(encoding.offsets)
    vectors = (table[encoding.ids].astype(np.float32) - _ZERO) * _SCALE
    inputs = {"words": vectors[None], "later": is_later.astype(np.float32)[None, :, None]}
    logits: NDArray[np.float32] = session.run(None, inputs)[0][0]
    change, end = (float(1 / (1 + np.exp(-logits[0, at]))) for at in (_CHANGE, _END))
    change = change if not earlier else 0.0
    if max(change, end) < TOLD:
        return Compared(end, [], [], change)
    labels = np.exp(logits[:, :4] - logits[:, :4].max(axis=1, keepdims=True))
    labels /= labels.sum(axis=1, keepdims=True)
    of_earlier, of_later = (
        spans(text, offsets[is_here], labels[is_here], _LABELS)
        for text, is_here in ((earlier, ~is_later), (later, is_later))
    )
    return Compared(end, of_earlier, of_later, change)


def may_tell_change(text: str) -> bool:
    """Say whether a note may tell of a change, by its words and pairs of words alone: so that few are compared."""
    base, by_words = _likely_words()
    words = _LIKELY_WORD.findall(text.lower())
    terms = {*words, *map(" ".join, pairwise(words))}
    return base + sum(by_words.get(term, 0.0) for term in terms) > _LEAST_LIKELY


def refutes(pair: Compared, alone: Compared) -> bool:
    """Say whether a later note ends nothing of an earlier one, though facts of both contradict each other.

    It does where both the end and any change at all are unlikely: on the tuning halves of benchmarks/notes that refutes
    33 of 33 wrong ends of rules and none of 148 right ones.
    """
    return pair.end < VETO and alone.change < TOLD


def compared_all(pairs: Sequence[tuple[str, str]]) -> list[Compared]:
    """Compare an earlier note and a later one, for each pair; one by itself has an empty one before it."""
    _loaded()  # once, and not by each thread
    return list(side_by_side(lambda pair: compared(*pair), pairs))


def spans(text: str, offsets: NDArray[np.int64], labels: NDArray[np.float32], names: Sequence[str]) -> list[Span]:
    """Join words that follow each other and have the same label, the surest first, without small words at the edges.

    Tokens have a row each: where they begin and end, and how likely each label is. A word's label is that of its tokens
    together, each weighed by its letters: a token alone may miss. The first of the labels' names is none.
    """
    matches = ((match.start(), match.start() + len(match[0].rstrip(_AT_END))) for match in _WORD.finditer(text))
    words = np.array([(start, end) for start, end in matches if end > start] or np.empty((0, 2), int))
    letters = np.minimum(words[:, 1:], offsets[:, 1]) - np.maximum(words[:, :1], offsets[:, 0])
    letters = letters.clip(0).astype(np.float32)
    # What no token stands for is beyond what was read.
    words, letters = words[letters.any(axis=1)], letters[letters.any(axis=1)]
    shares = letters @ labels / letters.sum(axis=1, keepdims=True)
    joined: list[Span] = []
    last = ""
    for (start, end), best, share in zip(words.tolist(), shares.argmax(axis=1), shares.max(axis=1), strict=True):
        label, confidence = names[best], round(float(share), 4)
        if label and label == last and not text[joined[-1].start + len(joined[-1].text) : start].strip(" ."):
            begun = joined.pop()
            joined.append(Span(label, text[begun.start : end], begun.start, min(confidence, begun.confidence)))
        elif label:
            joined.append(Span(label, text[start:end], start, confidence))
        last = label
    return sorted(filter(lambda span: span.text, map(_trimmed, joined)), key=lambda span: -span.confidence)


def _first(label: str, *notes: Sequence[Span]) -> str:
    return next((span.text for spans_of_note in notes for span in spans_of_note if span.label == label), "")


def _is_small(word: str) -> bool:
    """Whether a word is a small one; in capitals, such as CI or IT, it is a name."""
    return word.lower() in _SMALL and not (len(word) > 1 and word.isupper())


def _trimmed(span: Span) -> Span:
    """Without the small words and years at its edges; "" where it is nothing else."""
    words = list(_WORD.finditer(span.text))
    while words and (_is_small(words[0][0]) or (len(words) > 1 and _YEAR.match(words[0][0]))):
        del words[0]
    while words and _is_small(words[-1][0]):
        del words[-1]
    start, end = (words[0].start(), words[-1].end()) if words else (0, 0)
    return span._replace(text=span.text[start:end].rstrip(_AT_END), start=span.start + start)


@cache
def _loaded() -> tuple[Tokenizer, NDArray[np.uint8], Any]:
    options = session_options()  # before onnxruntime is imported, which else sends telemetry
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(bundled_file(BGE_SMALL.folder, "tokenizer.json", BGE_SMALL.tokenizer_sha256))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MOST_TOKENS)
    embedder = bundled_file(BGE_SMALL.folder, "model.onnx", BGE_SMALL.model_sha256)
    # A copy, so that the other 22 MB of the file are let go.
    table = np.frombuffer(embedder, np.uint8, _ROWS * _COLUMNS, _OFFSET).reshape(_ROWS, _COLUMNS).copy()
    weights = _WEIGHTS.joinpath("changes.onnx").read_bytes()
    if hashlib.sha256(weights).hexdigest() != WEIGHTS_SHA256:
        raise HopgateError("hopgate's own changes.onnx is damaged: install hopgate again")
    return tokenizer, table, onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])


@cache
def _likely_words() -> tuple[float, dict[str, float]]:
    stored = json.loads(_WEIGHTS.joinpath("likely_words.json").read_text("utf-8"))
    return stored["base"], stored["by_words"]
