"""How the graph leg walks: its settings as fields. Nothing here needs NumPy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, Literal, get_args

from hopgate.errors import HopgateError

Part = Literal["threads", "titles", "names", "facts", "statements"]
PARTS: tuple[Part, ...] = get_args(Part)
"""The parts of a graph from free to dear: what was said next, titles named, names shared, typed edges, statements."""
Shares = tuple[float, float, float]
"""How much the walks from memories, from names and from facts count."""
# The best common fixed shares on dev of musique, 2wiki and locomo (docs/measurements.md).
COMMON_SHARES: Shares = (0.85, 0.1, 0.05)


@dataclass(frozen=True, kw_only=True)
class Walk:
    """Personalised PageRank from the seeds of a query. The defaults were measured on dev: docs/measurements.md.

    Parameters
    ----------
    damping : float
        How likely the walk goes on at each step. 0.7 to 0.9 are alike; 0.5, which others use, loses the later hops.
    tolerance : float
        Largest L1 error of the solution. 1e-4 is the loosest that kept the first 50 memories of 60 queries on each of
        musique and 2wiki, and their order but for one pair: docs/measurements.md.
    degree_correction : float
        Scores are divided by ``strength ** degree_correction``: above 0, memories with few concepts gain.
    depth : int
        How many memories the leg returns.
    shares : (float, float, float)
        How much the walks from memories, names and facts count. A walk that has nowhere to start leaves its share to
        the others.
    dates : bool
        Whether a time that the query asks about ("in May 2024", "before the move") is an as-of, where what it names
        had changed.

    Examples
    --------
    >>> Walk(depth=20, shares=(1, 0, 0))
    Walk(damping=0.8, tolerance=0.0001, degree_correction=0.0, depth=20, shares=(1, 0, 0), dates=True)
    """

    damping: float = 0.8
    tolerance: float = 1e-4
    degree_correction: float = 0.0
    depth: int = 50
    shares: Shares = COMMON_SHARES
    dates: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.damping < 1:
            raise HopgateError(f"damping must be at least 0 and below 1, not {self.damping}")
        if not self.tolerance > 0:
            raise HopgateError(f"tolerance must be above 0, not {self.tolerance}")
        if self.depth < 1:
            raise HopgateError(f"a leg is at least 1 deep, not {self.depth}")
        shares = tuple(self.shares) if isinstance(self.shares, list | tuple) else ()
        usable = all(isinstance(share, int | float) and isfinite(share) and share >= 0 for share in shares)
        if len(shares) != 3 or not usable or not sum(shares) > 0:
            raise HopgateError(
                f"shares are three numbers, for memories, names and facts, not negative nor all 0, not {self.shares!r}"
            )
        object.__setattr__(self, "shares", shares)


def walk_of(given: Walk | Mapping[str, Any] | str) -> Walk:
    """Give a walk by its fields; text is JSON. What is not given is the default.

    Examples
    --------
    >>> walk_of({"damping": 0.5}) == walk_of('{"damping": 0.5}') == Walk(damping=0.5)
    True
    >>> walk_of({"speed": 2})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    hopgate.errors.HopgateError: a walk has no setting 'speed': it has damping, tolerance, degree_correction, ...
    """
    if isinstance(given, Walk):
        return given
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            given = str(given)
    if not isinstance(given, Mapping):
        raise HopgateError(f'a walk is given by its fields, as JSON such as {{"damping": 0.8}}, not {given!r}')
    names = [each.name for each in fields(Walk)]
    if unknown := [name for name in given if name not in names]:
        raise HopgateError(f"a walk has no setting {unknown[0]!r}: it has {', '.join(names)}")
    try:
        return Walk(**given)
    except TypeError:
        raise HopgateError(f"a setting of the walk is no number: {given!r}") from None
