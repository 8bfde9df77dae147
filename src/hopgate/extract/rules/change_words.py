"""Which words tell of a change, and which take it back: whether a sentence says that something is not as it was."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from hopgate.extract.rules.clauses import Clause
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.language_tables import LANGUAGES, table
from hopgate.extract.rules.reading import Reading
from hopgate.extract.rules.role_table import ROLE_WORDS
from hopgate.extract.rules.words import words

_TABLE: dict[str, str] = table("changes")
DENIED = words(table("changes")["denied"])
"""Words of doubt that are said of their own part of a sentence alone."""


def alternatives(name: str) -> str:
    """A class of words as alternatives, the longest first."""
    forms = sorted(_TABLE[name].split(), key=len, reverse=True)
    return "|".join(re.escape(form.replace("_", " ")) for form in forms)


_CHANGE, _NO_CHANGE, _NO_CHANGE_NEAR, _NEW, _STATE = (
    words(_TABLE[name]) for name in ("change", "no_change", "no_change_near", "new", "state")
)
_CHANGE_ALONE = _CHANGE - _STATE
_NEW_WHAT = compiled(
    rf"\b(?:{alternatives('new')}) (?:[^\W\d_]+ )?(?:{alternatives('new_what')}|"
    rf"{'|'.join(sorted(sorted(ROLE_WORDS), key=len, reverse=True))})\b"
)
_CHANGING = compiled(
    r"\b(?:these days|any ?more|no longer|from now on|as of|of today|over to|over as|over from|"
    r"found (?:a|its|his|her|their) (?:new )?(?:home|place|spot))\b|->|→"
)
_IS_SOMEWHERE = compiled(r"\b(?:lives? (?:on|at|in|with)|sits? (?:on|at|in))\b")
# Without one of these words there is nothing to look for.
_HINTS = _CHANGE | _NEW | words("days any anymore longer from as over of live lives sit sits found -> →")
# "Thea moved the offsite from Lindgren to Villa Rosa": not she herself.
_MOVES_SOMETHING = compiled(
    r"(?:⟩|\bs?he|\bi|\bwe)(?: has| have| 've)? (?:moved|shifted|switched|transferred|took|sent|brought) "
    r"(?:the|an?|all|some|her|his|their|its) [^\W\d_]+(?: [^\W\d_]+)? (?:from|to|off|onto|over)\b"
)
_STILL_SAID = compiled(r"\b(?:no longer|not any ?more|nicht mehr|ya no|niet meer|non più)\b")
# "moved to room 305 for the open day": it will be back.
_FOR_A_WHILE = compiled(
    r" now and (?:then|again)\b| for (?:a|an|one|two|three|four|five|ten|twenty|half|the|some|this|\d+) (?:\w+ )?"
    r"(?:minutes?|mins?|hours?|days?|weeks?|weekend|nights?|party|wedding|event|exhibition|fair|workshop|conference|holidays?|visit|"
    r"while|christening|baptism|funeral|birthday|reunion|match|festival|concert|course|training|exam|interview|season|"
    r"semester|summer|winter|inspection|shoot|photos?|trip|gig|tour|tournament|audit|migration|maintenance)\b"
)
# Words by which a sentence speaks of the one before it, and those that do so as its first.
_REFERRING = words("it they them there then back until till nothing es dort dann wieder bis nichts daraus")
_REFERRING_FIRST = words("that this just only not das dies da nur nicht")


def may_tell_change(reading: Reading) -> bool:
    """Whether a memory has a word of change at all: most have none."""
    return not _HINTS.isdisjoint(reading.lower)


def has_change(clause: Clause) -> bool:
    """Whether a sentence has a word of change."""
    return _has_change(clause.text)


def changes_what_it_states(clause: Clause) -> bool:
    """Whether a sentence of which facts were read has a word of change that a plain state does not have."""
    return _has_more_than_state(clause.text)


@lru_cache(maxsize=1024)  # asked of a sentence by several that look for different things
def _has_change(text: str) -> bool:
    return _has_more_than_state(text) or not _STATE.isdisjoint(text.split()) or bool(_IS_SOMEWHERE.search(text))


@lru_cache(maxsize=1024)
def _has_more_than_state(text: str) -> bool:
    said = text.split()
    return (
        not _CHANGE_ALONE.isdisjoint(said)
        or bool(_CHANGING.search(text))
        or (not _NEW.isdisjoint(said) and bool(_NEW_WHAT.search(text)))
    )


@lru_cache(maxsize=4096)
def moves_something(text: str) -> bool:
    """Whether somebody moves something else in a sentence, and not themselves."""
    return bool(_MOVES_SOMETHING.search(text))


@cache
def _doubtful_words(code: str) -> frozenset[str]:
    """The words of a language beside which nothing is noted."""
    return _NO_CHANGE | LANGUAGES[code].hypothetical | LANGUAGES[code].negated


def is_doubtful(clause: Clause, but: frozenset[str] = frozenset()) -> bool:
    """Whether a sentence has words of plans, copies, visits or doubt, but for some."""
    if clause.question or clause.is_taken_back() or clause.is_for_a_while():
        return True
    return _is_doubtful(clause.text, clause.reading.code, but)


def doubts_another(clause: Clause) -> bool:
    """Whether a sentence has such words of what another one tells: "It's only for a week", not "never a cross word"."""
    if not is_doubtful(clause):
        return False
    said = clause.text.split()
    refers = not _REFERRING.isdisjoint(said) or said[0] in _REFERRING_FIRST
    return refers or clause.is_taken_back() or clause.is_for_a_while() or bool(_FOR_A_WHILE.search(clause.text))


@lru_cache(maxsize=4096)  # asked as `has_change` is
def _is_doubtful(text: str, code: str, but: frozenset[str]) -> bool:
    said = set(text.split())
    doubt = (said & _doubtful_words(code)) - but
    if doubt and _STILL_SAID.search(text):
        doubt -= {"no", "not", "nicht", "niet", "non", "any"}
    if doubt or _FOR_A_WHILE.search(text):
        return True
    if said.isdisjoint(_NO_CHANGE_NEAR):
        return False
    return any("⟨" in part and not _NO_CHANGE_NEAR.isdisjoint(part.split()) for part in text.split(" , "))
