"""The lexical leg: PostgreSQL full-text search, every word first, any word when that finds too few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hopgate.recall.filters import Filters

if TYPE_CHECKING:
    from psycopg import Connection

# A row found by any word must clear this rank. One word in the content of a query of sixty still does (0.6 / 60); one
# word in the category alone of a query of seven does not.
MIN_RANK = 0.01

_ALL = "plainto_tsquery('english', %(query)s)"
# plainto_tsquery has parsed and quoted the words; only the operator between them changes.
_ANY = "replace(plainto_tsquery('english', %(query)s)::text, ' & ', ' | ')::tsquery"

# Both steps in one statement. A limit of 0 keeps the second from being run at all; it needs no more than `depth` rows,
# because those it shares with the first are among them. ts_rank costs more than all the rest: no condition on the
# score may sit beside it, or it would be computed twice for each row.
_WITH_LEXICAL = f"""
every_word AS MATERIALIZED (
  SELECT id, ts_rank(search_vector, {_ALL})::float8 AS score FROM memories
  WHERE search_vector @@ {_ALL} AND {{filters}} ORDER BY score DESC, id LIMIT %(depth)s
),
any_word AS MATERIALIZED (
  SELECT id, ts_rank(search_vector, {_ANY})::float8 AS score FROM memories
  WHERE search_vector @@ {_ANY} AND {{filters}} ORDER BY score DESC, id
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


_SCORES = f"""
SELECT id, CASE WHEN search_vector @@ {_ALL} THEN ts_rank(search_vector, {_ALL})
  WHEN search_vector @@ {_ANY} THEN ts_rank(search_vector, {_ANY}) ELSE 0 END::float8
FROM memories WHERE id = ANY(%(ids)s)
"""


def lexical_scores(connection: Connection[Any], query: str, ids: Sequence[int]) -> dict[int, float]:
    """Give each memory's score for the query's words; 0 where it has none of them."""
    return dict(connection.execute(_SCORES, {"query": query, "ids": list(ids)}).fetchall())


def lexical_leg(
    connection: Connection[Any], query: str, filters: Filters, *, depth: int = 50, min_rank: float = MIN_RANK
) -> list[tuple[int, float]]:
    """Rank memories by their words.

    Memories with every word of the query come first. When they do not fill the leg, memories with any of its words
    follow if they clear `min_rank`; their scores are capped at the last one's above, so that the order and the scores
    agree.
    """
    condition, parameters = filters.sql()
    statement = f"WITH {_WITH_LEXICAL.format(filters=condition)} SELECT id, score FROM lexical ORDER BY rank"
    values = {**parameters, "query": query, "depth": depth, "min_rank": min_rank}
    hits: list[tuple[int, float]] = connection.execute(statement, values).fetchall()
    return hits
