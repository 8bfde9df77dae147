"""Memories in ranges of their ids, so that several processes can read a store side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.memory import Memory
from hopgate.store import memories

if TYPE_CHECKING:
    from psycopg import Connection


class IdRange(NamedTuple):
    """The ids from `first` to `last`, both of them in it."""

    first: int
    last: int


def id_ranges(connection: Connection[Any], size: int, limit: int | None = None) -> list[IdRange]:
    """Cut the store, or its first so many memories, into ranges of so many each, in the order of arrival."""
    rows = connection.execute(
        "SELECT min(id), max(id) FROM (SELECT id, (row_number() OVER (ORDER BY id) - 1) / %s AS part FROM memories "
        "ORDER BY id LIMIT %s) AS placed GROUP BY part ORDER BY 1",
        (size, limit),
    )
    return [IdRange(*row) for row in rows]


def in_range(connection: Connection[Any], ids: IdRange, size: int) -> dict[int, Memory]:
    """The memories of a range that are not sensitive, at most so many; what came since it was cut is another run's."""
    found = memories.page(connection, after=ids.first - 1, limit=size, closed=False)
    return {key: memory for key, memory in found.items() if key <= ids.last}
