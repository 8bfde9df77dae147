"""From what a model says of tokens to spans of whole words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.extract.rules.kept_patterns import compiled

# A word is what stands between spaces and marks; "E.ON", "nas-2", "Mo's", "19:00" and "€1,020" are one.
_WORD = compiled(r"""(?:[^\s,;:()"“”„!?…=→>]|(?<=\d)[,:](?=\d))+""")
_AT_END = ".'’/-"
_ARTICLES = compiled(
    r"(?:the|my|our|a|an|der|die|das|den|dem|ein|eine|mein|meine|unser|unsere|le|la|les|el|il|het|de|her|his) (?=.)",
    re.IGNORECASE,
)


class TaggedSpan(NamedTuple):
    """Words of a text with one label, where they begin, and the least confidence of theirs."""

    label: str
    text: str
    start: int
    confidence: float


def spans_of(
    text: str, offsets: Sequence[tuple[int, int]], labels: NDArray[np.float32], names: Sequence[str]
) -> list[TaggedSpan]:
    """Join words that follow each other and have the same label; an article before a name is none of it.

    A word's label is that of its tokens together, each weighed by its letters: a token alone may miss.

    Parameters
    ----------
    offsets : sequence of (int, int)
        Where each token stands in the text.
    labels : array, a row a token
        How likely each label is.
    names : sequence of str
        What the labels are called; the first is none.

    Examples
    --------
    >>> labels = np.eye(2, dtype=np.float32)[[0, 1, 1, 0]]
    >>> spans_of("on old nas-2 now", [(0, 2), (3, 6), (7, 12), (13, 16)], labels, ("", "value"))
    [TaggedSpan(label='value', text='old nas-2', start=3, confidence=1.0)]
    """
    found: list[TaggedSpan] = []
    last = ""
    for start, end in _words(text):
        weights = np.array([max(0, min(end, right) - max(start, left)) for left, right in offsets], dtype=np.float32)
        if not weights.any():
            continue  # no token stands for it, or it is beyond what was read
        shares = weights @ labels / weights.sum()
        label, sure = names[int(shares.argmax())], round(float(shares.max()), 4)
        if label and label == last and not text[found[-1].start + len(found[-1].text) : start].strip(" ."):
            begun = found.pop()
            found.append(TaggedSpan(label, text[begun.start : end], begun.start, min(sure, begun.confidence)))
        elif label:
            found.append(TaggedSpan(label, text[start:end], start, sure))
        last = label
    return [_bare(span) for span in found]


def _bare(span: TaggedSpan) -> TaggedSpan:
    bare = _ARTICLES.sub("", span.text, count=1) if _ARTICLES.match(span.text) else span.text
    return span._replace(text=bare, start=span.start + len(span.text) - len(bare))


def _words(text: str) -> Iterator[tuple[int, int]]:
    for match in _WORD.finditer(text):
        end = match.end() - (len(match[0]) - len(match[0].rstrip(_AT_END)))
        if end > match.start():
            yield match.start(), end
