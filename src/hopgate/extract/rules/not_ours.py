"""What is told of somebody else's thing: Pavel's gitea, his gitea, gitea at work, bin day at my parents'."""

from __future__ import annotations

from functools import lru_cache

from hopgate.extract.rules.kept_patterns import compiled

_KIN = (
    r"parents?|grandparents|sister|brother|mother|father|mum|mom|dad|aunt|uncle|cousin|son|daughter|in-laws|friends?|"
    r"neighbou?rs?|colleagues?|eltern|schwester|bruder|mutter|vater|freund|freundin|nachbarn?|kollegen?|kollegin|sœur|"
    r"frère|mère|père|amis?|amie|hermana|hermano|madre|padre|padres|amig[oa]s?|zus|broer|moeder|vader|ouders|vrienden"
)
_MY = r"(?:my|our|his|her|their|the|meinen?|meiner|unseren?|mes|ma|mon|mis?|mijn|onze)"
_THEIRS = compiled(r"(?:⟨\d+⟩ 's|\b(?:his|her|their)) (?:(?:new|old|own) )?$")
_NOT_HERE = compiled(
    r"^(?:⟨\d+⟩ : )?(?:(?:over )?at (?:work|school|uni|the office|⟨\d+⟩ 's|"
    rf"(?:{_MY} )?(?:{_KIN})(?: 's?)?(?: place| house)?)|bei der arbeit|auf (?:der )?arbeit|"
    rf"(?:bei|chez|bij) (?:{_MY} (?:{_KIN})|⟨\d+⟩)|au bureau|au travail|en el trabajo|op (?:het )?werk) "
)
_OF_OTHERS = compiled(rf"\b(?:at|of|for|with|from|von|bei|für|de|chez|pour|para|van|bij|voor) (?:{_MY} )?(?:{_KIN})\b")
# "Swimming goes from 4 pm to 5 pm", "rents range from 900 to 1200 euros", "our neighbour's yoga"
_NO_TIME_OF_OURS = compiled(
    r"\b(?:goes|runs|lasts|ranges?|open|closed|geht|dauert|reicht) (?:from|von|vom|between|zwischen)\b|"
    r"\b(?:neighbou?rs?|colleagues?|friends?|nachbarn?|kollegen?|kollegin) '?s "
)


def is_theirs(before: str) -> bool:
    """Whether what stands before a name says that it is somebody's.

    Examples
    --------
    >>> is_theirs("⟨0⟩ 's "), is_theirs("⟨0⟩ moved his "), is_theirs("we moved our ")
    (True, True, False)
    """
    return bool(_THEIRS.search(before))


@lru_cache(maxsize=4096)  # asked of a sentence by several that look for different things
def is_not_here(text: str) -> bool:
    """Whether a sentence begins with where else it is so.

    Examples
    --------
    >>> is_not_here("at work ⟨0⟩ is on ⟨1⟩ now"), is_not_here("⟨0⟩ is on ⟨1⟩ now")
    (True, False)
    """
    return bool(_NOT_HERE.match(text))


@lru_cache(maxsize=4096)
def is_of_others(text: str) -> bool:
    """Whether something is said to be our kin's, our friends' or for them.

    Examples
    --------
    >>> is_of_others("bin day at my parents ' is thursday now"), is_of_others("bin day is thursday now")
    (True, False)
    """
    return bool(_OF_OTHERS.search(text))


@lru_cache(maxsize=4096)
def is_no_time_of_ours(text: str) -> bool:
    """Whether a sentence gives both ends of a time or a price, or those of what our neighbours have.

    Examples
    --------
    >>> is_no_time_of_ours("swimming goes from 4 pm to 5 pm"), is_no_time_of_ours("swimming moved from 4 pm to 5 pm")
    (True, False)
    """
    return bool(_NO_TIME_OF_OURS.search(text))
