"""The lexical leg: memories by their words, ranked by BM25 or by PostgreSQL's own ts_rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from hopgate.errors import HopgateError
from hopgate.recall.filters import Filters
from hopgate.recall.legs.bm25 import scored, with_bm25
from hopgate.recall.legs.query_words import QueryWords, query_words
from hopgate.recall.legs.ts_rank import MIN_RANK, ranked_by_ts_rank, with_ts_rank
from hopgate.store.memories import in_scopes

if TYPE_CHECKING:
    from psycopg import Connection

LexicalRanker = Literal["bm25", "ts_rank"]
RANKERS: tuple[LexicalRanker, ...] = get_args(LexicalRanker)
# Recall@10 on test of musique, 2wiki and locomo: .589, .794, .607, where ts_rank has .411, .691, .603
# (docs/research/lexical.md).
DEFAULT_RANKER: LexicalRanker = "bm25"


def check_ranker(ranker: object) -> None:
    """Refuse what is no lexical ranker."""
    if ranker not in RANKERS:
        raise HopgateError(f"lexical_ranker is one of {', '.join(RANKERS)}, not {ranker!r}")


def lexical_leg(
    connection: Connection[Any],
    query: str,
    filters: Filters,
    *,
    depth: int = 50,
    ranker: LexicalRanker = DEFAULT_RANKER,
    min_rank: float = MIN_RANK,
    words: QueryWords | None = None,
) -> list[tuple[int, float]]:
    """Rank memories by their words, best first; scores never rise, and equal ones are in the order of ids.

    Parameters
    ----------
    words : QueryWords, optional
        The query's words, where they were looked up already; the statement is written for just these.
    ranker : {"bm25", "ts_rank"}
        BM25 counts any word of the query, the rarer the more, and less in a long memory. ts_rank takes memories with
        every word first; when they do not fill the leg, those with any word follow if they clear `min_rank`, with
        scores capped at the last one's above, so that the order and the scores agree.
    """
    check_ranker(ranker)
    words = words or query_words(connection, query, filters)
    if not words.lexemes:
        return []
    if ranker == "bm25":
        tables, values = with_bm25(connection, words, filters, depth)
    else:
        tables, values = with_ts_rank(words, filters, depth, min_rank)
    hits: list[tuple[int, float]] = connection.execute(
        f"WITH {tables} SELECT id, score FROM lexical ORDER BY rank", values
    ).fetchall()
    return hits


def lexical_scores(
    connection: Connection[Any],
    query: str,
    ids: Sequence[int],
    filters: Filters | None = None,
    *,
    ranker: LexicalRanker = DEFAULT_RANKER,
    words: QueryWords | None = None,
) -> dict[int, float]:
    """The real score of given memories, whether or not the leg lists them; 0 where no word matches.

    Parameters
    ----------
    filters : Filters, optional
        Words are counted in its scope, as `lexical_leg` does; the memories are of it, and nothing else is filtered.
    ranker : {"bm25", "ts_rank"}
        BM25's scores are those of the leg; those of ts_rank are of any word, without the leg's cap.
    words : QueryWords, optional
        The query's words, where they were looked up already.
    """
    check_ranker(ranker)
    words = words or query_words(connection, query, filters or Filters())
    if not ids or not words.lexemes:
        return dict.fromkeys(ids, 0.0)
    scopes = filters.scopes if filters else None
    statement, values = _scored(words, ranker, f"id = ANY(%(ids)s::bigint[]){in_scopes(scopes)}")
    found = dict(connection.execute(statement, {**values, "ids": list(ids), "scopes": scopes}).fetchall())
    return {key: found.get(key, 0.0) for key in ids}


def _scored(words: QueryWords, ranker: LexicalRanker, condition: str) -> tuple[str, dict[str, Any]]:
    return scored(words, condition) if ranker == "bm25" else ranked_by_ts_rank(words, condition)
