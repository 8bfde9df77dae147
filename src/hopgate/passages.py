"""Long texts as passages: an embedder or a cross-encoder reads a few hundred words, and drops the rest in silence."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from hopgate.memory import Cleared

# Bytes of UTF-8, which SQL can count without reading the text, and which follow tokens better across scripts than
# characters do: 1,800 are some 300 English words (380 to 500 tokens of the bundled model, which reads 512) or 600
# Chinese characters. Longer are 1 of the 1,890 memories of musique, 26 of the 851 of 2wiki and none of locomo.
LONG_BYTES = 1800
# A few sentences, some 165 words: 258 tokens at most on 2wiki. Lines of hexadecimal digits alone have more than 512.
PASSAGE_BYTES = 1000
OVERLAP_BYTES = 150
# A first line of this many characters at most is a heading: it goes before every passage that is read.
HEADING_CHARACTERS = 100

_PIECE = re.compile(r"[^\n]*?(?:[.!?…][\"')\]]*\s+|[。！？]\s*|\n\s*|$)", re.DOTALL)
_WORD = re.compile(r"\S{1,250}\s*|\s+")


class Extent(NamedTuple):
    """A passage by its place in the text: characters from `start` up to, and without, `end`."""

    start: int
    end: int


def is_long(text: str) -> bool:
    """Tell whether a text is read in passages."""
    return len(text) > LONG_BYTES // 4 and _bytes(text) > LONG_BYTES


def passages(text: str) -> list[Extent]:
    """Cut a long text into passages at the ends of sentences, each beginning with the last short ones before it.

    None for a text that is read whole; at least one for every other.
    """
    if not is_long(text):
        return []
    found: list[Extent] = []
    held: list[tuple[Extent, int]] = []
    total = 0
    for piece in _pieces(text):
        if held and total + piece[1] > PASSAGE_BYTES:
            found.append(Extent(held[0][0].start, held[-1][0].end))
            held = _overlap(held, PASSAGE_BYTES - piece[1])
            total = sum(size for _, size in held)
        held.append(piece)
        total += piece[1]
    found.append(Extent(held[0][0].start, held[-1][0].end))
    return [span for span in (_stripped(text, span) for span in found) if span.end > span.start] or [
        Extent(0, len(text))
    ]


def passage_text(text: Cleared, span: Extent) -> Cleared:
    """Give what a model reads of a passage: the text's heading, where it has one, and the passage."""
    part = text[span.start : span.end]
    heading = text[: HEADING_CHARACTERS + 1].partition("\n")
    if not heading[1] or not heading[0].strip() or span.start < len(heading[0]):
        return Cleared(part)
    return Cleared(f"{heading[0].strip()}\n{part}")


def _pieces(text: str) -> Iterator[tuple[Extent, int]]:
    """Sentences with their bytes, none larger than a passage; together they are the whole text."""
    for match in _PIECE.finditer(text):
        if match.end() == match.start():
            continue
        size = _bytes(match.group())
        if size <= PASSAGE_BYTES:
            yield Extent(*match.span()), size
            continue
        for word in _WORD.finditer(text, *match.span()):
            yield Extent(*word.span()), _bytes(word.group())


def _overlap(held: list[tuple[Extent, int]], room: int) -> list[tuple[Extent, int]]:
    """The last pieces of a passage that the next one begins with."""
    kept, size = len(held), 0
    while kept > 0 and size + held[kept - 1][1] <= min(OVERLAP_BYTES, room):
        kept -= 1
        size += held[kept][1]
    return held[kept:]


def _stripped(text: str, span: Extent) -> Extent:
    part = text[span.start : span.end]
    start = span.start + len(part) - len(part.lstrip())
    return Extent(start, start + len(part.strip()))


def _bytes(text: str) -> int:
    # What is no character, as a cut pair of surrogates, has a size as well.
    return len(text.encode("utf-8", "surrogatepass"))
