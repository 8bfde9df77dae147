"""Which names are two things although they share most words: numbers, "new", and what belongs to something else."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hopgate.extract.rules.clauses import STATES
from hopgate.extract.rules.parts_of_things import is_genitive, is_genitive_of, is_itself, part_in
from hopgate.extract.rules.plural import comparison_form
from hopgate.extract.rules.words import words
from hopgate.graph.canonicalise.units import IntArray, Units
from hopgate.graph.names.normal import clash, markers, normalise, numbers, tokens

_WORDS = re.compile(r"\w+")
_JOINED = re.compile(r"\w+(?:[-\u2010\u2011]\w+)+")
_HYPHEN = re.compile("[-\u2010\u2011]")
_DIGIT = re.compile(r"\d")
_OWNED = re.compile(r"(.+?)['’]s .+")
# Common nouns, in lower case and in one to three words: "ladder", "small ladder", "hoover bags".
_COMMON = re.compile(r"[^\W\d_]+(?: [^\W\d_]+){0,2}")
# Where or when a thing is, and what it costs: of these it has one.
_ONE_AT_A_TIME = frozenset(("located in", "takes place", "costs", "due"))


# "Christmas boxes", "Figma seat"
_HEADED = re.compile(r"(?:\w+ )*[A-Z]\w+ (?P<noun>[a-zà-ÿ]+)")
_FEASTS = re.compile(r"(?:The )?(?:Christmas|Xmas|Easter|Halloween|Thanksgiving|New Year)\b", re.I)
_KINDS = words(
    """
    river lake mountain island city town village county state province country region area district street road valley
    bay sea ocean desert forest company corporation firm bank brand band film movie album song book novel series show
    university college school hospital church airport station bridge castle palace museum park stadium hotel restaurant
    language empire dynasty party army war battle treaty tribe family hall tower temple cathedral harbour port canal
    """
)


def clashing(units: Units, i: IntArray, j: IntArray) -> NDArray[np.bool_]:
    """Which pairs differ by a number or by a word like "new", or are something and what belongs to it."""
    names = units.names
    held = [tokens(name) for name in names]
    parts = [part_in(one, spelling) for one, spelling in zip(held, units.spellings, strict=True)]
    owners = [_owner(spelling) for spelling in units.spellings]
    marked = np.array(
        [
            # What is quick to see first, for most names have nothing of it: this is asked of every name of a store.
            bool(part or owner or markers(one) or (_DIGIT.search(name) and numbers(one)))
            or ("s " in name and is_genitive(name))
            for name, one, part, owner in zip(names, held, parts, owners, strict=True)
        ]
    )
    found = np.zeros(len(i), dtype=bool)
    for row in np.flatnonzero(marked[i] | marked[j]).tolist():
        one, other = int(i[row]), int(j[row])
        found[row] = bool(
            clash(held[one], held[other])
            or (parts[one] and parts[one] not in held[other])
            or (parts[other] and parts[other] not in held[one])
            or is_genitive_of(names[one], names[other])
            or is_genitive_of(names[other], names[one])
            or is_others(owners[one], held[one], owners[other], held[other])
        )
    found |= _are_ends(units, held, i, j)
    heads = [_head(spelling, context) for spelling, context in zip(units.spellings, units.contexts, strict=True)]
    headed = np.array([bool(head) for head in heads], dtype=bool)
    for row in np.flatnonzero((headed[i] | headed[j]) & ~found).tolist():
        one, other = int(i[row]), int(j[row])
        found[row] = _lacks(heads[one], held[other], held[one]) or _lacks(heads[other], held[one], held[other])
    common = np.array(
        [
            bool(context)
            and spelling.islower()
            and not _ONE_AT_A_TIME.isdisjoint(relation for relation, _ in context)
            and bool(_COMMON.fullmatch(spelling))
            for spelling, context in zip(units.spellings, units.contexts, strict=True)
        ],
        dtype=bool,
    )
    for row in np.flatnonzero(common[i] & common[j] & ~found).tolist():
        one, other = int(i[row]), int(j[row])
        found[row] = _is_longer(held[one], held[other]) and _are_apart(units.contexts[one], units.contexts[other])
    return found


def _are_ends(units: Units, held: Sequence[tuple[str, ...]], i: IntArray, j: IntArray) -> NDArray[np.bool_]:
    """Which pairs are the two ends of one fact: a bike in the bike cellar is not the cellar."""
    at = {name: unit for unit, name in enumerate(units.names)}
    apart = [
        (unit, other)
        for unit, context in enumerate(units.contexts)
        for relation, name in context
        if relation in STATES and (other := at.get(name)) is not None and not set(held[unit]).isdisjoint(held[other])
    ]
    if not apart:
        return np.zeros(len(i), dtype=bool)
    pairs = np.array(apart, dtype=np.int64)
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    return np.isin(np.minimum(i, j).astype(np.int64) * len(units) + np.maximum(i, j), low * len(units) + high)


def _head(spelling: str, context: Mapping[tuple[str, str], int]) -> str:
    """The noun after a name that says what a thing of somebody's is, as a token: of "Christmas boxes" the boxes.

    Of things alone that are said to be somewhere or to cost something: "Nile river" is the Nile.
    """
    found = _HEADED.fullmatch(spelling) if context else None
    if not found or _ONE_AT_A_TIME.isdisjoint(relation for relation, _ in context):
        return ""
    noun = comparison_form(found["noun"])
    return "" if (is_itself(noun) and not _FEASTS.match(spelling)) or noun in _KINDS else noun


def _lacks(head: str, other: tuple[str, ...], held: tuple[str, ...]) -> bool:
    """Whether another name is the one with this head without it: "Christmas" of "Christmas boxes"."""
    return bool(head) and head not in other and set(other) < set(held)


def _is_longer(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether of two names, by their tokens, one is the other with a word more: "small ladder" and "ladder"."""
    return set(first) < set(second) or set(second) < set(first)


def _are_apart(first: Mapping[tuple[str, str], int], second: Mapping[tuple[str, str], int]) -> bool:
    """Whether two common nouns are said to be in two places, or at two times, by facts of one relation.

    The small ladder in the basement need not be the ladder in the garage. Where they are in one place they may be one.

    Examples
    --------
    >>> garage, basement = {("located in", "garage"): 1}, {("located in", "basement"): 1}
    >>> _are_apart(garage, basement), _are_apart(garage, garage), _are_apart(garage, {("costs", "80 euros"): 1})
    (True, False, False)
    """
    shared = _ONE_AT_A_TIME.intersection(relation for relation, _ in first)
    shared &= {relation for relation, _ in second}
    return bool(shared) and not any(pair[0] in shared for pair in first.keys() & second.keys())


def torn(units: Units, i: IntArray, j: IntArray) -> NDArray[np.bool_]:
    """Which pairs share some but not all of the words that a hyphen joins in one of them."""
    joined = {
        unit: [set(_WORDS.findall(one.casefold())) for one in compounds]
        for unit, name in enumerate(units.spellings)
        if _HYPHEN.search(name) and (compounds := _JOINED.findall(name))
    }
    hyphened = np.zeros(len(units), dtype=bool)
    hyphened[list(joined)] = True
    found = np.zeros(len(i), dtype=bool)
    for row in np.flatnonzero(hyphened[i] | hyphened[j]).tolist():
        one, other = int(i[row]), int(j[row])
        found[row] = _tears(joined.get(one, ()), units.spellings[other]) or _tears(
            joined.get(other, ()), units.spellings[one]
        )
    return found


def _tears(compounds: Sequence[set[str]], name: str) -> bool:
    """Whether a name has some but not all words of one of these compounds."""
    words = set(_WORDS.findall(name.casefold())) if compounds else set()
    return any(parts & words and not parts <= words for parts in compounds)


def is_others(
    owner: frozenset[str], held: tuple[str, ...], other_owner: frozenset[str], other: tuple[str, ...]
) -> bool:
    """Whether of two names, by their tokens, one is the other's owner, or they have owners who share no token.

    Examples
    --------
    >>> nobody, noah, mia = frozenset(), frozenset(("noah",)), frozenset(("mia",))
    >>> is_others(noah, ("noah", "training"), nobody, ("noah",))
    True
    >>> is_others(noah, ("noah", "bike"), mia, ("mia", "bike"))
    True
    >>> is_others(noah, ("noah", "training"), nobody, ("training",))
    False
    """
    if owner and other_owner:
        return owner.isdisjoint(other_owner)
    return bool((owner and owner.issuperset(other)) or (other_owner and other_owner.issuperset(held)))


def _owner(spelling: str) -> frozenset[str]:
    """Whose something is, as tokens: of "Noah's training" Noah's."""
    found = _OWNED.fullmatch(spelling) if "'" in spelling or "’" in spelling else None
    return frozenset(tokens(normalise(found[1]))) if found else frozenset()
