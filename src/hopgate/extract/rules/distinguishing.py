"""Words by which people tell two things of one kind apart: the primary on-call and the secondary, U12s and U14s."""

from __future__ import annotations

import re

from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.words import words

_APART = tuple(
    map(
        words,
        (
            "primary secondary tertiary",
            "first second third fourth erste ersten erster zweite zweiten zweiter dritte dritten dritter",
            "upper lower obere oberen untere unteren",
            "front back rear vordere vorderen hintere hinteren",
            "left right linke linken rechte rechten",
            "north south east west",
            "big small little large große großen kleine kleinen",
            "junior juniors senior seniors",
            "men's women's boys' girls' mens womens boys girls",
            "morning afternoon evening",
            "red blue green black white yellow rote roten blaue blauen grüne grünen schwarze schwarzen weiße weißen",
            "daytime night staging prod production",
        ),
    )
)
_WORD = compiled(r"[^\W_]+(?:['’]s?)?")
EVENTS = words(
    """
    rehearsal practice training standup stand-up sync meeting class lesson session choir club course group review call
    service match market circle probe treffen kurs unterricht stammtisch chor turnen
    """
)
"""What happens again and again, in whatever room: of a key or a bike there may be two."""
_ACTIVITIES = EVENTS | words(
    """
    yoga pilates zumba judo karate ballet spanish french german english italian piano guitar violin cello pottery
    swimming dancing gymnastics lessons band
    """
)
_YEARS = compiled(r"\bu[ -]?(\d{1,2})s?\b")
# "The old router is in the attic now": not the one that is used.
_OLD = r"(?:old|broken|alte[mnrs]?|kaputte[mnrs]?)"
_OF_A_TIME = r" (?:from|of) (?:this|last|next) (?:year|month|week|term|season|summer|winter)\b"
_IS = r" (?:is|are|now|lives?|sits?|hangs?|stands?|goes|went|ist|sind|steht|liegt|hängt)\b"


# "Appointment with the accountant", "Termin beim Notar"
_WITH = compiled(
    r"\b(?P<what>appointment|meeting|call|termin|besprechung) (?:with|beim?|mit) "
    r"(?:the |my |our |dem |der )?(?P<whom>\w+)"
)


def _is_with_another(found: re.Match[str], named: frozenset[str]) -> bool:
    return found["what"] in named and found["whom"] not in named and len(named) > 1


def are_different_ones(thing: str, text: str) -> bool:
    """Whether a text speaks of another thing of the kind, by a word that the thing's own name has another one of.

    Examples
    --------
    >>> are_different_ones("primary on-call", "Greg takes over as secondary on-call")
    True
    >>> are_different_ones("primary on-call", "Greg is primary on-call now, no longer secondary")
    False
    """
    named, said = (frozenset(_WORD.findall(one.lower().replace("’", "'"))) for one in (thing, text))
    ages, other = (set(_YEARS.findall(one.lower())) for one in (thing, text))
    if ages and other and ages.isdisjoint(other):
        return True
    head = re.escape(thing.lower().rpartition(" ")[2])
    is_old = bool(re.match(rf"{_OLD} ", thing.lower()))
    if re.search(rf"\b{_OLD if not is_old else '(?:the|my|our|der|die|das)'} {head}{_IS}", text.lower()):
        return True
    if re.search(
        rf"\b{head} (?:from|of) (?:this|last|next) (?:year|month|week|term|season|summer|winter)\b", text.lower()
    ):
        return True  # "the photos from this year are on the laptop"
    if any(_is_with_another(found, named) for found in _WITH.finditer(text.lower())):
        return True
    return any(mine and mine.isdisjoint(said) and said & some for some in _APART if (mine := named & some))


def is_activity(thing: str) -> bool:
    """Whether a thing is what people do: who teaches it is no place where it may be.

    Examples
    --------
    >>> is_activity("Spanish"), is_activity("der Töpferkurs"), is_activity("spare key")
    (True, True, False)
    """
    head = thing.lower().rpartition(" ")[2]
    return head in _ACTIVITIES or head.endswith(("kurs", "unterricht", "training"))
