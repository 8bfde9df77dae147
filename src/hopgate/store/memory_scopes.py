"""Memories by scope: the condition, who may write where, and how many a scope has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from psycopg.errors import SerializationFailure

from hopgate.errors import TakenError

if TYPE_CHECKING:
    from psycopg import Connection


def in_scopes(scopes: Sequence[str] | None) -> str:
    """The condition, with its AND, that a memory is of some scopes.

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
    names, find = external_ids["names"], f"SELECT scope FROM memories WHERE {named} ORDER BY id"
    new = len(connection.execute(find, external_ids).fetchall()) < len(names)
    if new:
        # What is not there has no row to lock: another writer could add it in another scope just before the update.
        connection.execute("LOCK TABLE memories IN SHARE ROW EXCLUSIVE MODE")
    scopes = [row[0] for row in connection.execute(f"{find} FOR NO KEY UPDATE", external_ids)]
    if any(scope not in within for scope in scopes):
        what = f"the id {names[0][:80]!r}" if len(names) == 1 else "one of the ids"
        raise TakenError(f"{what} is taken: choose another")
    if len(scopes) < len(names) and not new:
        # The table's lock comes before its rows': from the beginning, then.
        raise SerializationFailure("a memory was deleted since it was looked for")


def count_in(connection: Connection[Any], scopes: Sequence[str]) -> int:
    """How many memories some scopes have, by the counts that are kept of their words."""
    row = connection.execute(
        "SELECT coalesce(sum(memories), 0) FROM word_totals WHERE scope = ANY(%s)", (list(scopes),)
    ).fetchone()
    assert row is not None
    return int(row[0])


def unknown_scopes(connection: Connection[Any], scopes: Sequence[str]) -> list[str]:
    """Those of the scopes that no memory has."""
    rows = connection.execute(
        "SELECT asked FROM unnest(%s::text[]) AS asked "
        "WHERE NOT EXISTS (SELECT 1 FROM memories WHERE scope = asked) ORDER BY asked",
        (list(scopes),),
    )
    return [row[0] for row in rows]
