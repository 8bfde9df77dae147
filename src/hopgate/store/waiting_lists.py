"""Memories that are on a list of what waits, for a vector or for the graph: triggers keep both lists."""

from __future__ import annotations

from typing import Literal


def waiting(table: Literal["waiting_vectors", "waiting_links"]) -> str:
    """The memories `m` of a list, as a FROM clause: each looked up by its key.

    The planner does not know how short the list is: for a join it would read all memories. `OFFSET 0` keeps it from
    making one of this.
    """
    return f"{table} CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = memory_id OFFSET 0) AS m"
