"""What looks like the end of something and is none: for this week, elsewhere, of somebody else's, of a part of it."""

from __future__ import annotations

from collections.abc import Sequence

from hopgate.extract.rules.capitals import is_person
from hopgate.extract.rules.clauses import clauses
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.not_ours import is_no_time_of_ours, is_not_here
from hopgate.extract.rules.places import is_place
from hopgate.extract.rules.reading import Reading
from hopgate.extract.rules.stated_parts import AMOUNT, DAYS, WHEN
from hopgate.extract.rules.timetable import TIME_ON_SOME_DAYS
from hopgate.extract.rules.towns import is_town
from hopgate.extract.rules.untold import FOR_ONCE
from hopgate.extract.rules.words import words
from hopgate.extract.tagger.tagged_spans import TaggedSpan
from hopgate.extract.tagger.tagged_values import is_called_alike, is_of_another

_THIS_WEEK = compiled(
    r"(?<!from )(?<!since )(?<!of )(?<!starting )(?<!beginning )\b(?:this (?:week|weekend|time)|"
    r"diese woche|diesmal|ausnahmsweise|heute (?:abend )?(?:nicht mehr|nimmer))\b|"
    r"\b(?:ran|led|took|hosted|covered) [^.;]{0,30} today\b|"
    r"\b(?:is|was|are) (?:away|ill|sick|poorly|on (?:holiday|leave|vacation|call)) (?:, )?(?:and |so )|"
    r"\b(?:ist|war|liegt|lag) (?:gerade )?(?:krank|im urlaub|verreist|in (?:der )?reha|mit \w+ im bett)\b|"
    r"\b(?:stood in|stands in|standing in|filled in|filling in|fills in|covered|vertritt|vertreten|springt ein)\b"
)
_FOR_GOOD = compiled(
    r"\b(?:moved|switched|changed|swapped|started|joined|left|quit|took over|taken over|replaced|bought|sold|handed|"
    r"new|umgezogen|gezogen|gewechselt|übernommen|ersetzt|gekauft|verkauft|angefangen|neue[nrs]?)\b"
)
_AND_BACK = compiled(r"\band back\b")
_NAME_WORD = compiled(r"[^\W_]+")
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
    return relation in (WHEN, AMOUNT) and is_no_time_of_ours(" ".join(reading.lower))


_HAS_MOVED = compiled(r"\b(?:moved|moves|switched|changed|shifted|rescheduled|verlegt|verschoben)\b")


def is_on_some_days(relation: str, before: Reading, later: str) -> bool:
    """Whether a note tells another hour of some days only, the earlier one of all: "at 9:45 on Fridays now"."""
    said = later.lower()
    if relation != WHEN or not DAYS.isdisjoint(before.lower) or _HAS_MOVED.search(said):
        return False
    return bool(TIME_ON_SOME_DAYS.search(said))


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
