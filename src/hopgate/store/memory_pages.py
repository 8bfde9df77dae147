"""Memories page by page, in the order of arrival."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.memory import Memory
from hopgate.store import memories

if TYPE_CHECKING:
    from psycopg import Connection


def listed(
    connection: Connection[Any], *, scopes: Sequence[str] | None = None, after: str | None = None, limit: int
) -> list[Memory]:
    """The next memories after one, by external id, that have one of these scopes; an unknown id is refused."""
    begin = None
    if after is not None:
        known = memories.ids_of(connection, [after])
        if not known:
            raise HopgateError(f"there is no memory {after[:80]!r} to go on after: begin again without it")
        begin = known[0]
    rows = connection.execute(
        "SELECT id FROM memories WHERE (%(after)s::bigint IS NULL OR id > %(after)s) "
        "AND (%(scopes)s::text[] IS NULL OR scope = ANY(%(scopes)s)) ORDER BY id LIMIT %(limit)s",
        {"after": begin, "scopes": None if scopes is None else list(scopes), "limit": limit},
    )
    ids = [row[0] for row in rows]
    found = memories.fetch_by_id(connection, ids)
    return [found[key] for key in ids]
