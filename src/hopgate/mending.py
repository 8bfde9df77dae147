"""`kb.upkeep.mend`: what people change by hand, each with a preview, in one transaction with its entry in a log."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.recall.filters import Filters, Scopes
from hopgate.store import journal, memories
from hopgate.store.graph import concept_rows, merge_rows, name_rows

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.graph.build.curate import Curation, Proposal
    from hopgate.graph.build.merge import Change, MergeProposal, RemovalPreview
    from hopgate.memory_writer import MemoryWriter
    from hopgate.store.journal import MendEntry, MendRow
    from hopgate.store.store import Store


class Mending:
    """Merges, curation, marks and deletions by hand. Made by `Upkeep.mend`.

    Examples
    --------
    >>> import tempfile, hopgate
    >>> folder = tempfile.TemporaryDirectory()
    >>> with hopgate.open(folder.name) as kb:
    ...     _ = kb.add(hopgate.Memory("m1", "Ada Lovelace lives in London."))
    ...     _ = kb.add(hopgate.Memory("m2", "Augusta King met Charles Babbage in Paris."))
    ...     _ = kb.build()
    ...     entry = kb.upkeep.mend.merge("Ada Lovelace", "Augusta King")
    ...     merged = kb.graph.concept("Augusta King").concept.name
    ...     _ = kb.upkeep.mend.undo(entry.id)
    ...     merged, kb.graph.concept("Augusta King").concept.name
    ('Ada Lovelace', 'Augusta King')
    >>> folder.cleanup()
    """

    def __init__(self, store: Store, writer: MemoryWriter) -> None:
        self._store = store
        self._writer = writer

    def merge_proposals(self, *, limit: int = 50) -> list[MergeProposal]:
        """Give the names that may be one concept, with what makes them alike and their least similar pair."""
        from hopgate.graph.build.merge import merge_proposals

        with self._store.transaction() as connection:
            return merge_proposals(connection, limit=limit)

    def preview_merge(self, kept: str, merged: str, *, scope: str | None = None) -> Change:
        """Say what a merge would change; nothing does."""
        from hopgate.graph.build import merge

        def work(connection: Connection[Any]) -> Change:
            change = merge.merge_named(connection, kept, merged, scope)
            connection.rollback()
            return change

        return self._store.run(work)

    def merge(self, kept: str, merged: str, *, scope: str | None = None) -> MendEntry:
        """Make two concepts one, each given by any of its names, in this scope or in each that has both.

        Each scope has an entry of its own in the log; the last of them is given.
        """
        from hopgate.graph.build import merge

        def work(connection: Connection[Any]) -> MendEntry:
            name_rows.lock(connection)
            for first, second in merge.pairs(connection, kept, merged, scope):
                merge.merge(connection, first, second)
                made = merge_rows.merges_into(connection, first)[0]
                key = journal.record(connection, journal.MERGE, merge_id=made.id)
            return self._entry(connection, key)

        return self._store.run(work)

    def keep_apart(self, name: str) -> MendEntry:
        """Decide that a name is not the one it resembles: it is proposed no more."""

        def work(connection: Connection[Any]) -> MendEntry:
            name_rows.lock(connection)
            undecided = concept_rows.undecided(connection, name)
            if undecided is None:
                raise HopgateError(f"{name!r} is not undecided: hopgate concepts --ambiguous lists the names that are")
            name_id, near_id, score = undecided
            concept_rows.decide(connection, name_id)
            key = journal.record(connection, journal.KEEP_APART, name_id=name_id, near_id=near_id, score=score)
            return self._entry(connection, key)

        return self._store.run(work)

    def curation(self, *, limit: int = 50, seconds: float = math.inf) -> Curation:
        """Give the first proposals by which a memory would give way to another, in the order they became known.

        Parameters
        ----------
        seconds : float
            Look no further after so many: each memory of a large store is compared with older ones.
        """
        from hopgate.graph.build import curate

        with self._store.transaction() as connection:
            return curate.first_proposals(connection, limit=limit, until=time.monotonic() + seconds)

    def supersede(self, chosen: Sequence[Proposal]) -> MendEntry:
        """Carry curation proposals out: each memory that gives way gets a tombstone, and nothing is deleted."""
        from hopgate.graph.build import curate

        if any(one.memory == one.older for one in chosen):
            raise HopgateError("a memory cannot give way to itself: name two")

        def work(connection: Connection[Any]) -> MendEntry:
            names = {one.gives_way for one in chosen if one.gives_way}
            # Both at once, so that they are locked in the order of their ids.
            memories.require(connection, [name for one in chosen for name in (one.memory, one.older) if name])
            if not names or curate.apply(connection, chosen) != names:
                raise HopgateError(
                    "one of these memories gave way already, turned sensitive or is of another scope: look again"
                )
            gone = memories.require(connection, sorted(names))
            return self._entry(connection, journal.record(connection, journal.SUPERSEDE, memory_ids=gone))

        return self._store.run(work)

    def preview_removal(self, external_ids: Sequence[str], *, scope: Scopes = None) -> RemovalPreview:
        """Say what would leave the graph if these memories were deleted or marked as sensitive; nothing does.

        Parameters
        ----------
        scope : str or sequence of str, optional
            What the own graph of this scope, or of these, would lose.
        """
        from hopgate.graph.build.merge import removal_preview

        scopes = Filters(scope).scopes
        return self._store.run(lambda connection: removal_preview(connection, external_ids, scopes))

    def mark_sensitive(self, external_ids: Sequence[str], *, within: Sequence[str] | None = None) -> MendEntry:
        """Mark memories as sensitive; all that was made of their texts goes."""

        def work(connection: Connection[Any]) -> MendEntry:
            ids = memories.require(connection, external_ids, within)
            # Only these: to take the entry back must not unmark what was sensitive before.
            new = [key for key, one in memories.fetch_by_id(connection, ids).items() if not one.is_sensitive]
            if not new:
                raise HopgateError("these memories are sensitive already")
            self._writer.mark_in(connection, external_ids)
            return self._entry(connection, journal.record(connection, journal.MARK, memory_ids=new))

        return self._store.run(work)

    def delete(self, external_ids: Sequence[str], *, within: Sequence[str] | None = None) -> MendEntry:
        """Delete memories and what only they supported; the log keeps how many, and it cannot be undone."""

        def work(connection: Connection[Any]) -> MendEntry:
            gone = self._writer.delete_in(connection, external_ids, within)
            return self._entry(connection, journal.record(connection, journal.DELETE, memories=gone))

        return self._store.run(work)

    def log(self, *, limit: int = 50) -> list[MendEntry]:
        """Give what was changed by hand, the last entry first."""
        return self._store.run(lambda connection: journal.listed(connection, limit=limit))

    def entry(self, entry_id: int) -> MendEntry:
        """Give one entry of the log; an unknown one is refused."""
        return self._store.run(lambda connection: self._entry(connection, entry_id))

    def undo(self, entry_id: int) -> MendEntry:
        """Take an entry of the log back; a deletion cannot be, and what was undone is refused."""

        def work(connection: Connection[Any]) -> MendEntry:
            row = journal.taken(connection, entry_id)
            if row.undone:
                raise HopgateError(f"entry {entry_id} of the log was undone already")
            self._take_back(connection, row)
            journal.undone(connection, entry_id)
            return self._entry(connection, entry_id)

        return self._store.run(work)

    def _take_back(self, connection: Connection[Any], row: MendRow) -> None:
        from hopgate.graph.build import curate, merge

        if row.action == journal.MERGE and row.merge_id is not None:
            merge.undo_merge(connection, row.merge_id)
        elif row.action == journal.KEEP_APART:
            name_rows.lock(connection)
            if row.name_id is None or row.near_id is None or row.score is None:
                raise HopgateError("one of the two names is gone: there is nothing to decide")
            if len(name_rows.by_id(connection, [row.name_id, row.near_id])) < 2:
                raise HopgateError("one of the two names is gone: there is nothing to decide")
            concept_rows.mark_ambiguous(connection, row.name_id, row.near_id, row.score)
        elif row.action in (journal.SUPERSEDE, journal.MARK):
            found = list(memories.external_ids(connection, row.memory_ids).values())
            if not found:
                raise HopgateError("the memories of this entry are gone")
            back = curate.restore if row.action == journal.SUPERSEDE else self._writer.unmark_in
            back(connection, found)
        else:
            raise HopgateError("a deletion cannot be undone: a backup brings the memories back")

    def _entry(self, connection: Connection[Any], entry_id: int) -> MendEntry:
        found = journal.listed(connection, limit=1, only=entry_id)
        if not found:
            raise HopgateError(f"the log has no entry {entry_id}")
        return found[0]
