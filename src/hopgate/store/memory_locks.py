"""The locks of whoever changes memories: by turns where many are new, and by ascending id where they are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection


def lock(connection: Connection[Any], ids: Sequence[int]) -> None:
    """Lock memories for change, in the one order in which everybody locks them."""
    connection.execute("SELECT FROM memories WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE", (list(ids),))


def take_turns(connection: Connection[Any], *, alone: bool) -> None:
    """Let a load of many memories go alone, and smaller ones side by side: new ids have no order to lock them in."""
    shared = "" if alone else "_shared"
    connection.execute(f"SELECT pg_advisory_xact_lock{shared}(hashtext('hopgate load'))")
