"""What comes after fusion: the importance prior, and the three orders a user can ask for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from hopgate.errors import HopgateError
from hopgate.memory import DEFAULT_IMPORTANCE
from hopgate.recall.fuse.fused import Fused, Id, ranked
from hopgate.recall.fuse.weights import finite, number
from hopgate.times import utc

SortBy = Literal["relevance", "importance", "recency"]


@dataclass(frozen=True, repr=False)
class Importance:
    """The importance prior: final = fused × (floor + (1 − floor) · importance).

    Parameters
    ----------
    floor : float
        What a memory of importance 0 keeps of its score, in 0..1; 0.7 is the earlier prototype's, 1 switches the
        prior off.

    Examples
    --------
    >>> prior = Importance()
    >>> prior, prior.factor(0), prior.factor(0.5), prior.factor(1)
    (Importance(floor=0.7), 0.7, 0.85, 1.0)
    """

    floor: float = 0.7

    def __post_init__(self) -> None:
        object.__setattr__(self, "floor", finite("the floor of the importance prior", self.floor, 0, 1))

    def factor(self, importance: float) -> float:
        """Give what a memory of this importance has its fused score multiplied by."""
        if not 0 <= importance <= 1:  # NaN too
            raise HopgateError(f"importance must be between 0 and 1, not {importance}")
        return self.floor + (1 - self.floor) * importance

    def apply(self, hits: Iterable[Fused[Id]], importance: Mapping[Id, float]) -> list[Fused[Id]]:
        """Multiply every hit's score by its memory's factor, and rank again.

        A memory without an importance has the default, 0.5.
        """
        result = []
        factors: dict[float, float] = {}
        for hit in hits:
            weight = importance.get(hit.id, DEFAULT_IMPORTANCE)
            if (factor := factors.get(weight)) is None:
                factor = factors[weight] = self.factor(weight)
            id, score, contributions, ranks, bonus, before, granted = hit
            result.append(Fused(id, score * factor, contributions, ranks, bonus, before * factor, granted))
        return ranked(result)

    def __repr__(self) -> str:
        return f"Importance(floor={number(self.floor)})"


def order(
    hits: Iterable[Fused[Id]],
    *,
    sort_by: SortBy = "relevance",
    importance: Mapping[Id, float] | None = None,
    created_at: Mapping[Id, datetime | None] | None = None,
    prior: Importance | None = Importance(),
) -> list[Fused[Id]]:
    """Put fused hits into the order asked for.

    Parameters
    ----------
    hits : iterable of Fused
        As a fuser gave them, before any prior.
    sort_by : {"relevance", "importance", "recency"}
        By final score; by fused score without the prior, where importance breaks ties (spec §5); by creation time,
        newest first and unknown last. What still ties goes by id.
    importance, created_at : mappings from id
        What is known of the memories; an importance that is missing is 0.5.
    prior : Importance or None
        None leaves the fused scores as they are.

    Examples
    --------
    >>> from hopgate.recall.fuse import RRF
    >>> hits = RRF().fuse({"lexical": [("a", 3.0), ("b", 2.0)]})
    >>> [hit.id for hit in order(hits, importance={"a": 0.1, "b": 0.9})]
    ['b', 'a']
    >>> [hit.id for hit in order(hits, prior=None)]
    ['a', 'b']
    """
    if sort_by not in get_args(SortBy):
        raise HopgateError(f"sort_by is one of {', '.join(get_args(SortBy))}, not {sort_by!r}")
    weight = importance or {}
    if sort_by == "importance":
        # Stable: what ties in both keeps the order of fusion.
        return sorted(ranked(hits), key=lambda hit: (-hit.score, -weight.get(hit.id, DEFAULT_IMPORTANCE)))
    final = prior.apply(hits, weight) if prior else ranked(hits)
    if sort_by == "recency":
        times = created_at or {}
        return sorted(final, key=lambda hit: (-_seconds(times.get(hit.id)), hit.id))
    return final


def _seconds(moment: datetime | None) -> float:
    """Seconds since 1970; a time without a zone is UTC, no time is before all times."""
    return -math.inf if moment is None else utc(moment).timestamp()
