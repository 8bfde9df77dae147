"""The words of a query as the store knows them: in each of its languages, with how many memories hold each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.recall.filters import Filters

# A longer query is looked for by its rarest words. The top of a leg hardly depends on the others, and each costs a look
# at every candidate.
MAX_WORDS = 128

# Counted in the scopes that are asked, so that another scope's memories change nothing; and parsed in the languages
# that memories of these scopes have. The totals stand in every row.
_WORDS = """
WITH totals AS MATERIALIZED (
  SELECT language, sum(memories) AS memories, sum(length) AS length FROM word_totals
  WHERE %(scopes)s::text[] IS NULL OR scope = ANY(%(scopes)s) GROUP BY language HAVING sum(memories) > 0
),
words AS MATERIALIZED (
  SELECT DISTINCT unnest(tsvector_to_array(hopgate_tsvector(language, %(query)s, true))) AS lexeme FROM totals
),
held AS (
  SELECT lexeme, counted.memories FROM words, LATERAL (
    SELECT coalesce(sum(memories), 0)::bigint AS memories FROM (
      SELECT memories, scope FROM word_counts WHERE word = hashtextextended(lexeme, 0)
      UNION ALL SELECT memories, scope FROM word_changes WHERE word = hashtextextended(lexeme, 0)
    ) AS both_tables WHERE %(scopes)s::text[] IS NULL OR scope = ANY(%(scopes)s)
  ) AS counted
)
SELECT (SELECT sum(memories) FROM totals)::bigint, (SELECT sum(length) FROM totals)::float8,
  (SELECT string_agg(nullif(plainto_tsquery(language::regconfig, %(query)s)::text, ''), ' | ') FROM totals),
  (SELECT array_agg(lexeme ORDER BY memories, lexeme COLLATE "C") FROM held),
  (SELECT array_agg(memories ORDER BY memories, lexeme COLLATE "C") FROM held)
"""


@dataclass(frozen=True, slots=True)
class QueryWords:
    """A query's words that some memory holds, rarest first.

    Parameters
    ----------
    memories : int
        How many memories there are in the scopes asked.
    mean_length : float
        How many words these have on average.
    every : str
        A tsquery that finds the memories with every word of the query, in one of the languages.
    lexemes : tuple of str
        The words as `search_vector` has them.
    held_by : tuple of int
        For each how many memories hold it.
    unknown : tuple of str
        The query's words that no memory holds.

    Examples
    --------
    >>> QueryWords(2, 3.0, "'it' & 'hum'", ("it's",), (1,)).any_of(0, 1)
    "'it''s'"
    """

    memories: int
    mean_length: float
    every: str
    lexemes: tuple[str, ...]
    held_by: tuple[int, ...]
    unknown: tuple[str, ...] = ()

    def any_of(self, start: int, stop: int) -> str:
        """A tsquery that finds the memories with any of the words from `start` up to `stop`."""
        return " | ".join(quoted_lexeme(lexeme) for lexeme in self.lexemes[start:stop])


def query_words(connection: Connection[Any], query: str, filters: Filters) -> QueryWords:
    """Look up a query's words; without memories in the scopes asked there are none."""
    row = connection.execute(_WORDS, {"query": query, "scopes": filters.scopes}).fetchone()
    assert row is not None
    memories, length, every, lexemes, held_by = row
    counted = list(zip(lexemes or (), held_by or (), strict=True))
    known = [(lexeme, count) for lexeme, count in counted if count > 0][:MAX_WORDS]
    return QueryWords(
        memories or 0,
        (length or 0.0) / memories if memories else 0.0,
        every or "",
        tuple(lexeme for lexeme, _ in known),
        tuple(count for _, count in known),
        tuple(lexeme for lexeme, count in counted if count <= 0),
    )


def quoted_lexeme(lexeme: str) -> str:
    r"""A lexeme as a tsquery.

    Examples
    --------
    >>> print(quoted_lexeme("c:\\it's"))
    'c:\\it''s'
    """
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"
