"""The lexical leg: PostgreSQL full-text search, every word first, any word when that finds too few."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hopgate.recall.filters import Filters

if TYPE_CHECKING:
    from psycopg import Connection

# A row found by any word must clear this rank. One word in the content of a query of sixty still does (0.6 / 60); one
# word in the category alone of a query of seven does not.
MIN_RANK = 0.01

_SEARCH = """
SELECT id, ts_rank(search_vector, query)::float8 AS score
FROM memories, (SELECT {query} AS query) AS asked
WHERE search_vector @@ query AND {filters}
ORDER BY score DESC, id LIMIT %(depth)s
"""
_ALL = "plainto_tsquery('english', %(query)s)"
# plainto_tsquery has parsed and quoted the words; only the operator between them changes.
_ANY = "replace(plainto_tsquery('english', %(query)s)::text, ' & ', ' | ')::tsquery"


def lexical_leg(
    connection: Connection[Any], query: str, filters: Filters, *, depth: int = 50, min_rank: float = MIN_RANK
) -> list[tuple[int, float]]:
    """Rank memories by their words.

    Memories with every word of the query come first. When they do not fill the leg, memories with any of its words
    follow if they clear `min_rank`; their scores are capped at the last one's above, so that the order and the scores
    agree.
    """
    condition, parameters = filters.sql()
    values = {**parameters, "query": query, "depth": depth}
    hits: list[tuple[int, float]] = connection.execute(_SEARCH.format(query=_ALL, filters=condition), values).fetchall()
    if len(hits) >= depth:
        return hits
    found = {key for key, _ in hits}
    ceiling = hits[-1][1] if hits else float("inf")
    broadened = connection.execute(
        _SEARCH.format(query=_ANY, filters=condition), values | {"depth": depth + len(found)}
    ).fetchall()
    more = [(key, min(score, ceiling)) for key, score in broadened if key not in found and score >= min_rank]
    return (hits + more)[:depth]
