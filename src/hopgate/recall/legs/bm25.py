"""BM25 in SQL over `search_vector`, which holds how often a memory says a word and how long it is.

Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009. How many memories hold a word, how
many there are and their mean length is counted by the store (migration 0004).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hopgate.recall.legs.query_words import QueryWords, quoted_lexeme

# The textbook's values: on dev and test of musique, 2wiki and locomo none is better in all (docs/research/lexical.md).
K1 = 1.2
B = 0.75
# The rarest words are looked at first, until their lists are so many times as long as the leg is deep. What the next
# words could add is then known to be too little, or they are looked at as well.
FIRST_LOOK = 40

# ts_rank of one word that stands n times, all weights 1, is (1 + 1/4 + … + 1/n²) · 6/π². What is missing to 1 is about
# 1 / (n + 1/2): the nearest whole number is n for every n that a tsvector can hold (up to 255, and 0).
_COUNT = "round(1 / (1.6449341 - 1.64493406685 * ts_rank('{{1,1,1,1}}', v, %({name})s::tsquery)) - 0.5)"


def idf(memories: int, held_by: int) -> float:
    """How much a word says: more, the fewer memories hold it, and never less than nothing.

    Examples
    --------
    >>> round(idf(1000, 10), 3), round(idf(10, 10), 3)
    (4.557, 0.047)
    """
    return math.log(1 + (memories - held_by + 0.5) / (held_by + 0.5))


def scored(words: QueryWords, condition: str) -> tuple[str, dict[str, Any]]:
    """A subquery that gives each memory under the condition its score, and its parameters.

    The lengths' part is computed once a row, below an `OFFSET 0` that keeps it from being written out for each word; and
    there a vector is unpacked, which each ts_rank would otherwise do again.
    """
    values: dict[str, Any] = {"mean_length": words.mean_length or 1.0}
    parts = []
    for number, (lexeme, held_by) in enumerate(zip(words.lexemes, words.held_by, strict=True)):
        values[f"word_{number}"] = quoted_lexeme(lexeme)
        values[f"idf_{number}"] = (K1 + 1) * idf(words.memories, held_by)
        count = _COUNT.format(name=f"word_{number}")
        parts.append(f"(%(idf_{number})s::float8 * (1 - norm / (norm + {count})))")
    norm = f"{K1} * ({1 - B} + {B} * hopgate_length(search_vector) / %(mean_length)s::float8)"
    rows = (
        f"SELECT id, search_vector || ''::tsvector AS v, {norm} AS norm FROM memories WHERE {condition} OFFSET 0"
    )
    return f"SELECT id, {_sum(parts)} AS score FROM ({rows}) AS candidates", values


def with_bm25(words: QueryWords, condition: str, depth: int) -> tuple[str, dict[str, Any]]:
    """The common table expressions that end in `lexical` (id, score, rank), and their parameters.

    Exact, by MaxScore (Turtle and Flood, 1995): a word adds less than (k1 + 1) · idf. Memories that hold none of the
    words looked at first cannot reach the top when what the others could add together is below the last score in it; else
    only so many of the others are looked for, rarest first, that the rest is.
    """
    bounds = [(K1 + 1) * idf(words.memories, held_by) for held_by in words.held_by]
    first, listed = 0, 0
    while first < len(words.lexemes) and listed < FIRST_LOOK * depth:
        listed += words.held_by[first]
        first += 1
    stops = range(first, len(words.lexemes) + 1)
    values: dict[str, Any] = {
        "first_look": words.any_of(0, first) or None,
        # What is left when the words up to here are looked for; after the last one nothing is, whatever the bar.
        "looks": [words.any_of(first, stop) or None for stop in stops],
        "left": [sum(bounds[stop:]) if stop < len(bounds) else -1.0 for stop in stops],
        "depth": depth,
    }
    near, parameters = scored(words, f"search_vector @@ %(first_look)s::tsquery AND {condition}")
    far, _ = scored(
        words,
        "search_vector @@ (SELECT look::tsquery FROM unnest(%(looks)s::text[], %(left)s::float8[]) AS t (look, rest), bar "
        "WHERE rest < bar.score ORDER BY rest DESC LIMIT 1) "
        f"AND NOT search_vector @@ %(first_look)s::tsquery AND {condition}",
    )
    tables = f"""
near AS MATERIALIZED ({near}),
bar AS MATERIALIZED (
  SELECT coalesce((SELECT score FROM near ORDER BY score DESC LIMIT 1 OFFSET %(depth)s - 1), 0) AS score
),
far AS MATERIALIZED ({far}),
lexical AS MATERIALIZED (
  SELECT id, score, row_number() OVER (ORDER BY score DESC, id) AS rank
  FROM (SELECT id, score FROM near UNION ALL SELECT id, score FROM far) AS found WHERE score > 0
  ORDER BY rank LIMIT %(depth)s
)
"""
    return tables, parameters | values


def _sum(parts: Sequence[str]) -> str:
    """Add, two by two, so that the expression does not nest as deep as the query is long."""
    if len(parts) < 2:
        return parts[0] if parts else "0::float8"
    half = len(parts) // 2
    return f"({_sum(parts[:half])} + {_sum(parts[half:])})"
