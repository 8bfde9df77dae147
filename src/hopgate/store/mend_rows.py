"""The log of what people changed by hand: ids alone, so that no text outlives its memory here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError

if TYPE_CHECKING:
    from psycopg import Connection

MERGE, KEEP_APART, SUPERSEDE, MARK, DELETE = "merge", "keep apart", "supersede", "mark sensitive", "delete"


@dataclass(frozen=True, slots=True)
class MendRow:
    """A row of the log, by ids."""

    id: int
    action: str
    merge_id: int | None
    name_id: int | None
    near_id: int | None
    score: float | None
    memory_ids: tuple[int, ...]
    undone: bool


@dataclass(frozen=True, slots=True)
class MendEntry:
    """A row of the log to look at: the two names it is about, or the memories, as far as they are still there."""

    id: int
    done_at: datetime
    action: str
    one: str | None
    other: str | None
    memory_ids: tuple[str, ...]
    memories: int
    undone_at: datetime | None

    @property
    def undoable(self) -> bool:
        """Whether it can be taken back; a deletion cannot."""
        return self.undone_at is None and self.action != DELETE


def record(
    connection: Connection[Any],
    action: str,
    *,
    merge_id: int | None = None,
    name_id: int | None = None,
    near_id: int | None = None,
    score: float | None = None,
    memory_ids: Sequence[int] = (),
    memories: int = 0,
) -> int:
    """Note what is done in this transaction; give the row's id."""
    row = connection.execute(
        "INSERT INTO mend_log (action, merge_id, name_id, near_id, score, memory_ids, memories) "
        "VALUES (%s, %s, %s, %s, %s, %s, %s) RETURNING id",
        (action, merge_id, name_id, near_id, score, list(memory_ids), memories or len(memory_ids)),
    ).fetchone()
    assert row is not None
    return int(row[0])


def listed(connection: Connection[Any], *, limit: int, only: int | None = None) -> list[MendEntry]:
    """The log, the last entry first; a merge that was split elsewhere counts as undone."""
    rows = connection.execute(
        # Of a merge: what the concept that stayed was called without the names that came to it.
        "SELECT l.id, l.done_at, l.action, coalesce(o.name, (SELECT k.name FROM concept_names k WHERE "
        "k.concept_id = m.kept_id AND k.id <> ALL(m.name_ids) ORDER BY k.uses DESC, k.id LIMIT 1)), "
        "coalesce(m.merged_name, n.name), "
        "ARRAY(SELECT x.external_id FROM memories x WHERE x.id = ANY(l.memory_ids) "
        "ORDER BY x.id), "
        "l.memories, coalesce(l.undone_at, m.split_at) FROM mend_log l LEFT JOIN concept_merges m ON m.id = l.merge_id "
        "LEFT JOIN concept_names n ON n.id = l.name_id "
        "LEFT JOIN concept_names o ON o.id = l.near_id WHERE %(only)s::bigint IS NULL OR l.id = %(only)s "
        "ORDER BY l.id DESC LIMIT %(limit)s",
        {"limit": limit, "only": only},
    )
    return [MendEntry(row[0], row[1], row[2], row[3], row[4], tuple(row[5]), row[6], row[7]) for row in rows]


def taken(connection: Connection[Any], entry_id: int) -> MendRow:
    """Take an entry to undo it; nobody else undoes it meanwhile. An unknown one is refused."""
    row = connection.execute(
        "SELECT id, action, merge_id, name_id, near_id, score, memory_ids, undone_at IS NOT NULL FROM mend_log "
        "WHERE id = %s FOR UPDATE",
        (entry_id,),
    ).fetchone()
    if row is None:
        raise HopgateError(f"the log has no entry {entry_id}")
    return MendRow(row[0], row[1], row[2], row[3], row[4], row[5], tuple(row[6]), row[7])


def outdated(connection: Connection[Any], action: str, memory_ids: Sequence[int]) -> None:
    """Count entries about these memories as undone: what they did was taken back, and what is done next is newer."""
    connection.execute(
        "UPDATE mend_log SET undone_at = now() WHERE action = %s AND undone_at IS NULL AND memory_ids && %s::bigint[]",
        (action, list(memory_ids)),
    )


def undone(connection: Connection[Any], entry_id: int) -> None:
    """Note that an entry was taken back."""
    connection.execute("UPDATE mend_log SET undone_at = now() WHERE id = %s", (entry_id,))
