"""The dense leg: cosine similarity of vectors, exact or by HNSW."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hopgate.errors import HopgateError
from hopgate.memory import Memory
from hopgate.passages import Extent, is_long
from hopgate.recall.filters import Filters
from hopgate.store import vectors
from hopgate.store.memories import count_from_words, in_scopes
from hopgate.store.rows import Connection
from hopgate.store.vectors import to_sql

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
# The distance of a row of `memories`: the best of its passages speaks for it, or its own vector where that is better.
BEST_DISTANCE = (
    "least(memories.embedding <=> %(vector)s::halfvec, (SELECT min(passages.embedding <=> %(vector)s::halfvec) "
    "FROM passages WHERE passages.memory_id = memories.id))"
)
_WHOLE = """
  SELECT id, {distance} AS distance FROM memories
  WHERE embedding IS NOT NULL AND NOT is_sensitive AND {filters} ORDER BY distance{tie} LIMIT %(depth)s
"""
_BEST_FIRST = "SELECT id, 1 - distance AS score FROM nearest ORDER BY score DESC, id"
_OF_PASSAGES = f"""
WITH whole AS MATERIALIZED ({{whole}}), part AS MATERIALIZED ({{part}}), nearest AS MATERIALIZED (
  SELECT id, {BEST_DISTANCE} AS distance FROM memories
  WHERE id IN (SELECT id FROM whole UNION SELECT id FROM part) AND {{filters}} ORDER BY distance, id LIMIT %(depth)s
)
{_BEST_FIRST}
"""
_PASSAGES = (
    "FROM passages JOIN memories ON id = memory_id "
    "WHERE passages.embedding IS NOT NULL AND NOT is_sensitive AND {filters}"
)
_EVERY_PASSAGE = f"""
  SELECT id, min((passages.embedding <=> %(vector)s::halfvec) + 0) AS distance {_PASSAGES}
  GROUP BY id ORDER BY distance, id LIMIT %(depth)s
"""
# A few of one memory's passages may be near: the index is asked for as many as a search may return.
_PASSAGES_BY_INDEX = f"""
  SELECT id, passages.embedding <=> %(vector)s::halfvec AS distance {_PASSAGES}
  ORDER BY distance LIMIT 4 * %(depth)s
"""
_BY_INDEX = {"distance": "embedding <=> %(vector)s::halfvec", "tie": ""}
# `+ 0` keeps the planner off the HNSW index: the sum is the same distance, but not the expression that is indexed.
_EXACT = {"distance": "(embedding <=> %(vector)s::halfvec) + 0", "tie": ", id"}


def dense_leg(
    connection: Connection,
    vector: NDArray[np.float32],
    filters: Filters,
    *,
    depth: int = 50,
    exact: bool,
    passages: bool = True,
) -> list[tuple[int, float]]:
    """Rank memories by the cosine of their vector, or of the best of their passages, and the query's.

    With `exact` every vector is compared, so that approximate search never blurs an ablation; and so it is within
    scopes of less than 20,000 memories, and where fields leave so few: an index over all finds few of them. Otherwise
    the HNSW index is asked; where it gives up before the filters are satisfied (it visits `hnsw.max_scan_tuples` at
    most), every vector that they let through is compared after all. Where no memory is so long that it has `passages`
    none are asked for.
    """
    condition, parameters = filters.sql()
    values = {**parameters, "vector": as_text(vector), "depth": depth}
    if not exact and filters.among is not None:
        exact = True
    elif not exact and filters.scopes is not None:
        exact = count_from_words(connection, filters.scopes) < vectors.EXACT_WITHIN
    if not exact:
        vectors.search_wide(connection, depth)
        rows: list[tuple[int, float]]
        rows = connection.execute(nearest(condition, exact=False, passages=passages), values).fetchall()
        if len(rows) >= depth:
            return rows
    return connection.execute(nearest(condition, exact=True, passages=passages), values).fetchall()


def dense_scores(
    connection: Connection, vector: NDArray[np.float32], ids: Sequence[int], scopes: Sequence[str] | None = None
) -> dict[int, float]:
    """Give the cosine of the query's vector and each memory's, or its best passage's; none without a vector."""
    rows = connection.execute(
        f"SELECT id, 1 - {BEST_DISTANCE} FROM memories WHERE id = ANY(%(ids)s) AND embedding IS NOT NULL "
        "AND NOT is_sensitive"
        f"{in_scopes(scopes)}",
        {"vector": as_text(vector), "ids": list(ids), "scopes": scopes},
    )
    return dict(rows.fetchall())


def nearest(condition: str, *, exact: bool, passages: bool = False) -> str:
    """The leg's statement, under a condition on `memories`; a store without passages is asked for none."""
    whole = _WHOLE.format(filters=condition, **(_EXACT if exact else _BY_INDEX))
    if not passages:
        return f"WITH nearest AS MATERIALIZED ({whole}) {_BEST_FIRST}"
    part = (_EVERY_PASSAGE if exact else _PASSAGES_BY_INDEX).format(filters=condition)
    return _OF_PASSAGES.format(whole=whole, part=part, filters=condition)


def near_passages(
    connection: Connection, vector: NDArray[np.float32], known: Mapping[int, Memory]
) -> dict[int, list[Extent]]:
    """Give the passages of those memories that are long, the nearest to the query first."""
    ids = [key for key, memory in known.items() if is_long(memory.content)]
    if not ids:
        return {}
    rows = connection.execute(
        "SELECT memory_id, starts, ends FROM passages WHERE memory_id = ANY(%(ids)s) AND embedding IS NOT NULL "
        "ORDER BY memory_id, embedding <=> %(vector)s::halfvec, number",
        {"ids": ids, "vector": as_text(vector)},
    )
    found: dict[int, list[Extent]] = {}
    for key, start, end in rows:
        found.setdefault(key, []).append(Extent(start, end))
    return found


def as_text(vector: NDArray[np.float32]) -> str:
    """A vector as pgvector reads it; one that is not a direction is refused."""
    length = float((vector * vector).sum())
    if not 0 < length < float("inf"):
        raise HopgateError("the query's vector is zero or not a number: its embedder is broken, try another query")
    return to_sql(vector)
