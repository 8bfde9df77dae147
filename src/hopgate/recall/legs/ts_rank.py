"""PostgreSQL's own ranking: every word first, any word when that finds too few."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hopgate.recall.legs.query_words import QueryWords, quoted_lexeme

if TYPE_CHECKING:
    from hopgate.recall.filters import Filters

# A row found by any word must clear this rank. One word in the content of a query of sixty still does (0.6 / 60); one
# word in the category alone of a query of seven does not.
MIN_RANK = 0.01

# Both steps in one statement. A limit of 0 keeps the second from being run at all; it needs no more than `depth` rows,
# because those it shares with the first are among them. ts_rank costs more than all the rest: no condition on the
# score may sit beside it, or it would be computed twice for each row.
_TABLES = """
every_word AS MATERIALIZED (
  SELECT id, ts_rank(search_vector, %(every_word)s::tsquery)::float8 AS score FROM memories
  WHERE search_vector @@ %(every_word)s::tsquery AND {filters} ORDER BY score DESC, id LIMIT %(depth)s
),
any_word AS MATERIALIZED (
  SELECT id, ts_rank(search_vector, %(any_word)s::tsquery)::float8 AS score FROM memories
  WHERE search_vector @@ %(any_word)s::tsquery AND {filters} ORDER BY score DESC, id
  LIMIT (SELECT CASE WHEN count(*) < %(depth)s THEN %(depth)s ELSE 0 END FROM every_word)
),
both_steps AS (
  SELECT 1 AS step, id, score, score AS own FROM every_word
  UNION ALL
  SELECT 2, id, least(score, (SELECT min(score) FROM every_word)), score FROM any_word
  WHERE score >= %(min_rank)s AND id NOT IN (SELECT id FROM every_word)
),
lexical AS MATERIALIZED (
  SELECT id, score, row_number() OVER (ORDER BY step, own DESC, id) AS rank
  FROM both_steps ORDER BY rank LIMIT %(depth)s
)
"""


def with_ts_rank(words: QueryWords, filters: Filters, depth: int, min_rank: float) -> tuple[str, dict[str, Any]]:
    """The common table expressions that end in `lexical` (id, score, rank), and their parameters."""
    condition, parameters = filters.sql()
    values = {
        **parameters,
        "every_word": words.every or None,
        "any_word": _any_word(words),
        "depth": depth,
        "min_rank": min_rank,
    }
    return _TABLES.format(filters=condition), values


def ranked_by_ts_rank(words: QueryWords, condition: str) -> tuple[str, dict[str, Any]]:
    """A subquery that gives each memory under the condition its rank by any word, and its parameters."""
    return (
        f"SELECT id, ts_rank(search_vector, %(any_word)s::tsquery)::float8 AS score FROM memories WHERE {condition}",
        {"any_word": _any_word(words)},
    )


def _any_word(words: QueryWords) -> str:
    """The unknown words as well: ts_rank divides by how many were asked for."""
    return " | ".join(map(quoted_lexeme, (*words.lexemes, *words.unknown)))
