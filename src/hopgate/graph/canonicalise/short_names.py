"""Short names: how well one abbreviates a longer name, and which of several longer names it belongs to.

"Monroe" may be short for Marilyn or for James. Each expansion's share is its part of all mentions of expansions; names
that expand one another (Barack Obama, Barack Hussein Obama) are allies and count together. A short name goes with its
strongest expansion and that one's allies; for the others it is evidence of nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.names.normal import normalise, tokens

# All four were chosen by eye on the names of two extracted graphs; the labelled sets move by less than 0.01.
# A long name may have this many times the tokens of its short form before the score falls (Alfred Russel Wallace).
COVERING = 2.5
# The factor where the short name is in lower case and the long one is not (research center, Pew Research Center);
COMMON_NOUN = 0.5
# where it is only in the long name's complement, not in its head (Melbourne, nurse in Melbourne);
COMPLEMENT = 0.45
# and where it is one of several that the long name lists (Alonzo Smith, Alonzo Smith and Anna).
LISTED = 0.45

_AFTER_HEAD = re.compile(
    r"[,(:]|(?<=\s)(?:of|in|on|at|for|to|by|from|with|about|across|between|during|into|near|under|over)(?=\s)",
    re.IGNORECASE,
)
_AND = re.compile(r"\s(?:and|&)\s", re.IGNORECASE)


def short_form_score(short: str, long: str) -> float:
    """Score in 0..1 how well `short`, as written, abbreviates `long`, as written, by the longer one's grammar.

    Examples
    --------
    >>> [short_form_score(short, long) for short, long in [
    ...     ("Monroe", "Marilyn Monroe"), ("research center", "Pew Research Center"),
    ...     ("Melbourne", "nurse in Melbourne"), ("Anna", "Alonzo Smith and Anna")]]
    [1.0, 0.5, 0.45, 0.375]
    """
    held, whole = set(tokens(normalise(short))), set(tokens(normalise(long)))
    score = min(1.0, COVERING * len(held) / len(whole))
    if short.islower() and not long.islower():
        score *= COMMON_NOUN
    if not held & _head(long):
        score *= COMPLEMENT
    parts = _listed(long)
    if len(parts) > 1 and sum(bool(held & part) for part in parts) < len(parts):
        score *= LISTED
    return score


@lru_cache(maxsize=1 << 16)
def _head(name: str) -> frozenset[str]:
    return frozenset(tokens(normalise(_AFTER_HEAD.split(name, maxsplit=1)[0] or name)))


@lru_cache(maxsize=1 << 16)
def _listed(name: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(tokens(normalise(part))) for part in _AND.split(name) if part.strip())


# A name with more expansions than this is a generic word: its shares are small with or without allies, and finding
# allies costs the square.
MAX_ALLIED = 200


def expansion_shares(
    longer: Mapping[int, list[int]],
    sets: Sequence[frozenset[str]],
    counts: NDArray[np.float64],
    fit: Callable[[int, int], float] = lambda _short, _long: 1.0,
) -> tuple[dict[tuple[int, int], float], dict[int, int]]:
    """Give for each (short, long) the share of the long name and its allies, 0 for rivals; and each short's strongest.

    `fit` weighs an expansion's mentions by how well it suits the short name.

    Examples
    --------
    >>> sets = [frozenset(name.split()) for name in ("monroe", "marilyn monroe", "james monroe", "james earl monroe")]
    >>> found, strongest = expansion_shares({0: [1, 2, 3]}, sets, np.array([9.0, 5, 3, 2]))
    >>> {pair: round(share, 2) for pair, share in found.items()}, strongest
    ({(0, 1): 0.5, (0, 2): 0.0, (0, 3): 0.0}, {0: 1})
    """
    found: dict[tuple[int, int], float] = {}
    strongest: dict[int, int] = {}
    for short, expansions in longer.items():
        if len(expansions) == 1 and fit(short, expansions[0]) > 0:
            # All of them are this one, as of most names that have any.
            strongest[short], found[short, expansions[0]] = expansions[0], 1.0
            continue
        mass = counts[expansions] * [fit(short, long) for long in expansions]
        part, allied = mass / mass.sum(), None
        if len(expansions) <= MAX_ALLIED:
            held = [sets[unit] for unit in expansions]
            allied = np.array([[one <= other or other <= one for other in held] for one in held])
            part = allied @ mass / mass.sum()
        # Ties: more mentions of its own, then the shorter name, then the first.
        best = max(range(len(expansions)), key=lambda at: (part[at], mass[at], -len(sets[expansions[at]]), -at))
        strongest[short] = expansions[best]
        for at, long in enumerate(expansions):
            joins = at == best if allied is None else allied[at, best]
            found[short, long] = float(part[at]) if joins else 0.0
    return found, strongest
