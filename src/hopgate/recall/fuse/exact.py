"""The exact-match bonus: a memory that holds the query's quoted phrases or rare words gets a further contribution.

RRF cost the earlier prototype 0.018 nDCG and 0.025 MRR on its exact stratum; this is the option to win that back, off
unless a measurement pays for it. Which words are rare is asked of the store (`rare_words`). Recall and the gate both
use `exact_matches` and `ExactMatch.apply`, so that what is measured is what is shipped.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopgate.recall.fuse.bounded import Bounded
from hopgate.recall.fuse.fused import Fused, Id, ranked
from hopgate.recall.fuse.weights import MAX_WEIGHT, finite, number

if TYPE_CHECKING:
    from psycopg import Connection

# A word that more memories hold than the usual top k has places for does not point at one of them.
RARE = 10
# Longer queries are looked at this far: each word costs a look into the index.
MAX_WORDS = 32

_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”')
_WORD = re.compile(r"\w+(?:[.:/@#+-]+\w+)*")
_COUNT = """
SELECT word FROM unnest(%(words)s::text[]) AS word, LATERAL (
  SELECT count(*) AS found FROM (
    SELECT FROM memories WHERE search_vector @@ plainto_tsquery(hopgate_language()::regconfig, word) LIMIT %(most)s + 1
  ) AS holding
) AS counted WHERE found BETWEEN 1 AND %(most)s
"""


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


def exact_matches(connection: Connection[Any], query: str, ids: Sequence[int]) -> set[int]:
    """Give those of the memories that match the query exactly; texts are read only where the query may match one."""
    from hopgate.store import memories

    rare = rare_words(connection, query)
    if not rare and not quoted(query):
        return set()
    known = memories.fetch_by_id(connection, ids)
    return {key for key, memory in known.items() if is_exact(query, memory.content, rare)}


def rare_words(connection: Connection[Any], query: str, *, most: int = RARE) -> list[str]:
    """Give the query's words that at most `most` memories hold; none where it quotes phrases, which decide alone.

    A word that no memory holds is not among them: a slip of the pen must not cost the bonus.
    """
    if quoted(query):
        return []
    words = list(dict.fromkeys(words_of(query)))[:MAX_WORDS]
    return [row[0] for row in connection.execute(_COUNT, {"words": words, "most": most})]


def words_of(query: str) -> list[str]:
    """Give the words of a query; what is joined by a sign (E-4012, 10.0.0.7, a/b) is one.

    Examples
    --------
    >>> words_of("What is on 10.0.0.7, the E-4012?")
    ['What', 'is', 'on', '10.0.0.7', 'the', 'E-4012']
    """
    return _WORD.findall(query)


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
    """Tell whether a memory matches a query exactly.

    It does when its content holds every phrase the query quotes; or, where none is quoted, every one of the query's
    `rare` words (see `rare_words`). Case and white space do not count; a phrase matches whole words only.

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
