"""Memories page by page, in the order of arrival; and how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
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
    return _in_order(connection, [row[0] for row in rows])


def written_between(
    connection: Connection[Any],
    since: datetime,
    until: datetime,
    *,
    scopes: Sequence[str] | None,
    sensitive: bool,
    limit: int,
) -> list[Memory]:
    """The memories that were written down after one time and up to another, the newest first."""
    rows = connection.execute(
        "SELECT id FROM memories WHERE created_at > %(since)s AND created_at <= %(until)s "
        "AND (%(scopes)s::text[] IS NULL OR scope = ANY(%(scopes)s)) AND (%(sensitive)s OR NOT is_sensitive) "
        "ORDER BY created_at DESC, id DESC LIMIT %(limit)s",
        {
            "since": since,
            "until": until,
            "scopes": None if scopes is None else list(scopes),
            "sensitive": sensitive,
            "limit": limit,
        },
    )
    return _in_order(connection, [row[0] for row in rows])


def _in_order(connection: Connection[Any], ids: Sequence[int]) -> list[Memory]:
    found = memories.fetch_by_id(connection, ids)
    return [found[key] for key in ids if key in found]


def tally(connection: Connection[Any]) -> dict[str, int]:
    """How many memories there are, and how many of them are sensitive or superseded."""
    row = connection.execute(
        "SELECT count(*), count(*) FILTER (WHERE coalesce(is_sensitive, true)), "
        "count(*) FILTER (WHERE superseded_at IS NOT NULL) FROM memories"
    ).fetchone()
    assert row is not None
    return dict(zip(("memories", "sensitive", "superseded"), row, strict=True))
