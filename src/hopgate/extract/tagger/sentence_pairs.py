"""Sentences of two notes that may speak of one thing, where a note has several: what else it says hides a change."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from hopgate.extract.extraction import Source
from hopgate.extract.rules.words import STOP_WORDS, TITLES, words
from hopgate.memory import Cleared

_END = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_]|[\"“„'’(])")
_LAST_WORD = re.compile(r"([^\W\d_]+|\d{1,2})\.$")
_ABBREVIATED = TITLES | words("st nr ca bzw usw no vs prof str tel etc jr sr")
_WORD = re.compile(r"[^\W_]{3,}")
_SPEAKER = re.compile(r"[^\W\d_][^:.!?]{0,40}: ")
# Of more sentences a note is no short one.
_MOST = 4


def sentences_of(text: str) -> list[str]:
    """Split a short note, a longer one not at all; each of a speaker's sentences is the speaker's.

    Examples
    --------
    >>> sentences_of("Mrs. Abernathy is retiring. Maya has a new teacher, Mr. Okafor.")
    ['Mrs. Abernathy is retiring.', 'Maya has a new teacher, Mr. Okafor.']
    >>> sentences_of("Ann: We left Sky. Good riddance.")
    ['Ann: We left Sky.', 'Ann: Good riddance.']
    """
    found: list[str] = []
    for part in _END.split(text):
        last = _LAST_WORD.search(found[-1]) if found else None
        if last and (last[1].lower() in _ABBREVIATED or len(last[1]) == 1 or last[1].isdigit()):
            found[-1] += f" {part}"
        else:
            found.append(part)
    if len(found) > _MOST:
        return [text]
    speaker = _SPEAKER.match(text)
    return [one if at == 0 or not speaker else speaker[0] + one for at, one in enumerate(found)]


def sentence_pairs(earlier: Source, later: Source) -> Iterator[tuple[Source, Source]]:
    """Yield sentences of an earlier note with a later one, whole and by its sentences, where they share a word."""
    before, now = sentences_of(earlier.text), sentences_of(later.text)
    for one, other in product(before, dict.fromkeys((later.text, *now))):
        if (one, other) != (earlier.text, later.text) and not _words(one).isdisjoint(_words(other)):
            yield replace(earlier, text=Cleared(one)), replace(later, text=Cleared(other))


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower())) - STOP_WORDS - TITLES
