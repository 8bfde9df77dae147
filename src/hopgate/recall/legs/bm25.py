"""BM25 in SQL over `search_vector`, which holds how often a memory says a word and how long it is.

Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009. How many memories hold a word, how
many there are and their mean length is counted by the store (migration 0004).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hopgate.recall.legs.query_words import QueryWords, quoted_lexeme

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.recall.filters import Filters

# The textbook's values: on dev and test of musique, 2wiki and locomo none is better in all (docs/research/lexical.md).
K1 = 1.2
B = 0.75
# The rarest words are looked at first, until their lists are so many times as long as the leg is deep. What the next
# words could add is then known to be too little, or they are looked at as well.
FIRST_LOOK = 20

# How many terms a query to the index may be made of.
MAX_LOOKS = 400

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

    The lengths' part is computed once a row, below an `OFFSET 0` that keeps it from being written out for each word;
    and there a vector is unpacked, which each ts_rank would otherwise do again.
    """
    values: dict[str, Any] = {"mean_length": words.mean_length or 1.0}
    parts = []
    for number, (lexeme, held_by) in enumerate(zip(words.lexemes, words.held_by, strict=True)):
        values[f"word_{number}"] = quoted_lexeme(lexeme)
        values[f"idf_{number}"] = (K1 + 1) * idf(words.memories, held_by)
        count = _COUNT.format(name=f"word_{number}")
        parts.append(f"(%(idf_{number})s::float8 * (1 - norm / (norm + {count})))")
    norm = f"{K1} * ({1 - B} + {B} * hopgate_length(search_vector) / %(mean_length)s::float8)"
    rows = f"SELECT id, search_vector || ''::tsvector AS v, {norm} AS norm FROM memories WHERE {condition} OFFSET 0"
    return f"SELECT id, {_sum(parts)} AS score FROM ({rows}) AS candidates", values


def with_bm25(
    connection: Connection[Any], words: QueryWords, filters: Filters, depth: int
) -> tuple[str, dict[str, Any]]:
    """The common table expressions that end in `lexical` (id, score, rank), and their parameters.

    Exact, and yet most memories with a common word are never looked at, by MaxScore (Turtle and Flood, 1995): a word
    adds less than (k1 + 1) · idf. The memories with the rarest words are scored first; the last place's score among
    them is a bar that the others have to pass, and the index is asked only for those that hold enough words to.
    """
    condition, parameters = filters.sql()
    first, listed = 0, 0
    while first < len(words.lexemes) and listed < FIRST_LOOK * depth:
        listed += words.held_by[first]
        first += 1
    rare = words.any_of(0, first)
    bounds = [(K1 + 1) * idf(words.memories, held_by) for held_by in words.held_by]
    bar = 0.0
    if first < len(words.lexemes):
        statement, values = scored(words, f"search_vector @@ %(look)s::tsquery AND {condition}")
        row = connection.execute(
            f"{statement} ORDER BY score DESC LIMIT 1 OFFSET %(depth)s - 1",
            {**parameters, **values, "look": rare, "depth": depth},
        ).fetchone()
        bar = row[1] if row else 0.0
    common = holding_enough([quoted_lexeme(one) for one in words.lexemes[first:]], bounds[first:], bar)
    statement, values = scored(words, f"search_vector @@ %(look)s::tsquery AND {condition}")
    tables = f"""
scored AS ({statement} ORDER BY score DESC, id LIMIT %(depth)s),
lexical AS MATERIALIZED (SELECT id, score, row_number() OVER (ORDER BY score DESC, id) AS rank FROM scored)
"""
    return tables, {**parameters, **values, "look": f"{rare} | {common}" if common else rare, "depth": depth}


def holding_enough(terms: Sequence[str], bounds: Sequence[float], bar: float) -> str:
    """A tsquery for the memories that hold so many of the terms that their bounds together reach the bar; "" for none.

    Where that would be too long, it asks for fewer terms and finds more memories, never fewer.

    Examples
    --------
    >>> holding_enough(["a", "b", "c"], [3.0, 2.0, 2.0], 4.5)
    '(a & (b | c))'
    >>> holding_enough(["a", "b", "c"], [3.0, 2.0, 2.0], 8.0)
    ''
    """
    left = [0.0]
    for bound in reversed(bounds):
        left.append(left[-1] + bound)
    left.reverse()  # left[i]: what the terms from i on could add together
    size = 0

    def looks(start: int, needed: float, most: int) -> str:
        nonlocal size
        options = []
        for number in range(start, len(terms)):
            if left[number] < needed or size > MAX_LOOKS:
                break
            size += 1
            rest = needed - bounds[number]
            if rest <= 0 or most == 1:
                options.append(terms[number])
            elif further := looks(number + 1, rest, most - 1):
                options.append(f"({terms[number]} & {further})")
        joined = " | ".join(options)
        return f"({joined})" if len(options) > 1 and start else joined

    for most in (4, 3, 2, 1):
        size = 0
        found = looks(0, bar, most)
        if size <= MAX_LOOKS or most == 1:
            return found
    return ""


def _sum(parts: Sequence[str]) -> str:
    """Add, two by two, so that the expression does not nest as deep as the query is long."""
    if len(parts) < 2:
        return parts[0] if parts else "0::float8"
    half = len(parts) // 2
    return f"({_sum(parts[:half])} + {_sum(parts[half:])})"
