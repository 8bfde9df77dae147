"""How walks are seeded and made: settings of the graph leg as fields. Nothing here needs NumPy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any, Literal

from hopgate.errors import HopgateError

Shares = tuple[float, float, float]
"""How much the walks from memories, from names and from facts count."""
# The best common fixed shares on dev of musique, 2wiki and locomo (docs/research/neighbours.md).
COMMON_SHARES: Shares = (0.72, 0.14, 0.14)


@dataclass(frozen=True, kw_only=True)
class Seeding:
    """How walks are seeded. The defaults were measured on dev queries: docs/research/neighbours.md.

    Parameters
    ----------
    shares : "adaptive" or (float, float, float)
        How much the walks from memories, names and facts count: decided for each query, or fixed. A walk that has
        nowhere to start leaves its share to the others.
    base_temperature : float
        A hit of the base weighs ``exp((score - best score) / base_temperature)``.
    cosine_temperature : float
        Where the base's hits have no neighbours, the cosine's part of that is ``exp(cosine / cosine_temperature)``; 0
        leaves the base's scores as they are (`hopgate.graph.walk.seeds`).
    temperature : float
        A fact weighs ``exp((cosine - best cosine) / temperature)``.
    specificity : float
        A concept's weight is divided by its document frequency to this power.
    near_facts : int
        How many facts are looked at.
    fact_floor : float
        A fact whose cosine is this far below that of the nearest memory seeds nothing.
    statements : float
        The part of the memories' mass that the nearest statements about them give.
    near_statements, statement_temperature : int, float
        How many are looked at, and how their cosines weigh.
    dates : bool
        Whether a time that the query asks about ("in May 2024", "before the move") is an as-of, where what it names
        had changed.

    Examples
    --------
    >>> Seeding(shares=(1, 0, 0))  # doctest: +NORMALIZE_WHITESPACE
    Seeding(shares=(1, 0, 0), base_temperature=0.15, cosine_temperature=0.05, temperature=0.03, specificity=0.75,
            near_facts=20, fact_floor=0.25, statements=0.35, near_statements=50, statement_temperature=0.05, dates=True)
    """

    shares: Literal["adaptive"] | Shares = "adaptive"
    base_temperature: float = 0.15
    cosine_temperature: float = 0.05
    temperature: float = 0.03
    specificity: float = 0.75
    near_facts: int = 20
    fact_floor: float = 0.25
    statements: float = 0.35
    near_statements: int = 50
    statement_temperature: float = 0.05
    dates: bool = True

    def __post_init__(self) -> None:
        if self.shares != "adaptive":
            shares = tuple(self.shares) if isinstance(self.shares, list | tuple) else ()
            usable = all(isinstance(share, int | float) and isfinite(share) and share >= 0 for share in shares)
            if len(shares) != 3 or not usable or not sum(shares) > 0:
                raise HopgateError(
                    "shares are 'adaptive' or three numbers, for memories, names and facts, not negative nor all 0, "
                    f"not {self.shares!r}"
                )
            object.__setattr__(self, "shares", shares)
        for name in ("base_temperature", "temperature", "statement_temperature"):
            if not getattr(self, name) > 0:
                raise HopgateError(f"{name} must be above 0, not {getattr(self, name)}")
        for name in ("specificity", "fact_floor", "cosine_temperature", "near_facts", "near_statements"):
            if not (isfinite(getattr(self, name)) and getattr(self, name) >= 0):
                raise HopgateError(f"{name} must be 0 or more, not {getattr(self, name)}")
        if not 0 <= self.statements <= 1:
            raise HopgateError(f"statements is a part of the memories' mass, between 0 and 1, not {self.statements}")


@dataclass(frozen=True, kw_only=True)
class Walk:
    """Personalised PageRank from the seeds of a query. The defaults were measured on dev: docs/research/walking.md.

    Parameters
    ----------
    damping : float
        How likely the walk goes on at each step. 0.7 to 0.9 are alike; 0.5, which others use, loses the later hops.
    tolerance : float
        Largest L1 error of the solution. 1e-4 is the loosest that kept the first 50 memories of 60 queries on each of
        musique and 2wiki, and their order but for one pair: docs/research/traversal.md.
    degree_correction : float
        Scores are divided by ``strength ** degree_correction``: above 0, memories with few concepts gain.
    depth : int
        How many memories the leg returns.
    seeding : Seeding
        Where the walk starts.

    Examples
    --------
    >>> Walk(depth=20)  # doctest: +ELLIPSIS
    Walk(damping=0.8, tolerance=0.0001, degree_correction=0.0, depth=20, seeding=Seeding(shares='adaptive', ...))
    """

    damping: float = 0.8
    tolerance: float = 1e-4
    degree_correction: float = 0.0
    depth: int = 50
    seeding: Seeding = field(default_factory=Seeding)

    def __post_init__(self) -> None:
        if not 0 <= self.damping < 1:
            raise HopgateError(f"damping must be at least 0 and below 1, not {self.damping}")
        if not self.tolerance > 0:
            raise HopgateError(f"tolerance must be above 0, not {self.tolerance}")
        if self.depth < 1:
            raise HopgateError(f"a leg is at least 1 deep, not {self.depth}")


def walk_of(given: Walk | Mapping[str, Any] | str) -> Walk:
    """Give a walk by its fields, those of its seeding under "seeding"; text is JSON. What is not given is the default.

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
            raise HopgateError(f'a walk is written as JSON, such as {{"damping": 0.8}}, not {given!r}') from None
    values = _checked("a walk", Walk, given)
    try:
        if "seeding" in values and not isinstance(values["seeding"], Seeding):
            values["seeding"] = Seeding(**_checked("the seeding of a walk", Seeding, values["seeding"]))
        return Walk(**values)
    except TypeError:
        raise HopgateError(f"a setting of the walk is no number: {given!r}") from None


def _checked(what: str, kind: type[Any], given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise HopgateError(f"{what} is given by its fields, such as {{'damping': 0.8}}, not {given!r}")
    names = [each.name for each in fields(kind)]
    if unknown := [name for name in given if name not in names]:
        raise HopgateError(f"{what} has no setting {unknown[0]!r}: it has {', '.join(names)}")
    return dict(given)
