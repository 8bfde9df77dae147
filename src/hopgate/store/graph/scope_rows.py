"""The scopes of memories."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection


def scope_by_memory(connection: Connection[Any], memory_ids: Iterable[int]) -> dict[int, str | None]:
    """The scope of each memory."""
    rows = connection.execute("SELECT id, scope FROM memories WHERE id = ANY(%s)", (list(memory_ids),))
    return dict(rows.fetchall())
