"""What of the graph is walked: the configuration of a matrix, which prints as itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from hopgate.errors import HopgateError
from hopgate.times import utc

Weights = tuple[tuple[str, float], ...]


@dataclass(frozen=True, kw_only=True)
class MatrixConfig:
    """What of the graph is walked, and how heavy it is.

    Parameters
    ----------
    relations : mapping or pairs of (str, float)
        Factors for edges, mentions and arcs between memories ("follows", "replies to") by their relation; 1 for those
        not named, and 0 leaves one out.
    kinds : mapping or pairs of (str, float)
        Factors by a concept's kind ("" for none): on its mentions, and on its edges once for each end.
    as_of : datetime, optional
        Only edges that were true then. By default every edge that is not retired, past ones too: "where did she work
        before" is a question like any other.
    known_at : datetime, optional
        Only what was known then: edges recorded and not yet retired, memories made and not yet superseded. By default
        what is known now.
    mentions, edges, neighbours : bool
        Whether walks go between memories and concepts, between concepts, and between memories.
    superseded : bool
        Whether superseded memories take part.

    Examples
    --------
    >>> MatrixConfig(relations={"owns": 2})  # doctest: +NORMALIZE_WHITESPACE
    MatrixConfig(relations=(('owns', 2.0),), kinds=(), as_of=None, known_at=None, mentions=True, edges=True,
                 neighbours=True, superseded=False)
    """

    relations: Weights | Mapping[str, float] = ()
    kinds: Weights | Mapping[str, float] = ()
    as_of: datetime | None = None
    known_at: datetime | None = None
    mentions: bool = True
    edges: bool = True
    neighbours: bool = True
    superseded: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "relations", _weights("relation", self.relations))
        object.__setattr__(self, "kinds", _weights("kind", self.kinds))
        for name in ("as_of", "known_at"):
            object.__setattr__(self, name, utc(getattr(self, name)))


def _weights(what: str, given: Weights | Mapping[str, float]) -> Weights:
    pairs = tuple(sorted((name, float(weight)) for name, weight in dict(given).items()))
    for name, weight in pairs:
        if not (np.isfinite(weight) and weight >= 0):
            raise HopgateError(f"the weight of {what} {name!r} must be a finite number and not negative, not {weight}")
    return pairs
