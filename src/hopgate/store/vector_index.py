"""The HNSW indexes over vectors of memories and passages, built beside running writers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hopgate.store import index_memory
from hopgate.store.vectors import INDEX, PASSAGE_INDEX

if TYPE_CHECKING:
    from psycopg import Connection

_HNSW = "hnsw (embedding halfvec_cosine_ops) WITH (m = 16, ef_construction = 64)"


def build_index(connection: Connection[Any], path: str = "") -> None:
    """Build the HNSW indexes beside running writers; the connection must be in autocommit mode.

    Parameters
    ----------
    path : str
        The search_path by which the tables are found; empty where the session's own is right.
    """
    # Try the lock instead of waiting for it: a waiting process holds a snapshot, and a concurrent build waits for every
    # snapshot to end.
    row = connection.execute("SELECT pg_try_advisory_lock(hashtext('hopgate hnsw'))").fetchone()
    if not (row and row[0]):
        return
    if path:
        connection.execute(f"SET search_path = {path}")
    # The passages' first: whether there is an index is asked of the memories'.
    _build_concurrently(connection, PASSAGE_INDEX, "passages")
    _build_concurrently(connection, INDEX, "memories")
    connection.execute("RESET search_path")
    connection.execute("SELECT pg_advisory_unlock(hashtext('hopgate hnsw'))")


def _build_concurrently(connection: Connection[Any], index: str, table: str) -> None:
    index_memory.build(
        connection,
        table,
        f"DROP INDEX CONCURRENTLY IF EXISTS {index}",
        f"CREATE INDEX CONCURRENTLY {index} ON {table} USING {_HNSW}",
    )
