"""Whose short name is it? A name that several longer ones could expand belongs to the one most often meant.

"Monroe" may stand for Marilyn or for James. Each expansion's share is its part of all mentions of expansions; names
that expand one another (Barack Obama, Barack Hussein Obama) are allies and count together. A short name goes with its
strongest expansion and that one's allies; for the others it is evidence of nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

# More expansions than this: a generic word. Its shares are small whoever is allied, and allies cost the square.
MAX_ALLIED = 200


def shares(
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
    >>> found, strongest = shares({0: [1, 2, 3]}, sets, np.array([9.0, 5, 3, 2]))
    >>> {pair: round(share, 2) for pair, share in found.items()}, strongest
    ({(0, 1): 0.5, (0, 2): 0.0, (0, 3): 0.0}, {0: 1})
    """
    found: dict[tuple[int, int], float] = {}
    strongest: dict[int, int] = {}
    for short, expansions in longer.items():
        mass = counts[expansions] * [fit(short, long) for long in expansions]
        allied = np.eye(len(expansions), dtype=bool)
        if len(expansions) <= MAX_ALLIED:
            held = [sets[unit] for unit in expansions]
            allied = np.array([[one <= other or other <= one for other in held] for one in held])
        part = allied @ mass / mass.sum()
        # Ties: more mentions of its own, then the shorter name, then the first.
        best = max(range(len(expansions)), key=lambda at: (part[at], mass[at], -len(sets[expansions[at]]), -at))
        strongest[short] = expansions[best]
        for at, long in enumerate(expansions):
            found[short, long] = float(part[at]) if allied[at, best] else 0.0
    return found, strongest
