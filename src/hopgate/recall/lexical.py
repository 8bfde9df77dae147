"""The lexical leg: memories by their words, ranked by BM25 or by PostgreSQL's own ts_rank; and exact matches.

BM25 is exact, and yet most memories with a common word are never looked at, by MaxScore (Turtle and Flood, 1995).
`search_vector` holds how often a memory says a word and how long it is; how many memories hold a word, how many there
are and their mean length is counted by the store.
"""

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hopgate.recall.filters import Filters
from hopgate.store import memories, rows
from hopgate.store.memories import in_scopes
from hopgate.store.rows import Connection

Leg = list[tuple[int, float]]
LexicalRanker = Literal["bm25", "ts_rank"]
# Recall@10 on test of musique, 2wiki and locomo: .589, .794, .607, where ts_rank has .411, .691, .603.
DEFAULT_RANKER: LexicalRanker = "bm25"

# A longer query is looked for by its rarest words. The top of a leg hardly depends on the others, and each costs a look
# at every candidate.
MAX_WORDS = 128
# BM25 with the textbook's values: on dev and test of musique, 2wiki and locomo none is better in all.
K1 = 1.2
B = 0.75
# The rarest words are looked at first, until their lists are so many times as long as the leg is deep. What the next
# words could add is then known to be too little, or they are looked at as well.
FIRST_LOOK = 20
# How many terms a query to the index may be made of.
MAX_LOOKS = 400
# A row that ts_rank finds by any word must clear this rank. One word in the content of a query of sixty still does
# (0.6 / 60); one word in the category alone of a query of seven does not.
MIN_RANK = 0.01
# A word that more memories hold than the usual top k has places for does not point at one of them: no exact match.
# Longer queries are looked at so far: each word costs a look into the index.
RARE, MAX_RARE_WORDS = 10, 32

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
# ts_rank of one word that stands n times, all weights 1, is (1 + 1/4 + … + 1/n²) · 6/π². What is missing to 1 is about
# 1 / (n + 1/2): the nearest whole number is n for every n that a tsvector can hold (up to 255, and 0).
_COUNT = "round(1 / (1.6449341 - 1.64493406685 * ts_rank('{{1,1,1,1}}', v, %({name})s::tsquery)) - 0.5)"
# Both steps in one statement. A limit of 0 keeps the second from being run at all; it needs no more than `depth` rows,
# because those it shares with the first are among them. ts_rank costs more than all the rest: no condition on the
# score may sit beside it, or it would be computed twice for each row.
_TS_RANK = """
WITH every_word AS MATERIALIZED (
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
)
SELECT id, score FROM both_steps ORDER BY step, own DESC, id LIMIT %(depth)s
"""
_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”')
# What is joined by a sign is one word: E-4012, 10.0.0.7, a/b.
_WORD = re.compile(r"\w+(?:[.:/@#+-]+\w+)*")
_RARE = """
SELECT word FROM unnest(%(words)s::text[]) AS word, LATERAL (
  SELECT count(*) AS found FROM (
    SELECT FROM memories WHERE search_vector @@ plainto_tsquery(hopgate_language()::regconfig, word) LIMIT %(most)s + 1
  ) AS holding
) AS counted WHERE found BETWEEN 1 AND %(most)s
"""


@dataclass(frozen=True, slots=True)
class QueryWords:
    """A query's words as the store knows them, in each of its languages: those that some memory holds, rarest first."""

    memories: int  # how many there are in the scopes asked
    mean_length: float  # how many words these have on average
    every: str  # a tsquery that finds the memories with every word of the query, in one of the languages
    lexemes: tuple[str, ...]  # the words as `search_vector` has them
    held_by: tuple[int, ...]  # for each how many memories hold it
    unknown: tuple[str, ...] = ()  # the query's words that no memory holds

    def any_of(self, start: int, stop: int) -> str:
        """A tsquery that finds the memories with any of the words from `start` up to `stop`."""
        return " | ".join(quoted_lexeme(lexeme) for lexeme in self.lexemes[start:stop])


def query_words(connection: Connection, query: str, filters: Filters) -> QueryWords:
    """Look up a query's words; without memories in the scopes asked there are none."""
    row = connection.execute(_WORDS, {"query": query, "scopes": filters.scopes}).fetchone()
    assert row is not None
    count, length, every, lexemes, held_by = row
    counted = list(zip(lexemes or (), held_by or (), strict=True))
    known = [(lexeme, held) for lexeme, held in counted if held > 0][:MAX_WORDS]
    return QueryWords(
        count or 0,
        (length or 0.0) / count if count else 0.0,
        every or "",
        tuple(lexeme for lexeme, _ in known),
        tuple(held for _, held in known),
        tuple(lexeme for lexeme, held in counted if held <= 0),
    )


def quoted_lexeme(lexeme: str) -> str:
    """A lexeme as a tsquery."""
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"


def lexical_leg(
    connection: Connection,
    words: QueryWords,
    filters: Filters,
    *,
    depth: int = 50,
    ranker: LexicalRanker = DEFAULT_RANKER,
    min_rank: float = MIN_RANK,
) -> Leg:
    """Rank memories by their words, best first; scores never rise, and equal ones are in the order of ids.

    Parameters
    ----------
    words : QueryWords
        The query's, looked up with the same filters; the statement is written for just these.
    ranker : {"bm25", "ts_rank"}
        BM25 counts any word of the query, the rarer the more, and less in a long memory. ts_rank takes memories with
        every word first; when they do not fill the leg, those with any word follow if they clear `min_rank`, with
        scores capped at the last one's above, so that the order and the scores agree.
    """
    if not words.lexemes:
        return []
    if ranker == "bm25":
        return _by_bm25(connection, words, filters, depth)
    condition, parameters = filters.sql()
    asked = {"every_word": words.every or None, "any_word": _any_word(words), "depth": depth, "min_rank": min_rank}
    return connection.execute(_TS_RANK.format(filters=condition), {**parameters, **asked}).fetchall()


def lexical_scores(
    connection: Connection,
    words: QueryWords,
    ids: Sequence[int],
    scopes: Sequence[str] | None = None,
    *,
    ranker: LexicalRanker = DEFAULT_RANKER,
) -> dict[int, float]:
    """The real score of given memories of these scopes, whether or not the leg lists them; 0 where no word matches.

    BM25's scores are those of the leg; those of ts_rank are of any word, without the leg's cap.
    """
    if not ids or not words.lexemes:
        return dict.fromkeys(ids, 0.0)
    condition = f"id = ANY(%(ids)s::bigint[]){in_scopes(scopes)}"
    values: dict[str, Any]
    if ranker == "bm25":
        statement, values = _bm25_scores(words, condition)
    else:
        statement = f"SELECT id, ts_rank(search_vector, %(any_word)s::tsquery)::float8 FROM memories WHERE {condition}"
        values = {"any_word": _any_word(words)}
    found = dict(connection.execute(statement, {**values, "ids": list(ids), "scopes": scopes}).fetchall())
    return {key: found.get(key, 0.0) for key in ids}


# Exact matches.


def exact_matches(connection: Connection, query: str, ids: Sequence[int]) -> set[int]:
    """Give those of the memories that hold every phrase that a query quotes, or all its rare words if it quotes none.

    Texts are read only where the query may match one.
    """
    phrases = quoted(query) or rare_words(connection, query)
    known = memories.fetch_by_id(connection, ids) if phrases else {}
    return {key for key, memory in known.items() if holds_all(memory.content, phrases)}


def rare_words(connection: Connection, query: str) -> list[str]:
    """Give the query's words that few memories hold.

    A word that no memory holds is not among them: a slip of the pen must not cost the bonus.
    """
    words = list(dict.fromkeys(_WORD.findall(query)))[:MAX_RARE_WORDS]
    return rows.values(connection, _RARE, {"words": words, "most": RARE})


def quoted(query: str) -> list[str]:
    """Give the phrases a query puts in double quotes."""
    phrases = (straight or curly for straight, curly in _QUOTED.findall(query))
    return [phrase.strip() for phrase in phrases if phrase.strip()]


def holds_all(content: str, phrases: Collection[str]) -> bool:
    """Tell whether a text holds every phrase, as whole words; case and white space do not count."""
    words = (r"\s+".join(map(re.escape, phrase.split())) for phrase in phrases)
    return all(re.search(rf"(?<!\w){pattern}(?!\w)", content, re.IGNORECASE) for pattern in words)


# BM25.


def idf(count: int, held_by: int) -> float:
    """How much a word says: more, the fewer memories hold it, and never less than nothing."""
    return math.log(1 + (count - held_by + 0.5) / (held_by + 0.5))


def _by_bm25(connection: Connection, words: QueryWords, filters: Filters, depth: int) -> Leg:
    """Score the memories with the rarest words; then ask the index only for others that hold enough words to pass.

    A word adds less than (k1 + 1) · idf, so that the last place's score among the first is a bar for the others.
    """
    condition, parameters = filters.sql()
    first, listed = 0, 0
    while first < len(words.lexemes) and listed < FIRST_LOOK * depth:
        listed += words.held_by[first]
        first += 1
    look = words.any_of(0, first)
    statement, values = _bm25_scores(words, f"search_vector @@ %(look)s::tsquery AND {condition}")
    values = {**parameters, **values, "depth": depth}
    if first < len(words.lexemes):
        row = connection.execute(
            f"{statement} ORDER BY score DESC LIMIT 1 OFFSET %(depth)s - 1", {**values, "look": look}
        ).fetchone()
        bounds = [(K1 + 1) * idf(words.memories, held_by) for held_by in words.held_by[first:]]
        common = holding_enough([quoted_lexeme(word) for word in words.lexemes[first:]], bounds, row[1] if row else 0.0)
        look = f"{look} | {common}" if common else look
    return connection.execute(
        f"{statement} ORDER BY score DESC, id LIMIT %(depth)s", {**values, "look": look}
    ).fetchall()


def _bm25_scores(words: QueryWords, condition: str) -> tuple[str, dict[str, Any]]:
    """A statement that gives each memory under the condition its score, and its parameters.

    The lengths' part is computed once a row, below an `OFFSET 0` that keeps it from being written out for each word;
    and there a vector is unpacked, which each ts_rank would otherwise do again.
    """
    values: dict[str, Any] = {"mean_length": words.mean_length or 1.0}
    parts = []
    for place, (lexeme, held_by) in enumerate(zip(words.lexemes, words.held_by, strict=True)):
        values[f"word_{place}"] = quoted_lexeme(lexeme)
        values[f"idf_{place}"] = (K1 + 1) * idf(words.memories, held_by)
        parts.append(f"(%(idf_{place})s::float8 * (1 - norm / (norm + {_COUNT.format(name=f'word_{place}')})))")
    norm = f"{K1} * ({1 - B} + {B} * hopgate_length(search_vector) / %(mean_length)s::float8)"
    found = f"SELECT id, search_vector || ''::tsvector AS v, {norm} AS norm FROM memories WHERE {condition} OFFSET 0"
    return f"SELECT id, {' + '.join(parts)} AS score FROM ({found}) AS candidates", values


def holding_enough(terms: Sequence[str], bounds: Sequence[float], bar: float) -> str:
    """A tsquery for the memories that hold so many of the terms that their bounds together reach the bar; "" for none.

    Where that would be too long, it asks for fewer terms and finds more memories, never fewer.
    """
    # What the terms from each on could add together.
    left = [sum(bounds[start:]) for start in range(len(bounds) + 1)]
    size = 0

    def looks(start: int, needed: float, most: int) -> str:
        nonlocal size
        options = []
        for place in range(start, len(terms)):
            if left[place] < needed or size > MAX_LOOKS:
                break
            size += 1
            rest = needed - bounds[place]
            if rest <= 0 or most == 1:
                options.append(terms[place])
            elif further := looks(place + 1, rest, most - 1):
                options.append(f"({terms[place]} & {further})")
        joined = " | ".join(options)
        return f"({joined})" if len(options) > 1 and start else joined

    for most in (4, 3, 2, 1):
        size = 0
        found = looks(0, bar, most)
        if size <= MAX_LOOKS:
            break
    return found


def _any_word(words: QueryWords) -> str:
    """The unknown words as well: ts_rank divides by how many were asked for."""
    return " | ".join(map(quoted_lexeme, (*words.lexemes, *words.unknown)))
