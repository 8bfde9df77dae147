"""The singular of English nouns by rule: once to be shown, and once to be compared.

Both strip a regular ending. `singular` must give a word that people read in a concept's name, so it knows the words
that the rules get wrong. `comparison_form` only has to be the same for two spellings of one name; its rules are the
ones that canonicalisation was measured with (docs/research/graphs.md), and it is never shown.

simplemma knows more words, but loading its dictionary takes 0.75 s in every process that meets its first plural, which
is as long as extracting from 2,000 memories.
"""

from __future__ import annotations

from functools import lru_cache

from hopgate.extract.rules.words import words

_SAME = words("series species news kubernetes always lens gas bus plus bias atlas canvas alias chaos diabetes")
_IRREGULAR = {
    "children": "child",
    "people": "person",
    "men": "man",
    "women": "woman",
    "mice": "mouse",
    "feet": "foot",
    "teeth": "tooth",
    "indices": "index",
    "matrices": "matrix",
    "vertices": "vertex",
    "leaves": "leaf",
    "wolves": "wolf",
    "knives": "knife",
    "lives": "life",
    "shelves": "shelf",
    "wives": "wife",
    "halves": "half",
    "analyses": "analysis",
    "crises": "crisis",
    "buses": "bus",
    "aliases": "alias",
    "lenses": "lens",
    "gases": "gas",
    "statuses": "status",
    "viruses": "virus",
    "caches": "cache",
    "shoes": "shoe",
    "movies": "movie",
    "cookies": "cookie",
    "ties": "tie",
    "pies": "pie",
    "zombies": "zombie",
}


@lru_cache(maxsize=1 << 16)
def comparison_form(token: str) -> str:
    """Strip a regular English plural from a token of a normalised name; the result is compared, never shown.

    Examples
    --------
    >>> [comparison_form(token) for token in ("gates", "companies", "boxes", "class", "status", "dvds", "us")]
    ['gate', 'company', 'box', 'class', 'status', 'dvd', 'us']
    """
    return token if token == "news" else _stripped(token, ("xes", "ches", "shes", "sses", "zes"))


def _stripped(word: str, with_e: tuple[str, ...]) -> str:
    """Take off a plural's ending: -ies, -es after the endings in `with_e`, else -s; short words keep it."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(with_e) else word[:-1]
