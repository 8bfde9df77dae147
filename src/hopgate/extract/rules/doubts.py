"""Words beside which a sentence tells of no change: of plans, copies, visits and doubt, of what is so for a while."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from hopgate.extract.rules.clauses import Clause, is_taken_back
from hopgate.extract.rules.language_tables import LANGUAGES, table
from hopgate.extract.rules.words import words

DENIED = words(table("changes")["denied"])
"""Words of doubt that are said of their own part of a sentence alone."""
_NO_CHANGE, _NO_CHANGE_NEAR = (words(table("changes")[name]) for name in ("no_change", "no_change_near"))
_STILL_SAID = re.compile(r"\b(?:no longer|not any ?more|nicht mehr|ya no|niet meer|non più)\b")


@cache
def _doubtful_words(code: str) -> frozenset[str]:
    """The words of a language beside which nothing is noted."""
    return _NO_CHANGE | LANGUAGES[code].hypothetical | LANGUAGES[code].negated


# "moved to room 305 for the open day": it will be back.
_FOR_A_WHILE = re.compile(
    r" for (?:a|an|one|two|three|the|some|this|\d+) (?:\w+ )?"
    r"(?:hours?|days?|weeks?|months?|weekend|nights?|party|wedding|event|exhibition|fair|workshop|conference|holidays?|visit|"
    r"concert|gig|tour|match|inspection|repairs?|service|check|check-up|exam|exams|funeral|shoot|race|festival|summer|winter)\b"
)


# Words of doubt that are part of what something is called, or of how it is.
_NO_DOUBT = re.compile(
    r"\b(?:next door|in case you forgot|for planning|(?:booked|planned|scheduled)(?= for (?:the )?⟦)|"
    r"meets?(?= (?:at|in|on|every) )|(?:now|always) stays?|second floor|back (?:garden|door|room|yard)|"
    r"(?:spare|shared) (?:keys?|rooms?|bedroom|tyres?|wheel|folder|drive|calendar|flat|house|office|account|mailbox|"
    r"inbox|list|document|doc|board)|"
    r"(?:^|the |our |my |nightly |weekly |daily |offsite )backups?(?= (?:go|goes|now|are|is|:) ))"
    r"(?= |$)"
)
_TOO = re.compile(r" as well(?= |$)")


def is_doubtful(clause: Clause, but: frozenset[str] = frozenset()) -> bool:
    """Whether a sentence has words of plans, copies, visits or doubt, but for some."""
    if clause.question:
        return True
    doubt, passing = _doubts(clause.text, clause.reading.code)
    return passing or bool(doubt - but)


@lru_cache(maxsize=1024)  # as `_has_change`
def _doubts(text: str, code: str) -> tuple[frozenset[str], bool]:
    """The words of doubt of a sentence, and whether anything else in it says that nothing has changed for good."""
    said = frozenset(text.split())
    doubt = said & _doubtful_words(code)
    if doubt:
        doubt &= set(_NO_DOUBT.sub(" ", text).split())
    if doubt and _STILL_SAID.search(text):
        doubt -= _NEGATIONS
    if is_taken_back(text) or _TOO.search(text) or _FOR_A_WHILE.search(text):
        return doubt, True
    if said.isdisjoint(_NO_CHANGE_NEAR):
        return doubt, False
    near = any("⟨" in part and not _NO_CHANGE_NEAR.isdisjoint(part.split()) for part in text.split(" , "))
    return doubt, near and not _NO_DOUBT.search(text)


_NEGATIONS = frozenset(("no", "not", "nicht", "niet", "non", "any"))
