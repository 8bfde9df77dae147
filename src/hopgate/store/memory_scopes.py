"""Memories by scope: the condition that leaves one scope's part to look into, and which scopes there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection


def in_scopes(scopes: Sequence[str] | None) -> str:
    """The condition, with its AND, that lets the server look into the parts of some scopes alone.

    Examples
    --------
    >>> in_scopes(None), in_scopes(["home"])
    ('', ' AND scope = ANY(%(scopes)s)')
    """
    return "" if scopes is None else " AND scope = ANY(%(scopes)s)"


def unknown_scopes(connection: Connection[Any], scopes: Sequence[str]) -> list[str]:
    """Those of the scopes that no memory has."""
    rows = connection.execute(
        "SELECT asked FROM unnest(%s::text[]) AS asked "
        "WHERE NOT EXISTS (SELECT 1 FROM memories WHERE scope = asked) ORDER BY asked",
        (list(scopes),),
    )
    return [row[0] for row in rows]
