"""German cases undone: "Milas Schwimmkurs" is Mila's, and "bei Herrn Adam" is at Herr Adam's."""

from __future__ import annotations

from itertools import pairwise

from hopgate.extract.rules.language_tables import GIVEN_NAMES, LANGUAGES, is_compound, zipf
from hopgate.extract.rules.words import words

# A noun of German is this frequent at least, where it is not two others written together: zipf.
_NOUN = 4.0
_SHORTEST = 4
PARENTS = words("mutter vater mutti vati mama papa oma opa")
"""Who is called by what they are to us, without a word of whose: "Mutters Hausarzt"."""
_ADJECTIVES = words("neue neuer neues neuen alte alter altes alten erste erster erstes ersten")


def nominative(tokens: list[str]) -> list[str]:
    """Give the tokens of a German text with owners marked as such, and gentlemen in the first case.

    Examples
    --------
    >>> nominative("Sabines Mann und Milas Kursleiterin waren bei Herrn Adam".split())
    ["Sabine's", 'Mann', 'und', "Mila's", 'Kursleiterin', 'waren', 'bei', 'Herr', 'Adam']
    >>> nominative("Jonas Brandt und Herrn Özdemirs Tochter Elif".split())
    ['Jonas', 'Brandt', 'und', 'Herr', "Özdemir's", 'Tochter', 'Elif']
    >>> nominative("Emils neue Lehrerin".split())
    ["Emil's", 'neue', 'Lehrerin']
    """
    made = list(tokens)
    for at, (token, after) in enumerate(pairwise(tokens)):
        follows = tokens[at + 2] if after in _ADJECTIVES and at + 2 < len(tokens) else after
        if not follows[:1].isupper():
            continue
        if token == "Herrn":
            made[at] = "Herr"
        elif token[-1] == "s" and len(token) >= _SHORTEST and token[0].isupper() and _is_noun(follows.lower()):
            name = token.lower()
            # Of "Frau Peters" nobody knows; "Herrn Özdemirs" is his.
            known = name[:-1] in GIVEN_NAMES or name[:-1] in PARENTS or (at > 0 and tokens[at - 1] == "Herrn")
            if name not in GIVEN_NAMES and known:
                made[at] = f"{token[:-1]}'s"
    return made


def _is_noun(word: str) -> bool:
    known = zipf(word, "de") > _NOUN or is_compound(word)
    return known and word not in GIVEN_NAMES and word not in LANGUAGES["de"].days
