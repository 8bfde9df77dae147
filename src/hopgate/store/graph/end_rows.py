"""Which memories end what earlier ones say, noted as edges are derived; and what reading both together makes of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from psycopg import Connection


class NotedEnd(NamedTuple):
    """A memory that says what is, and a later one by which that is over."""

    earlier_id: int
    later_id: int


def note(connection: Connection[Any], ends: Iterable[NotedEnd], *, longest: int) -> None:
    """Note ends, to be read, where both texts have so many characters at most; what was noted before stays as it is."""
    pairs = sorted(set(ends))
    if not pairs:
        return  # as of most changes
    connection.execute(
        "INSERT INTO noted_ends (earlier_id, later_id) SELECT e.id, l.id "
        "FROM unnest(%s::bigint[], %s::bigint[]) AS p (e, l) JOIN memories e ON e.id = p.e "
        "JOIN memories l ON l.id = p.l WHERE greatest(length(e.content), length(l.content)) <= %s "
        "AND NOT e.is_sensitive AND NOT l.is_sensitive ON CONFLICT DO NOTHING",
        (*_columns(pairs), longest),
    )


def note_read(connection: Connection[Any], ends: Iterable[NotedEnd]) -> None:
    """Note ends of which reading both memories together showed that they are."""
    connection.execute(
        "INSERT INTO noted_ends (earlier_id, later_id, is_read, is_end) "
        "SELECT e, l, true, true FROM unnest(%s::bigint[], %s::bigint[]) AS p (e, l) "
        "ON CONFLICT (later_id, earlier_id) DO UPDATE SET is_read = true, is_end = true",
        _columns(sorted(set(ends))),
    )


def unread(connection: Connection[Any], extractor_hash: str, after: NotedEnd, limit: int) -> list[NotedEnd]:
    """The next ends that nobody has read, by memories that an extractor read, in the order of the later ones."""
    rows = connection.execute(
        "SELECT n.earlier_id, n.later_id FROM noted_ends n JOIN extractions x ON x.memory_id = n.later_id "
        "WHERE NOT n.is_read AND x.extractor_hash = %s AND (n.later_id, n.earlier_id) > (%s, %s) "
        "ORDER BY n.later_id, n.earlier_id LIMIT %s",
        (extractor_hash, after.later_id, after.earlier_id, limit),
    )
    return [NotedEnd(*row) for row in rows]


def set_read(connection: Connection[Any], ends: Sequence[NotedEnd], *, is_end: bool | None) -> None:
    """Say of ends that they were read: that they are none, or, by None, that they may be."""
    connection.execute(
        "UPDATE noted_ends n SET is_read = true, is_end = %s::boolean FROM unnest(%s::bigint[], %s::bigint[]) "
        "AS p (e, l) WHERE n.earlier_id = p.e AND n.later_id = p.l",
        (is_end, *_columns(ends)),
    )


def known_of(connection: Connection[Any], later_ids: Iterable[int]) -> dict[int, dict[int, bool]]:
    """By each later memory the earlier ones of which it is known that it ends what they say, or that it does not."""
    found: dict[int, dict[int, bool]] = {}
    rows = connection.execute(
        "SELECT later_id, earlier_id, is_end FROM noted_ends WHERE later_id = ANY(%s) AND is_end IS NOT NULL",
        (sorted(set(later_ids)),),
    )
    for later, earlier, is_end in rows:
        found.setdefault(later, {})[earlier] = is_end
    return found


def remove(connection: Connection[Any], memory_ids: Sequence[int]) -> None:
    """Forget what was noted and read of memories."""
    ids = list(memory_ids)
    connection.execute("DELETE FROM noted_ends WHERE later_id = ANY(%s) OR earlier_id = ANY(%s)", (ids, ids))


def _columns(ends: Sequence[NotedEnd]) -> tuple[list[int], list[int]]:
    return [end.earlier_id for end in ends], [end.later_id for end in ends]
