"""Sentences of two notes that may speak of one thing, where a note has several: what else it says hides a change."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from hopgate.extract.extraction import Source
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.words import STOP_WORDS, TITLES, words
from hopgate.memory import Cleared

_END = compiled(r"(?<=[.!?])\s+(?=[^\W\d_]|[\"“„'’(])")
_LAST_WORD = compiled(r"([^\W\d_]+|\d{1,2})\.$")
_ABBREVIATED = TITLES | words("st nr ca bzw usw no vs prof str tel etc jr sr")
_WORD = compiled(r"[^\W_]{3,}")
_SPEAKER = compiled(r"[^\W\d_][^:.!?]{0,40}: ")
# Of more sentences a note is no short one, and of more parts one of its sentences.
_MOST, _MOST_STATED = 4, 6
_APART = compiled(r", (?:and |und )?|; |\n")
# Whom or what, in a few words, and what is said of it.
_STATES = compiled(
    r"[-*•] [^:,]{3,40}: \S|"
    r"(?:[-*•] )?(?:[^\W\d_][\w'’.-]*\s){1,4}?(?:is|are|runs?|lives?|has|have|goes|go|uses?|stands?|hangs?|keeps?|"
    r"works?|plays?|leads?|owns?|does|do|trains?|teaches|handles|ist|sind|läuft|laufen|liegt|steht|hängt|hat|haben|wohnt|"
    r"arbeitet|spielt|macht|führt|geht|leitet)\s\S"
)


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
        if last and (last[1].lower() in _ABBREVIATED or len(last[1]) == 1 or _is_ordinal(found[-1], last)):
            found[-1] += f" {part}"
        else:
            found.append(part)
    if len(found) > _MOST:
        return [text]
    speaker = _SPEAKER.match(text)
    return [one if at == 0 or not speaker else speaker[0] + one for at, one in enumerate(found)]


def _is_ordinal(text: str, last: re.Match[str]) -> bool:
    """Whether a sentence goes on after a number: "am 1. Mai", and not "at 15:30."."""
    return last[1].isdigit() and text[: last.start()][-1:] != ":"


def statements_in(text: str) -> list[str]:
    r"""The parts of a note that states several things side by side, each with a verb of its own; none of any other.

    Examples
    --------
    >>> statements_in("Cheat sheet: kestrel runs on fra-02, heron is on Postgres 13, bring cake.")
    ['kestrel runs on fra-02', 'heron is on Postgres 13']
    >>> statements_in("Bills:\n- broadband: Eir\n- bank: AIB"), statements_in("Dad lives in Napanee, in a bungalow.")
    (['- broadband: Eir', '- bank: AIB'], [])
    """
    found = []
    for sentence in _END.split(text):
        heading = _SPEAKER.match(sentence)
        listed = sentence[heading.end() :] if heading else sentence
        some = [part.removeprefix("and ").removeprefix("und ").strip(" .!") for part in _APART.split(listed)]
        told = [part for part in some if _STATES.match(part)]
        found += told if len(told) > 1 else []
    return found if len(found) <= _MOST_STATED else []


def sentence_pairs(earlier: Source, later: Source) -> Iterator[tuple[Source, Source]]:
    """Yield sentences of an earlier note with a later one, whole and by its sentences, where they share a word."""
    before, now = sentences_of(earlier.text), sentences_of(later.text)
    for one, other in product((*before, *statements_in(earlier.text)), dict.fromkeys((later.text, *now))):
        if (one, other) != (earlier.text, later.text) and not _words(one).isdisjoint(_words(other)):
            yield replace(earlier, text=Cleared(one)), replace(later, text=Cleared(other))


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower())) - STOP_WORDS - TITLES
