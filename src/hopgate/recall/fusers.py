"""How legs' lists become one ranking, as values: a kind of fusion with one weight a leg; each prints as itself.

What they do with lists is in `recall.fusion`.
"""

import re
from dataclasses import dataclass, fields, replace
from typing import Self, TypeAlias

from hopgate.errors import HopgateError
from hopgate.options import check, setting

LEGS = ("lexical", "dense", "late", "graph")
MAX_WEIGHT = 5
"""Weights are a user's settings in 0..5; at 5 a leg's first already outweighs two full legs that agree."""
MINIMA = {"lexical": 0.0, "dense": -1.0, "late": -1.0, "graph": 0.0}
"""The least score that a leg can give in theory: no word, the opposite direction, no mass."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Weighted:
    """One weight a leg, in 0..5; a leg of weight 0 is off, and does no work.

    Examples
    --------
    >>> Weighted(graph=1.2).weights, Weighted(dense=0).active
    ({'lexical': 1.0, 'dense': 1.0, 'late': 1.0, 'graph': 1.2}, ('lexical', 'late', 'graph'))
    >>> Weighted(graph=7)
    Traceback (most recent call last):
    hopgate.errors.HopgateError: graph must be a number between 0 and 5, not 7
    """

    lexical: float = setting(1.0, "weight of the lexical leg; 0 skips it", low=0, high=MAX_WEIGHT)
    dense: float = setting(1.0, "weight of the dense leg; 0 skips it", low=0, high=MAX_WEIGHT)
    late: float = setting(1.0, "weight of the late leg; 0 skips it", low=0, high=MAX_WEIGHT)
    graph: float = setting(1.0, "weight of the graph leg; 0 skips it", low=0, high=MAX_WEIGHT)

    def __post_init__(self) -> None:
        check(self)

    @property
    def weights(self) -> dict[str, float]:
        """Every leg's weight."""
        return {leg: getattr(self, leg) for leg in LEGS}

    @property
    def active(self) -> tuple[str, ...]:
        """The legs that have a weight above 0: the others need not be run at all."""
        return tuple(leg for leg, weight in self.weights.items() if weight > 0)

    def reweighed(self, **weights: float) -> Self:
        """Give the same fuser with other weights for the legs named."""
        return replace(self, **weights)

    @property
    def largest_unit(self) -> float:
        """What a leg gives to its first at weight 1, and to none more."""
        return 1.0

    def __repr__(self) -> str:
        own = [each.name for each in fields(self) if each.name not in LEGS]
        return f"{type(self).__name__}({', '.join(f'{name}={number(getattr(self, name))}' for name in (*own, *LEGS))})"


@dataclass(frozen=True, kw_only=True, repr=False)
class RRF(Weighted):
    """Score = Σ weight / (k + rank) over the legs that list the memory.

    Weighted reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009; k = 60 is theirs). Only ranks count: any
    change of a leg's scores that keeps its order keeps the result.

    Parameters
    ----------
    k : float
        The larger, the less the first ranks stand out. At least 0.
    lexical, dense, late, graph : float
        The legs' weights.

    Examples
    --------
    >>> RRF(graph=1.2)
    RRF(k=60, lexical=1, dense=1, late=1, graph=1.2)
    """

    k: float = setting(60.0, "what is added to every rank", low=0)

    @property
    def largest_unit(self) -> float:
        """What a leg gives to its first at weight 1, and to none more."""
        return 1 / (self.k + 1)


@dataclass(frozen=True, kw_only=True, repr=False)
class TM2C2(Weighted):
    """Score = Σ weight · (score − minimum) / (maximum − minimum), with the least that a leg could give in theory.

    Convex combination with theoretical min–max normalisation (Bruch, Gai and Ingber, ACM TOIS 2023). The maximum is
    what the leg gave this query; see `MINIMA` for the minima. Weights are not divided by their sum, which would change
    no ranking.

    Examples
    --------
    >>> TM2C2(graph=0.5)
    TM2C2(lexical=1, dense=1, late=1, graph=0.5)
    """


@dataclass(frozen=True, kw_only=True, repr=False)
class MinMax(Weighted):
    """Score = Σ weight · (score − least) / (most − least), over the real scores that a leg gives to the pool.

    So neither the embedder's range of cosines nor the lexical ranker's unit matters. All memories of a leg that tells
    none of them apart get the leg's whole weight.

    Examples
    --------
    >>> MinMax(lexical=0.3, dense=0.7, late=0, graph=0)
    MinMax(lexical=0.3, dense=0.7, late=0, graph=0)
    """


Fuser: TypeAlias = RRF | TM2C2 | MinMax
_WRITTEN = re.compile(r"\s*(\w+)\s*(?:\((.*)\))?\s*", re.DOTALL)
FUSERS: dict[str, type[Fuser]] = {kind.__name__: kind for kind in (RRF, TM2C2, MinMax)}


def parse(text: str) -> Fuser:
    """Read a fuser from what it prints; a name alone is the fuser with its defaults. Nothing is evaluated.

    Examples
    --------
    >>> parse("RRF(k=60, lexical=1, dense=1, late=1, graph=1.2)")
    RRF(k=60, lexical=1, dense=1, late=1, graph=1.2)
    >>> parse("TM2C2")
    TM2C2(lexical=1, dense=1, late=1, graph=1)
    >>> parse("RRF(j=60)")
    Traceback (most recent call last):
    hopgate.errors.HopgateError: RRF has no setting 'j', or has it twice: it has dense, graph, k, late, lexical
    """
    written = _WRITTEN.fullmatch(text)
    kind = FUSERS.get(written[1]) if written else None
    if written is None or kind is None:
        raise HopgateError(f"cannot read {text!r}: a fuser is one of {', '.join(FUSERS)}, written like {RRF()!r}")
    known = sorted(each.name for each in fields(kind))
    given: dict[str, float] = {}
    for pair in written[2].split(",") if written[2] else ():
        name, _, value = (part.strip() for part in pair.partition("="))
        if name not in known or name in given:
            raise HopgateError(f"{kind.__name__} has no setting {name!r}, or has it twice: it has {', '.join(known)}")
        try:
            given[name] = float(value)
        except ValueError:
            raise HopgateError(f"cannot read {name} in {text!r}: it must be a plain number") from None
    return kind(**given)


def number(value: float) -> str:
    """Print a number the shortest way that reads back as itself."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
