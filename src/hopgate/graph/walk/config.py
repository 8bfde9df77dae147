"""How the graph leg walks: its settings as fields. Nothing here needs NumPy."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from hopgate.errors import HopgateError
from hopgate.options import check, setting

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

    Examples
    --------
    >>> Walk(depth=20, shares=(1, 0, 0))
    Walk(damping=0.8, tolerance=0.0001, degree_correction=0.0, depth=20, shares=(1, 0, 0), dates=True)
    """

    # 0.7 to 0.9 are alike; 0.5, which others use, loses the later hops.
    damping: float = setting(0.8, "how likely the walk goes on at each step", low=0, below=1)
    # The loosest that kept the first 50 memories of 60 queries on each of musique and 2wiki, and their order but for
    # one pair: docs/measurements.md.
    tolerance: float = setting(1e-4, "the largest L1 error of the solution", above=0)
    degree_correction: float = setting(0.0, "above 0, memories with few concepts gain: strength to this power divides")
    depth: int = setting(50, "how many memories the leg returns", low=1)
    shares: Shares = setting(COMMON_SHARES, "how much memories, names and facts count as starts of the walk", low=0)
    dates: bool = setting(True, 'whether a time that the query asks about ("in May 2024") is an as-of')

    def __post_init__(self) -> None:
        check(self)
        if len(self.shares) != 3 or not sum(self.shares) > 0:
            raise HopgateError(
                f"shares are three numbers, for memories, names and facts, not all 0, not {self.shares!r}"
            )
        object.__setattr__(self, "shares", tuple(self.shares))


def walk_of(settings: Walk | Mapping[str, Any] | str) -> Walk:
    """Give a walk by its fields; text is JSON. What is not given is the default.

    Examples
    --------
    >>> walk_of({"damping": 0.5}) == walk_of('{"damping": 0.5}') == Walk(damping=0.5)
    True
    >>> walk_of({"speed": 2})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    hopgate.errors.HopgateError: a walk has no setting 'speed': it has damping, tolerance, degree_correction, ...
    """
    if isinstance(settings, Walk):
        return settings
    if isinstance(settings, str):
        with suppress(ValueError):  # what is no JSON is refused below
            settings = json.loads(settings)
    if not isinstance(settings, Mapping):
        raise HopgateError(f'a walk is given by its fields, as JSON such as {{"damping": 0.8}}, not {settings!r}')
    names = [field.name for field in fields(Walk)]
    if unknown := [name for name in settings if name not in names]:
        raise HopgateError(f"a walk has no setting {unknown[0]!r}: it has {', '.join(names)}")
    return Walk(**settings)
