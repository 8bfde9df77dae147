"""What reachability on actual lists gives: a row a query, and what the rows come to."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from hopgate.recall.fuse import ExactMatch, Fuser, Importance
from hopgate.recall.reach.needed_weight import Reachability, in_words, opening, or_none

_SHARES = {"first": 0.0, "half": 0.5, "nine_in_ten": 0.9, "all": 1.0}
"""The shares of the queries a summary gives the weight for."""


@dataclass(frozen=True, slots=True)
class QueryReach:
    """What a leg could do to one query's top k.

    Parameters
    ----------
    query : str
        The query's id.
    enters : bool
        A memory that only this leg sees could enter: it would score more than the k-th hit (a tie does not count), or
        the other legs leave room.
    swaps : bool
        Some list of the leg would change which memories are in the top k: `enters`, or a memory that the other legs
        rank below k would rise into it.
    changes : bool
        Some list of the leg would change the top k at all: `swaps`, or two of its hits would change places.
    needed : float
        The weight that `enters` needs to be exceeded; 0 where there is room, infinite where none suffices.
    kth : float or None
        The score in the way; None where there is room.
    """

    query: str
    enters: bool
    swaps: bool
    changes: bool
    needed: float
    kth: float | None

    def to_dict(self) -> dict[str, Any]:
        """Give the row ready for JSON."""
        return {**asdict(self), "needed": or_none(self.needed)}


@dataclass(frozen=True, slots=True)
class ListReach:
    """What a leg could do to the top k of a set of queries: the rows, and what they come to.

    Parameters
    ----------
    leg, weight, fuser, k, prior, exact
        What was asked.
    rows : tuple of QueryReach
        One a query.
    """

    leg: str
    weight: float
    fuser: Fuser
    k: int
    prior: Importance | None
    exact: ExactMatch | None
    rows: tuple[QueryReach, ...]

    @property
    def entering(self) -> int:
        """On how many queries a candidate of the leg alone could enter."""
        return sum(row.enters for row in self.rows)

    @property
    def swapping(self) -> int:
        """On how many queries the leg could change which memories are in the top k."""
        return sum(row.swaps for row in self.rows)

    @property
    def changing(self) -> int:
        """On how many queries the leg could change the top k at all."""
        return sum(row.changes for row in self.rows)

    @property
    def verdict(self) -> Reachability:
        """Barred where it could enter on no query, reachable where it could on all."""
        if self.weight == 0:
            return Reachability.OFF
        if not self.entering:
            return Reachability.BARRED
        return Reachability.REACHABLE if self.entering == len(self.rows) else Reachability.ON_SOME

    def needed(self, share: float) -> float:
        """Give the weight to exceed for a candidate of the leg alone to be able to enter on this share of the queries.

        ``needed(0)`` opens the first query, ``needed(0.5)`` half of them, ``needed(1)`` all.
        """
        weights = sorted(row.needed for row in self.rows)
        return weights[max(0, math.ceil(share * len(weights)) - 1)] if weights else 0.0

    def to_dict(self, *, rows: bool = False) -> dict[str, Any]:
        """Give the summary ready for JSON, on request with every query's row."""
        result = {
            "leg": self.leg,
            "weight": self.weight,
            "verdict": self.verdict.value,
            "fuser": repr(self.fuser),
            "k": self.k,
            "prior": repr(self.prior) if self.prior else None,
            "exact": repr(self.exact) if self.exact else None,
            "queries": len(self.rows),
            "entering": self.entering,
            "swapping": self.swapping,
            "changing": self.changing,
            "needed": {name: or_none(self.needed(share)) for name, share in _SHARES.items()},
        }
        return {**result, "rows": [row.to_dict() for row in self.rows]} if rows else result

    def __str__(self) -> str:
        n = len(self.rows)
        first, half, most = (in_words(self.needed(share)) for share in (0, 0.5, 1))
        return (
            f"{opening(self.leg, self.weight, self.verdict, self.k, self.fuser)}; on {self.entering} of {n} queries a "
            f"candidate of it alone could enter, on {self.swapping} it could change who is in, on {self.changing} "
            f"anything; weight needed: {first} for the first query, {half} for half of them, {most} for all"
        )
