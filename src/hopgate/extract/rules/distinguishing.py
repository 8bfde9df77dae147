"""Words by which people tell two things of one kind apart: the primary on-call and the secondary, U12s and U14s."""

from __future__ import annotations

import re

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
_WORD = re.compile(r"[^\W_]+(?:['’]s?)?")
_YEARS = re.compile(r"u ?-?(\d{1,2})s?")


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
    ages, other = ({found[1] for word in some if (found := _YEARS.fullmatch(word))} for some in (named, said))
    if ages and other and ages.isdisjoint(other):
        return True
    return any(mine and mine.isdisjoint(said) and said & some for some in _APART if (mine := named & some))
