"""The journal: concepts that became one, by whatever method, and what people changed. What can be taken back, is."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from hopgate.errors import HopgateError, UnknownError
from hopgate.store.rows import Connection, select

MERGE, KEEP_APART, SUPERSEDE, MARK, DELETE = "merge", "keep apart", "supersede", "mark sensitive", "delete"
# The methods of merges that are decided one by one: by a person, or by a model that was asked.
BY_HAND, ASKED = "by hand", "a model, asked"
# Of many memories the first few are named.
NAMED = 3


@dataclass(frozen=True, slots=True)
class JournalRow:
    """A row of the journal, by ids: the names that came to `kept_id`, or the two that stay apart; or the memories."""

    id: int
    action: str
    method: str
    kept_id: int | None
    merged_id: int | None
    merged_name: str | None
    merged_kind: str | None
    name_ids: tuple[int, ...]
    memory_ids: tuple[int, ...]
    score: float | None
    done_at: datetime
    undone_at: datetime | None


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """What a person changed, to look at: the two names it is about, or the memories, as far as they are still there."""

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

    def to_dict(self) -> dict[str, Any]:
        """Give the entry as plain values."""
        return {**asdict(self), "undoable": self.undoable}

    def __str__(self) -> str:
        kept, other = (repr(name) if name else "a name that is gone" for name in (self.one, self.other))
        if self.action in (MERGE, KEEP_APART):
            return f"{other} {'became part of' if self.action == MERGE else 'stays apart from'} {kept}"
        are = "was" if self.memories == 1 else "were"
        done = {SUPERSEDE: "gave way", MARK: f"{are} marked as sensitive", DELETE: f"{are} deleted"}[self.action]
        named = ", ".join(self.memory_ids[:NAMED]) + (", …" if len(self.memory_ids) > NAMED else "")
        memories = "1 memory" if self.memories == 1 else f"{self.memories:,} memories"
        return f"{memories} {done}" + (f" ({named})" if named else "")


def record(
    connection: Connection,
    action: str,
    *,
    name_ids: Sequence[int] = (),
    score: float | None = None,
    memory_ids: Sequence[int] = (),
    memories: int = 0,
) -> None:
    """Note what a person does in this transaction, but for merges; of a deletion only how many memories it is of."""
    connection.execute(
        "INSERT INTO journal (action, method, name_ids, score, memory_ids, memories) VALUES (%s, %s, %s, %s, %s, %s)",
        (action, BY_HAND, list(name_ids), score, list(memory_ids), memories or len(memory_ids)),
    )


def listed(connection: Connection, *, limit: int, only: int | None = None) -> list[JournalEntry]:
    """What people changed, the last entry first."""
    which = "%(only)s::bigint IS NULL OR id = %(only)s"
    source = f"changes_by_hand WHERE {which} ORDER BY id DESC LIMIT %(limit)s"
    return select(connection, JournalEntry, source, {"limit": limit, "only": only})


def taken(connection: Connection, entry_id: int) -> JournalRow:
    """Take an entry to undo it; nobody else undoes it meanwhile. An unknown one, or one undone already, is refused."""
    rows = select(connection, JournalRow, "journal WHERE id = %s FOR UPDATE", (entry_id,))
    if not rows:
        raise UnknownError(f"the log has no entry {entry_id}")
    if rows[0].undone_at is not None:
        raise HopgateError(f"entry {entry_id} of the log was undone already")
    return rows[0]


def undone(connection: Connection, entry_id: int) -> None:
    """Note that an entry was taken back."""
    connection.execute("UPDATE journal SET undone_at = now() WHERE id = %s", (entry_id,))


def outdated(connection: Connection, action: str, memory_ids: Sequence[int]) -> None:
    """Count entries about these memories as undone: what they did was taken back, and what is done next is newer."""
    connection.execute(
        "UPDATE journal SET undone_at = now() WHERE action = %s AND undone_at IS NULL AND memory_ids && %s::bigint[]",
        (action, list(memory_ids)),
    )


# Merges. Each is a row, whoever decided it, with what is needed to take it back.


def merge(connection: Connection, pairs: Sequence[tuple[int, int]], *, method: str, score: float | None = None) -> None:
    """Give all names of the second concept of each pair to the first one, which stays, and note that.

    What follows for memories and edges is the caller's to derive.
    """
    columns = {"kept": [kept for kept, _ in pairs], "merged": [merged for _, merged in pairs]}
    these = "unnest(%(kept)s::bigint[], %(merged)s::bigint[]) AS p (kept, merged)"
    connection.execute(
        "INSERT INTO journal (scope, action, method, kept_id, merged_id, merged_name, merged_kind, score, name_ids) "
        "SELECT c.scope, %(merge)s, %(method)s, p.kept, c.id, c.canonical_name, c.kind, %(score)s, "
        f"ARRAY(SELECT n.id FROM concept_names n WHERE n.concept_id = c.id ORDER BY n.id) FROM {these} "
        "JOIN concepts c ON c.id = p.merged",
        {**columns, "merge": MERGE, "method": method, "score": score},
    )
    connection.execute(
        f"UPDATE concept_names n SET concept_id = p.kept FROM {these} WHERE n.concept_id = p.merged", columns
    )


def merges_into(connection: Connection, concept_id: int) -> list[JournalRow]:
    """The merges into a concept that were not undone, the last one first."""
    source = "journal WHERE kept_id = %s AND action = 'merge' AND undone_at IS NULL ORDER BY id DESC"
    return select(connection, JournalRow, source, (concept_id,))


def restore(connection: Connection, row: JournalRow) -> None:
    """Bring a merged concept back under its own id, without its names; and note that the merge was undone."""
    connection.execute(
        "INSERT INTO concepts (id, scope, canonical_name, aliases, kind) "
        "SELECT merged_id, scope, merged_name, '{}', merged_kind FROM journal WHERE id = %s",
        (row.id,),
    )
    undone(connection, row.id)


def take_rulings(connection: Connection) -> list[tuple[list[int], int | None, bool]]:
    """What people decided: some names, a name they were merged with or split from (or none), and whether merged.

    All names are about to be clustered anew: merges that were not undone are forgotten; undone ones stay known.
    """
    decided = connection.execute(
        "SELECT j.name_ids, (SELECT n.id FROM concept_names n WHERE n.id <> ALL(j.name_ids) AND n.concept_id = "
        "CASE WHEN j.undone_at IS NULL THEN (SELECT concept_id FROM concept_names WHERE id = ANY(j.name_ids) LIMIT 1) "
        "ELSE j.kept_id END ORDER BY uses DESC, id LIMIT 1) AS partner, j.undone_at IS NULL "
        "FROM journal j WHERE j.action = %s AND (j.method = %s) = (j.undone_at IS NULL) ORDER BY j.id",
        (MERGE, BY_HAND),
    ).fetchall()
    connection.execute("DELETE FROM journal WHERE action = %s AND undone_at IS NULL", (MERGE,))
    return decided
