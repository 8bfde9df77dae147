"""Names that have the same words in another order, which makes them another's: Anna Maria Keller, Maria Anna Keller."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.canonicalise.units import IntArray, Units
from hopgate.graph.names.normal import tokens


def misordered(units: Units, i: IntArray, j: IntArray, among: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which of these pairs are names of three words and more, each with a capital, whose words stand in two orders."""
    # Of most pairs one has a word or two: these have no order to mind.
    ordered = np.array([_has_order(spelling) for spelling in units.spellings], dtype=bool)
    found = np.zeros(len(i), dtype=bool)
    for row in np.flatnonzero(among & (ordered[i] | ordered[j])).tolist():
        one, other = int(i[row]), int(j[row])
        if units.spellings[one].istitle() and units.spellings[other].istitle():
            found[row] = not in_order(tokens(units.names[one]), tokens(units.names[other]))
    return found


def in_order(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether the words that two names share stand in one order, a family's first or last.

    Examples
    --------
    >>> anna, maria = ("anna", "maria", "keller"), ("maria", "anna", "keller")
    >>> in_order(anna, maria), in_order(anna, ("keller", "anna", "maria")), in_order(anna, ("keller", "anna"))
    (False, True, True)
    >>> in_order(anna, ("anna", "marie", "keller")), in_order(anna, ("keller", "marie", "anna"))
    (True, False)
    """
    short, long = sorted((first, second), key=len)
    turned = [(*long[at:], *long[:at]) for at in range(len(long))]
    if len(short) < len(long):
        return any(_holds(one, short) for one in turned)
    shared = set(short).intersection(long)
    return any(all(word == own or word not in shared for word, own in zip(one, short, strict=True)) for one in turned)


def _holds(long: tuple[str, ...], short: tuple[str, ...]) -> bool:
    """Whether a name has another's words in that one's order; words that it has not do not count."""
    rest = iter(long)
    return all(word in rest for word in short if word in long)


def _has_order(spelling: str) -> bool:
    return spelling.count(" ") >= 2 and spelling.istitle()
