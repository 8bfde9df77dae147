"""The weights every fuser carries: one a leg, 0..5, part of the value that prints as itself."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Self, TypeAlias

from hopgate.errors import HopgateError

MAX_WEIGHT = 5.0
"""Weights are user settings in 0..5; at 5 a leg's first hit already outweighs two full legs that agree."""

STANDARD = ("lexical", "dense", "graph")

Pairs: TypeAlias = Mapping[str, float] | Iterable[tuple[str, float]]


@dataclass(frozen=True, kw_only=True, repr=False)
class Weighted:
    """One weight a leg, in 0..5; a leg of weight 0 is off.

    Parameters
    ----------
    lexical, dense, graph : float
        The standard legs' weights.
    others : mapping of leg name to float
        The weights of further legs, kept as sorted pairs so that the value hashes.

    Examples
    --------
    >>> Weighted(graph=1.2).weights
    {'lexical': 1.0, 'dense': 1.0, 'graph': 1.2}
    >>> Weighted(graph=1.2, others={"title": 2}).reweighed(graph=0, title=3)
    Weighted(lexical=1, dense=1, graph=0, others={'title': 3})
    >>> Weighted(graph=7)
    Traceback (most recent call last):
    hopgate.errors.HopgateError: the weight of graph must be a number between 0 and 5, not 7
    """

    lexical: float = 1.0
    dense: float = 1.0
    graph: float = 1.0
    others: Pairs = ()

    def __post_init__(self) -> None:
        given = self.others.items() if isinstance(self.others, Mapping) else self.others
        others = tuple(sorted((name, _weight(name, value)) for name, value in given))
        names = [name for name, _ in others]
        for name in names:
            if names.count(name) > 1 or name in STANDARD:
                raise HopgateError(f"the leg {name!r} is given two weights: name it once")
        for name in STANDARD:
            object.__setattr__(self, name, _weight(name, getattr(self, name)))
        object.__setattr__(self, "others", others)

    @property
    def weights(self) -> dict[str, float]:
        """Every leg's weight, the standard legs first."""
        return {"lexical": self.lexical, "dense": self.dense, "graph": self.graph, **dict(self.others)}

    def reweighed(self, **weights: float) -> Self:
        """Give the same fuser with other weights for the legs named."""
        standard = {name: weight for name, weight in weights.items() if name in STANDARD}
        others = {**dict(self.others), **{name: weight for name, weight in weights.items() if name not in STANDARD}}
        return replace(self, **standard, others=tuple(others.items()))

    def __repr__(self) -> str:
        weights = [f"{name}={number(getattr(self, name))}" for name in STANDARD]
        if self.others:
            weights.append(f"others={mapping(dict(self.others))}")
        return f"{type(self).__name__}({', '.join([*self._own(), *weights])})"

    def _own(self) -> list[str]:
        """The parameters a subclass adds, as they are printed before the weights."""
        return [
            f"{f.name}={number(getattr(self, f.name))}" for f in fields(self) if f.name not in (*STANDARD, "others")
        ]


def finite(name: str, value: object, low: float, high: float = math.inf) -> float:
    """Check a parameter, and make it a float so that equal settings are equal values.

    Examples
    --------
    >>> finite("k", 60, 0)
    60.0
    """
    given = math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    if not (math.isfinite(given) and low <= given <= high):
        limits = f"between {number(low)} and {number(high)}" if math.isfinite(high) else f"of at least {number(low)}"
        raise HopgateError(f"{name} must be a number {limits}, not {value!r}".replace(" of at least -inf", ""))
    return given


def number(value: float) -> str:
    """Print a number the shortest way that reads back as itself.

    Examples
    --------
    >>> number(60.0), number(1.2)
    ('60', '1.2')
    """
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def mapping(numbers: Mapping[str, float]) -> str:
    """Print names and numbers as a dictionary that reads back.

    Examples
    --------
    >>> mapping({"title": 2.0})
    "{'title': 2}"
    """
    return "{" + ", ".join(f"{name!r}: {number(value)}" for name, value in numbers.items()) + "}"


def _weight(name: str, value: object) -> float:
    if not isinstance(name, str) or not name:
        raise HopgateError(f"a leg is named by text, not by {name!r}")
    # abs: minus zero is zero, and prints as it.
    return abs(finite(f"the weight of {name}", value, 0, MAX_WEIGHT))
