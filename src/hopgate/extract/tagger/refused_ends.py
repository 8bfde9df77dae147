"""What looks like the end of something and is none: for this week, elsewhere, of somebody else's, of a part of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hopgate.extract.rules.capitals import is_person
from hopgate.extract.rules.clauses import clauses
from hopgate.extract.rules.not_ours import is_not_here
from hopgate.extract.rules.places import is_place
from hopgate.extract.rules.reading import Reading
from hopgate.extract.rules.stated_parts import AMOUNT, WHEN
from hopgate.extract.rules.towns import is_town
from hopgate.extract.rules.untold import FOR_ONCE
from hopgate.extract.rules.words import words
from hopgate.extract.tagger.tagged_spans import TaggedSpan
from hopgate.extract.tagger.tagged_values import is_called_alike, is_of_another

_THIS_WEEK = re.compile(
    r"(?<!from )(?<!since )(?<!of )(?<!starting )(?<!beginning )\b(?:this (?:week|weekend|time)|"
    r"diese woche|diesmal|ausnahmsweise)\b|"
    r"\b(?:is|was|are) (?:away|ill|sick|poorly|on (?:holiday|leave|vacation|call)) (?:, )?(?:and |so )|"
    r"\b(?:ist|war|liegt|lag) (?:gerade )?(?:krank|im urlaub|verreist|in (?:der )?reha|mit \w+ im bett)\b|"
    r"\b(?:stood in|stands in|standing in|filled in|filling in|fills in|covered|vertritt|vertreten|springt ein)\b"
)
_FOR_GOOD = re.compile(
    r"\b(?:moved|switched|changed|swapped|started|joined|left|quit|took over|taken over|replaced|bought|sold|handed|"
    r"new|umgezogen|gezogen|gewechselt|übernommen|ersetzt|gekauft|verkauft|angefangen|neue[nrs]?)\b"
)
_AND_BACK = re.compile(r"\band back\b")
# "Swimming goes from 4 to 5", "closed from Saturday to Monday", "rents range from 900 to 1200"
_RANGE = re.compile(
    r"\b(?:goes|go|runs|lasts|is|are|ranges?|open|closed|geht|dauert|reicht|gehen|offen|geschlossen|zu) "
    r"(?:[^\W\d_]+ )?(?:from|von|vom|between|zwischen)\b"
)
_CHANGED = re.compile(
    r"\b(?:moved|moves|changed|switched|up|down|verlegt|gewechselt|geändert|instead|statt|now|jetzt)\b"
)
_COPIED = re.compile(r"\b(?:copied|copies|copy|rsynced|mirrored|kopien?|kopiert|synced)\b")
_NAME_WORD = re.compile(r"[^\W_]+")
_TEACHERS = words("teacher tutor trainer coach instructor lehrer lehrerin")


def is_elsewhere(before: Reading, now: Reading) -> bool:
    """Whether a note begins with where else it is so, and the earlier one does not: "at work Jellyfin is on badger"."""
    then, later = (any(is_not_here(clause.text) for clause in clauses(one)) for one in (before, now))
    return later and not then


def is_this_week(reading: Reading) -> bool:
    """Whether a note tells how it is for once: "the pitch is flooded, they trained on the astro this week"."""
    said = " ".join(reading.lower)
    return bool(FOR_ONCE.search(said) or _AND_BACK.search(said)) or (
        bool(_THIS_WEEK.search(said)) and not _FOR_GOOD.search(said)
    )


def is_range(relation: str, reading: Reading) -> bool:
    """Whether two times or amounts are the ends of one: "swimming goes from 4 pm to 5 pm"."""
    said = " ".join(reading.lower)
    return relation in (WHEN, AMOUNT) and bool(_RANGE.search(said)) and not _CHANGED.search(said)


def is_copied(now: Reading, before: Reading) -> bool:
    """Whether a note tells of a copy, which leaves the thing where it was, and the earlier one does not."""
    told, then = (any(map(_COPIED.fullmatch, reading.lower)) for reading in (now, before))
    return told and not then


def is_of_others_thing(thing: TaggedSpan, earlier: str, later: str, over: Sequence[str]) -> bool:
    """Whether what changed is a part of a thing, or somebody else's, and not called so in the earlier note, too.

    Of a piano that Mrs Lathom taught, the "piano teacher" is no part.
    """
    if thing.text in earlier and "-" in thing.text:
        return False
    if is_called_alike(thing, earlier, later):
        return False
    after = _NAME_WORD.match(later, thing.start + len(thing.text) + 1)
    return is_of_another(thing, later) and not (over and after and after[0].lower() in _TEACHERS)


def may_be_in_town(former: str, thing: str) -> bool:
    """Whether what has a value may have a town instead of it: somebody, or what was in a town, a house, a room."""
    return is_town(former) or former.islower() or is_place(former) or is_person(thing)
