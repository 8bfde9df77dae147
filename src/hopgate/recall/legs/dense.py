"""The dense leg: cosine similarity of vectors, exact or by HNSW."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.recall.filters import Filters
from hopgate.store import vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

# pgvector's default; a narrower search than that saves nothing worth having.
LEAST_EF_SEARCH = 40
MOST_EF_SEARCH = 1000

_NEAREST = """
WITH nearest AS MATERIALIZED (
  SELECT id, {distance} AS distance FROM memories
  WHERE embedding IS NOT NULL AND {filters} ORDER BY distance{tie} LIMIT %(depth)s
)
SELECT id, 1 - distance AS score FROM nearest ORDER BY score DESC, id
"""
_BY_INDEX = {"distance": "embedding <=> %(vector)s::halfvec", "tie": ""}
# `+ 0` keeps the planner off the HNSW index: the sum is the same distance, but not the expression that is indexed.
_EXACT = {"distance": "(embedding <=> %(vector)s::halfvec) + 0", "tie": ", id"}


def dense_leg(
    connection: Connection[Any], vector: NDArray[np.float32], filters: Filters, *, depth: int = 50, exact: bool
) -> list[tuple[int, float]]:
    """Rank memories by the cosine of their vector and the query's.

    With `exact` every vector is compared, so that approximate search never blurs an ablation. Otherwise the HNSW index
    is asked; where it gives up before the filters are satisfied (it visits `hnsw.max_scan_tuples` at most, and a narrow
    scope may lie beyond), every vector that they let through is compared after all.
    """
    condition, parameters = filters.sql()
    values = {**parameters, "vector": as_text(vector), "depth": depth}
    if not exact:
        search_wide(connection, depth)
        rows = _search(connection, condition, values, exact=False)
        if len(rows) >= depth:
            return rows
    return _search(connection, condition, values, exact=True)


def dense_scores(connection: Connection[Any], vector: NDArray[np.float32], ids: Sequence[int]) -> dict[int, float]:
    """Give the cosine of the query's vector and each memory's; a memory without a vector is not among them."""
    rows = connection.execute(
        "SELECT id, 1 - (embedding <=> %(vector)s::halfvec) FROM memories "
        "WHERE id = ANY(%(ids)s) AND embedding IS NOT NULL",
        {"vector": as_text(vector), "ids": list(ids)},
    )
    return dict(rows.fetchall())


def nearest(condition: str, *, exact: bool) -> str:
    """The leg's statement, under a condition on `memories`."""
    return _NEAREST.format(filters=condition, **(_EXACT if exact else _BY_INDEX))


def search_wide(connection: Connection[Any], depth: int) -> None:
    """Let HNSW return `depth` rows after filtering: it returns fewer, silently, when `ef_search` is smaller.

    Local to the transaction, for the sake of a pooler in between.
    """
    connection.execute(
        "SELECT set_config('hnsw.ef_search', %s, true), set_config('hnsw.iterative_scan', 'strict_order', true)",
        (str(min(max(depth, LEAST_EF_SEARCH), MOST_EF_SEARCH)),),
    )


def as_text(vector: NDArray[np.float32]) -> str:
    """A vector as pgvector reads it; one that is not a direction is refused.

    Examples
    --------
    >>> import numpy as np
    >>> as_text(np.array([0.5, -0.75], dtype=np.float32))
    '[0.5,-0.75]'
    """
    length = float((vector * vector).sum())
    if not 0 < length < float("inf"):
        raise HopgateError("the query's vector is zero or not a number: its embedder is broken, try another query")
    return vectors.to_sql(vector)


def _search(
    connection: Connection[Any], condition: str, values: dict[str, Any], *, exact: bool
) -> list[tuple[int, float]]:
    rows: list[tuple[int, float]] = connection.execute(nearest(condition, exact=exact), values).fetchall()
    return rows
