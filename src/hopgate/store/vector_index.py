"""The HNSW indexes over vectors of memories and passages, built beside running writers."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

from psycopg import errors

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
    build_over(
        connection,
        table,
        f"DROP INDEX CONCURRENTLY IF EXISTS {index}",
        f"CREATE INDEX CONCURRENTLY {index} ON {table} USING {_HNSW}",
    )


MB = 1 << 20
# Of a vector's place in the graph, beside the vector: 1.5 KB each were seen with 384 halves.
BESIDE = 800
LEAST, ELSEWHERE = 64 * MB, 1024 * MB


def build_over(connection: Connection[Any], table: str, *statements: str) -> None:
    """Run statements that build an index over a table's vectors; without workers where these find no shared memory.

    In autocommit mode the statements must bear to be run a second time, as one that drops what is there does. A
    transaction's settings are its own.
    """
    local = not connection.autocommit
    _set(connection, "maintenance_work_mem", f"{_needed(connection, table) // MB}MB", local)
    try:
        with connection.transaction() if local else contextlib.nullcontext():
            for statement in statements:
                connection.execute(statement)
    except errors.DiskFull:
        # It is called a full disk, which it may be as well: then that is said now.
        _set(connection, "max_parallel_maintenance_workers", "0", local)
        for statement in statements:
            connection.execute(statement)
    finally:
        if not local and not connection.closed:
            connection.execute("RESET maintenance_work_mem; RESET max_parallel_maintenance_workers")


def _needed(connection: Connection[Any], table: str) -> int:
    """Bytes that the graph of a table's vectors takes, as far as they should be given."""
    row = connection.execute(
        f"SELECT count(embedding), max(pg_column_size(embedding)), (SELECT setting::bigint * 1024 FROM pg_settings "
        f"WHERE name = 'maintenance_work_mem') FROM {table}"
    ).fetchone()
    assert row is not None
    count, size, owners = (int(value or 0) for value in row)
    return max(LEAST, owners, min(count * (size + BESIDE), _most(connection)))


def _most(connection: Connection[Any]) -> int:
    """What may be asked for: a quarter of this machine's memory, where the server is on it."""
    if not connection.info.host.startswith("/"):
        return ELSEWHERE
    return max(ELSEWHERE, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4)


def _set(connection: Connection[Any], name: str, value: str, local: bool) -> None:
    connection.execute("SELECT set_config(%s, %s, %s)", (name, value, local))
