"""The singular of ordinary English nouns, by rule.

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


@lru_cache(maxsize=16384)
def singular(word: str) -> str:
    """Return the singular of a word in lower case, so that memories about *containers* and *a container* meet.

    Examples
    --------
    >>> [singular(word) for word in ("containers", "cities", "boxes", "databases", "status", "glass", "children")]
    ['container', 'city', 'box', 'database', 'status', 'glass', 'child']
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is", "ics")) or word in _SAME:
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        return word[:-2]
    return word[:-1]
