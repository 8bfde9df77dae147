"""What changed of the graph since a reader last looked: rows that triggers write (migration 0009)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from psycopg import Connection

# A reader that is further behind reads everything again.
KEPT = 20_000
# Versions between two sweeps of what no reader asks for any more.
SWEEP_EVERY = 100


class Position(NamedTuple):
    """What a reader has seen: the snapshot that it read in, and since when the server runs."""

    snapshot: str
    server: str


class Changed(NamedTuple):
    """The memories (with their mentions), concepts and edges that were added, changed or removed."""

    memories: list[int]
    concepts: list[int]
    edges: list[int]


def position(connection: Connection[Any]) -> Position | None:
    """What this transaction sees; none on a standby, which does not have the record."""
    row = connection.execute(
        "SELECT pg_current_snapshot()::text, pg_postmaster_start_time()::text, pg_is_in_recovery()"
    ).fetchone()
    assert row is not None
    return None if row[2] else Position(row[0], row[1])


def since(connection: Connection[Any], seen: Position, *, limit: int) -> Changed | None:
    """What this transaction sees and a reader at that position does not; none if all must be read again.

    It must where more than `limit` changed, a statement changed very many, the record does not go back so far, or the
    server was started anew since.
    """
    row = connection.execute(
        "SELECT pg_postmaster_start_time()::text = %(server)s AND NOT EXISTS (SELECT 1 FROM graph_changes_swept "
        "WHERE xid >= pg_snapshot_xmin(%(seen)s::pg_snapshot))",
        {"seen": seen.snapshot, "server": seen.server},
    ).fetchone()
    if row is None or not row[0]:
        return None
    rows = connection.execute(
        "SELECT DISTINCT kind, id FROM graph_changes WHERE xid >= pg_snapshot_xmin(%(seen)s::pg_snapshot) "
        "AND NOT pg_visible_in_snapshot(xid, %(seen)s::pg_snapshot) LIMIT %(limit)s",
        {"seen": seen.snapshot, "limit": limit + 1},
    ).fetchall()
    if len(rows) > limit or any(kind == "all" for kind, _ in rows):
        return None
    found = Changed([], [], [])
    by_kind = {"memory": found.memories, "concept": found.concepts, "edge": found.edges}
    for kind, key in sorted(rows):
        by_kind[kind].append(key)
    return found


def record_all(connection: Connection[Any]) -> None:
    """Record that so much changed that everything is to be read again."""
    connection.execute("INSERT INTO graph_changes (kind, id) SELECT 'all', 0 FROM graph_state WHERE version > 0")


def sweep(connection: Connection[Any]) -> None:
    """Forget all but the last changes; readers that have not seen the others read everything again."""
    connection.execute(
        "WITH last AS (SELECT xid FROM graph_changes ORDER BY xid DESC OFFSET %s LIMIT 1), "
        "gone AS (DELETE FROM graph_changes c USING last WHERE c.xid <= last.xid) "
        "INSERT INTO graph_changes_swept (xid) SELECT xid FROM last "
        "ON CONFLICT (one) DO UPDATE SET xid = greatest(graph_changes_swept.xid, excluded.xid)",
        (KEPT,),
    )
