"""The verdict on a leg and the weight it needs: what reachability by closed form and on lists both give."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from enum import StrEnum

from hopgate.errors import HopgateError
from hopgate.recall.fuse import Bounded, Fuser
from hopgate.recall.fuse.weights import number


class Reachability(StrEnum):
    """What a leg can do to the top k.

    Examples
    --------
    >>> str(Reachability.BARRED)
    'barred'
    """

    REACHABLE = "reachable"
    """A candidate that only this leg sees enters the top k wherever the leg puts it first."""
    AT_BEST = "reachable only at best"
    """It enters where the other legs' overlap and the importances allow it."""
    ON_SOME = "reachable on some queries"
    """It could enter on some of the queries looked at, and on others not."""
    BARRED = "barred"
    """It can never enter: the leg can only reorder what the others found."""
    OFF = "off"
    """The leg's weight is 0."""


@dataclass(frozen=True, slots=True)
class Needed:
    """The weight a leg must exceed, by how the other legs' lists overlap.

    Parameters
    ----------
    best : float
        The most favourable overlap: one other leg, or all share their first k − 1 memories and nothing else.
    disjoint : float
        The other legs share nothing.
    identical : float
        The other legs return the same list.
    worst : float
        The least favourable overlap: for two legs the same k memories in opposite order.

    Notes
    -----
    0 means that any weight above 0 suffices, infinity that none does.
    """

    best: float
    disjoint: float
    identical: float
    worst: float

    def to_dict(self) -> dict[str, float | None]:
        """Give the weights ready for JSON, None where no weight suffices.

        Examples
        --------
        >>> Needed(0.5, 0.6, 1.0, math.inf).to_dict()
        {'best': 0.5, 'disjoint': 0.6, 'identical': 1.0, 'worst': None}
        """
        return {name: or_none(value) for name, value in asdict(self).items()}


def or_none(value: float) -> float | None:
    """Give None for infinity, which JSON has not.

    Examples
    --------
    >>> or_none(math.inf), or_none(0.5)
    (None, 0.5)
    """
    return None if math.isinf(value) else value


def in_words(weight: float) -> str:
    """Print a weight that must be exceeded.

    Examples
    --------
    >>> in_words(61 / 70), in_words(0), in_words(math.inf)
    ('over 0.871', 'any', 'impossible')
    """
    if weight == 0:
        return "any"
    return "impossible" if math.isinf(weight) else f"over {weight:.3f}"


def opening(leg: str, weight: float, verdict: Reachability, k: int, fuser: Fuser) -> str:
    """Begin the one line that a bound and a report both print."""
    return f"{leg} at weight {number(weight)} is {verdict.value} in the top {k} of {fuser!r}"


def bounded(fuser: Fuser, leg: str, k: int) -> Bounded:
    """Refuse a fuser, leg or k that reachability cannot be worked out for."""
    if not isinstance(fuser, Bounded):
        raise HopgateError(f"{fuser!r} states no bounds on its contributions: use RRF, StretchedRRF, TM2C2 or MinMax")
    if leg not in fuser.weights:
        raise HopgateError(f"{fuser!r} has no leg {leg!r}: use one of {', '.join(fuser.weights)}")
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise HopgateError(f"the top k needs a k of at least 1, not {k!r}")
    return fuser
