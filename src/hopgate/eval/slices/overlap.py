"""Slices by the words that a query shares with its gold."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hopgate.eval.data.queries import Query
from hopgate.eval.data.runs import relevant
from hopgate.eval.slices.slice import Known, Slice

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Overlap(Slice):
    """Queries of whose words at most this share stands in the best-matching gold memory: what words alone cannot find.

    Examples
    --------
    >>> Overlap(0.3)
    overlap<=0.3
    """

    at_most: float

    def holds(self, query: Query, known: Known) -> bool:
        """Compare the words of the query with those of each gold memory."""
        words = _words(query.text)
        gold = relevant(known.qrels[query.id])
        if not words or not gold <= known.texts.keys():
            return False
        return max(len(words & _words(known.texts[name])) / len(words) for name in gold) <= self.at_most

    def __repr__(self) -> str:
        return f"overlap<={self.at_most:g}"


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
