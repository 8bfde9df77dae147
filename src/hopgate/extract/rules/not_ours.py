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
