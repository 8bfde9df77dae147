"""The dense leg: cosine similarity of vectors, exact or by HNSW."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hopgate.recall.filters import Filters

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

_SEARCH = """
SELECT id, 1 - distance AS score FROM (
  SELECT id, embedding <=> %(vector)s::halfvec AS distance FROM memories
  WHERE embedding IS NOT NULL AND {filters}
  ORDER BY {order} LIMIT %(depth)s
) AS nearest ORDER BY score DESC, id
"""


def dense_leg(
    connection: Connection[Any], vector: NDArray[np.float32], filters: Filters, *, depth: int = 50, exact: bool
) -> list[tuple[int, float]]:
    """Rank memories by the cosine of their vector and the query's.

    With `exact` every vector is compared, so that approximate search never blurs an ablation. Otherwise the HNSW index
    is asked for at least `depth` rows and goes on until the filters are satisfied (pgvector returns fewer, silently,
    when `ef_search` is smaller). All settings are local to the transaction, for the sake of a pooler in between.
    """
    condition, parameters = filters.sql()
    if exact:
        connection.execute("SET LOCAL enable_indexscan = off")
        order = "distance, id"
    else:
        connection.execute(f"SET LOCAL hnsw.ef_search = {min(max(depth, 40), 1000)}")
        connection.execute("SET LOCAL hnsw.iterative_scan = strict_order")
        order = "distance"
    text = "[" + ",".join(f"{value:.7g}" for value in vector.tolist()) + "]"
    values = {**parameters, "vector": text, "depth": depth}
    rows: list[tuple[int, float]] = connection.execute(
        _SEARCH.format(filters=condition, order=order), values
    ).fetchall()
    return rows
