"""Memories by scope: the condition that leaves one scope's part to look into, and which scopes there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hopgate.errors import TakenError

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


def require_within(
    connection: Connection[Any], named: str, external_ids: Mapping[str, Any], within: Sequence[str]
) -> None:
    """Refuse to write over a memory of another scope than these, and let nobody bring one in until the write is done.

    Parameters
    ----------
    named, external_ids : str and mapping
        The condition that finds the memories, and its parameters, of which `names` are the external ids.
    """
    for complete in (False, True):
        rows = connection.execute(
            f"SELECT scope FROM memories WHERE {named} ORDER BY id FOR NO KEY UPDATE", dict(external_ids)
        ).fetchall()
        if any(scope not in within for (scope,) in rows):
            break
        if complete or len(rows) == len(external_ids["names"]):
            return
        # What is not there has no row to lock: another writer could add it in another scope just before the update.
        connection.execute("LOCK TABLE memories IN SHARE ROW EXCLUSIVE MODE")
    one = external_ids["names"]
    raise TakenError(f"the id {one[0][:80]!r} is taken: choose another" if len(one) == 1 else "one of the ids is taken")


def unknown_scopes(connection: Connection[Any], scopes: Sequence[str]) -> list[str]:
    """Those of the scopes that no memory has."""
    rows = connection.execute(
        "SELECT asked FROM unnest(%s::text[]) AS asked "
        "WHERE NOT EXISTS (SELECT 1 FROM memories WHERE scope = asked) ORDER BY asked",
        (list(scopes),),
    )
    return [row[0] for row in rows]
