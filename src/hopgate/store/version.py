"""The graph's version: bumped by every transaction that changes the graph, read by whoever caches it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection


def bump(connection: Connection[Any]) -> int:
    """Move to the next version; it becomes visible together with what changed."""
    row = connection.execute(
        "UPDATE graph_state SET version = version + 1, changed_at = now() RETURNING version"
    ).fetchone()
    assert row is not None
    return int(row[0])


def current(connection: Connection[Any]) -> int:
    """The version that this transaction sees."""
    row = connection.execute("SELECT version FROM graph_state").fetchone()
    assert row is not None
    return int(row[0])
