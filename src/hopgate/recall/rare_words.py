"""Which words of a query are rare in the corpus: the exact-match bonus is for those that say them literally."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hopgate.recall.fuse import quoted

if TYPE_CHECKING:
    from psycopg import Connection

# A word that more memories hold than the usual top k has places for does not point at one of them.
RARE = 10
# Longer queries are looked at this far: each word costs a look into the index.
MAX_WORDS = 32

_WORD = re.compile(r"\w+(?:[.:/_@#+-]+\w+)*")
_COUNT = """
SELECT word FROM unnest(%(words)s::text[]) AS word, LATERAL (
  SELECT count(*) AS found FROM (
    SELECT FROM memories WHERE search_vector @@ plainto_tsquery('english', word) LIMIT %(most)s + 1
  ) AS holding
) AS counted WHERE found BETWEEN 1 AND %(most)s
"""


def rare_words(connection: Connection[Any], query: str, *, most: int = RARE) -> list[str]:
    """The query's words that at most `most` memories hold; none where the query quotes phrases, which decide alone.

    A word that no memory holds is not among them: a slip of the pen must not cost the bonus.
    """
    if quoted(query):
        return []
    words = list(dict.fromkeys(words_of(query)))[:MAX_WORDS]
    return [row[0] for row in connection.execute(_COUNT, {"words": words, "most": most})]


def words_of(query: str) -> list[str]:
    """The words of a query; what is joined by a sign (E-4012, 10.0.0.7, a/b) is one.

    Examples
    --------
    >>> words_of("What is on 10.0.0.7, the E-4012?")
    ['What', 'is', 'on', '10.0.0.7', 'the', 'E-4012']
    """
    return _WORD.findall(query)
