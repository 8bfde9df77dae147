"""The exact-match bonus: what says literally what was asked for may count for more than its ranks give it.

RRF cost the earlier prototype 0.018 nDCG and 0.025 MRR on its exact stratum; this is the option to win that back, off
unless a measurement pays for it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from hopgate.recall.fuse.bounded import Bounded
from hopgate.recall.fuse.fused import Fused, Id, ranked
from hopgate.recall.fuse.weights import MAX_WEIGHT, finite, number

_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”')


@dataclass(frozen=True, repr=False)
class ExactMatch:
    """A bonus for exact matches, in the fuser's own unit.

    Parameters
    ----------
    bonus : float
        Counts as a further leg of this weight (0..5) that puts every exact match first: ``bonus / (k + 1)`` under
        `RRF`, `bonus` under `TM2C2`. So the same number means the same under every fuser.

    Examples
    --------
    >>> from hopgate.recall.fuse import RRF
    >>> fuser = RRF()
    >>> hits = fuser.fuse({"lexical": [("a", 3.0), ("b", 2.0)]})
    >>> [hit.id for hit in ExactMatch(bonus=0.5).apply(hits, {"b"}, fuser)]
    ['b', 'a']
    """

    bonus: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "bonus", finite("the exact-match bonus", self.bonus, 0, MAX_WEIGHT))

    def apply(self, hits: Iterable[Fused[Id]], matched: AbstractSet[Id], fuser: Bounded) -> list[Fused[Id]]:
        """Add the bonus to the hits whose id is in `matched`, before any prior, and rank again."""
        bonus = fuser.top(self.bonus)
        return ranked(
            hit._replace(score=hit.score + bonus * hit.prior, bonus=hit.bonus + bonus) if hit.id in matched else hit
            for hit in hits
        )

    def __repr__(self) -> str:
        return f"ExactMatch(bonus={number(self.bonus)})"


def quoted(query: str) -> tuple[str, ...]:
    """Give the phrases a query puts in double quotes.

    Examples
    --------
    >>> quoted('who said "red team" on the "night shift"?')
    ('red team', 'night shift')
    """
    phrases = (straight or curly for straight, curly in _QUOTED.findall(query))
    return tuple(phrase.strip() for phrase in phrases if phrase.strip())


def is_exact(query: str, content: str, rare: Collection[str] = ()) -> bool:
    """Say whether a memory matches a query exactly.

    It does when its content holds every phrase the query quotes; or, where none is quoted, every rare token of the
    query, `rare` (which tokens are rare is the caller's to know: it takes document frequencies). Case and white space
    do not count; a phrase matches whole words only.

    Examples
    --------
    >>> is_exact('"red team" plans', "The Red  Team met.")
    True
    >>> is_exact("error E4012 on boot", "We saw E40127.", rare=["E4012"])
    False
    """
    wanted = quoted(query) or tuple(rare)
    return bool(wanted) and all(_holds(content, phrase) for phrase in wanted)


def _holds(content: str, phrase: str) -> bool:
    words = r"\s+".join(re.escape(word) for word in phrase.split())
    return bool(words) and re.search(rf"(?<!\w){words}(?!\w)", content, re.IGNORECASE) is not None
