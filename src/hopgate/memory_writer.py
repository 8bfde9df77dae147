"""Memories into the store and out of it, each with everything that was made of its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopgate.corpus import check_flags
from hopgate.errors import HopgateError
from hopgate.guard import SensitivityRules
from hopgate.memory import Memory
from hopgate.store import clearance, folder_notes, journal, memories, setting_rows, superseded, vectors
from hopgate.store.graph import version
from hopgate.store.superseded import Superseding

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.progress import Advance
    from hopgate.sources.read import FoundSource
    from hopgate.store.fill import Embedding
    from hopgate.store.memories import Written
    from hopgate.store.store import Store

# After a load of this size the planner's statistics and the index's pending list are worth a pass of their own.
TIDY_ABOVE = 1000


class MemoryWriter:
    """Writes, deletes and marks memories; what no longer holds of them goes in the same transaction."""

    def __init__(self, store: Store, embedding: Embedding) -> None:
        self._store = store
        self._embedding = embedding

    def write(self, new: Sequence[Memory], within: Sequence[str] | None = None) -> Written:
        """Add memories, or bring those with the same external id up to date, all or none.

        What meets one of the store's rules of sensitivity is sensitive, whatever its own flag says. Where a text
        changed, its vector, mentions and facts go, and are made anew by the next `embed` and `build`. A memory that is
        sensitive stays so, whatever the new one's flag says: `unmark_sensitive` takes that away and nothing else does.
        A known one of a scope that is not `within` the given ones is refused, looked at under its lock.
        """

        def work(connection: Connection[Any]) -> Written:
            if len(new) > 1:
                memories.take_turns(connection, alone=len(new) > memories.CHUNK)
            return self._write(connection, new, within)

        return self._store.run(work)

    def update(self, external_id: str, changes: Mapping[str, Any]) -> Written:
        """Change some fields of a memory, as `write` does; an unknown id, and what is no field, are refused."""
        names = [field.name for field in fields(Memory) if field.name not in ("external_id", "source")]
        if unknown := [name for name in changes if name not in names]:
            raise HopgateError(f"{unknown[0]!r} is no field to update: there are {', '.join(names)}")

        def work(connection: Connection[Any]) -> Written:
            known = memories.require(connection, [external_id])
            return self._write(connection, [replace(memory, **changes) for memory in known.values()])

        return self._store.run(work)

    def load(
        self, new: Iterable[Memory], progress: Advance | None = None, *, source: FoundSource | None = None
    ) -> Written:
        """Write a stream of memories, all or none, and tidy the tables after a large one; note whose notes they are."""
        # A stream cannot be read twice: it goes alone, so that it need not begin again.
        with self._store.transaction() as connection:
            memories.take_turns(connection, alone=True)
            written = self._write(connection, _with_progress(new, progress))
            if source is not None and source.root:
                folder_notes.record(connection, source.root, source.places)
        if written.rows >= TIDY_ABOVE:
            self._store.run(memories.tidy)
        return written

    def prune(self, source: FoundSource) -> int:
        """Delete the notes that a folder, which was read to its end, has no more; give how many.

        Those of a file that could not be read stay.
        """

        def work(connection: Connection[Any]) -> int:
            files = [str(Path(item.where).resolve()) for item in source.rejected]
            gone = folder_notes.gone(connection, str(Path(source.path).resolve()), source.places, files)
            return self._delete(connection, gone) if gone else 0

        return self._store.run(work)

    def _write(
        self, connection: Connection[Any], new: Iterable[Memory], within: Sequence[str] | None = None
    ) -> Written:
        gone: list[Superseding] = []
        written = memories.upsert(connection, _noting(setting_rows.sensitivity(connection).applied(new), gone), within)
        # A text that was replaced may be what turns sensitive later: the caches keep none that a store gave up.
        if touched := sorted({*written.changed, *written.now_sensitive}):
            known = memories.fetch_by_id(connection, written.now_sensitive).values()
            contents = [*written.replaced, *(memory.content for memory in known)]
            self._forget(connection, touched, contents, written.followers)
        # After _forget, which brings back memories that were superseded by the replaced text.
        superseded.record_superseded(connection, gone)
        if written.updated:
            # A known memory's scope, thread or date may be another now.
            version.touch(connection)
        return written

    def delete(self, external_ids: Sequence[str], within: Sequence[str] | None = None) -> int:
        """Delete memories, all that was made of their texts, and exactly what only they supported in the graph.

        Unknown ids are refused, and those of other scopes than `within`.
        """
        return self._store.run(lambda connection: self._delete(connection, external_ids, within))

    def _delete(
        self, connection: Connection[Any], external_ids: Sequence[str], within: Sequence[str] | None = None
    ) -> int:
        known = memories.require(connection, external_ids, within)
        self._forget(connection, list(known), [memory.content for memory in known.values()])
        memories.remove(connection, list(known))
        journal.record(connection, journal.DELETE, memories=len(known))
        return len(known)

    def mark_sensitive(self, external_ids: Sequence[str], within: Sequence[str] | None = None) -> int:
        """Mark memories as sensitive and remove all that was ever made of their text; unknown ids are refused."""

        def work(connection: Connection[Any]) -> int:
            known = memories.require(connection, external_ids, within)
            self._mark(connection, known)
            # Only these are noted: to take the entry back must not unmark what was sensitive before.
            if new := [key for key, memory in known.items() if not memory.is_sensitive]:
                journal.record(connection, journal.MARK, memory_ids=new)
            return len(known)

        return self._store.run(work)

    def _mark(self, connection: Connection[Any], known: Mapping[int, Memory]) -> int:
        clearance.set_sensitive(connection, list(known))
        self._forget(connection, list(known), [memory.content for memory in known.values()])
        return len(known)

    def unmark_sensitive(self, external_ids: Sequence[str], within: Sequence[str] | None = None) -> int:
        """Take the mark away: models read these memories from now on; give how many had it.

        Unknown ids are refused, and memories that a rule of the store makes sensitive.
        """
        return self._store.run(lambda connection: self.unmark_in(connection, external_ids, within))

    def unmark_in(
        self, connection: Connection[Any], external_ids: Sequence[str], within: Sequence[str] | None = None
    ) -> int:
        """As `unmark_sensitive`, within a transaction of the caller's."""
        known = memories.require(connection, external_ids, within)
        rules = setting_rows.sensitivity(connection)
        for memory in known.values():
            if rules and rules.meets(memory):
                raise HopgateError(
                    f"a rule of this store makes {memory.external_id[:80]!r} sensitive: change its tags or its "
                    "text; hopgate status shows the rules"
                )
        journal.outdated(connection, journal.MARK, list(known))
        return clearance.set_sensitive(connection, list(known), False)

    def keep_rules(self, connection: Connection[Any], kept: Sequence[SensitivityRules], source: str = "restore") -> int:
        """Keep further rules of sensitivity, and mark the memories that meet them; give how many that were."""
        rules = setting_rows.sensitivity(connection)
        together = reduce(or_, kept, rules)
        if together == rules:
            return 0
        setting_rows.write(connection, {setting_rows.SENSITIVITY: together.to_dict()}, source)
        found = [memory.external_id for memory in memories.stream(connection) if _newly(together, memory)]
        return self._mark(connection, memories.require(connection, found)) if found else 0

    def mark_by_rules(self) -> int:
        """Mark what meets a rule among the memories that wait for a vector or a link; give how many.

        Another program that writes into the table does not know the rules: this comes before every model.
        """
        with self._store.transaction() as connection:
            rules = setting_rows.sensitivity(connection)
            if not rules:
                return 0
            lists: tuple[memories.Waiting, ...] = ("waiting_links", "waiting_vectors")
            waiting = {name for table in lists for name in memories.waiting_names(connection, table)}
            known = memories.fetch(connection, sorted(waiting)).values()
        # No person chose them, so that the journal has nothing to take back.
        found = [memory.external_id for memory in known if _newly(rules, memory)]
        if not found:
            return 0
        return self._store.run(lambda connection: self._mark(connection, memories.require(connection, found)))

    def _forget(
        self, connection: Connection[Any], ids: Sequence[int], contents: Sequence[str], followers: Sequence[int] = ()
    ) -> None:
        """Remove all that was made of memories, and these contents' cached vectors.

        What gave way to them comes back: nothing is hidden by what is gone. `followers` are turns that were read with
        memories that are in another place now.
        """
        from hopgate.graph.build.derive import revoke
        from hopgate.store import extractions
        from hopgate.store.graph import fact_rows

        # Memories first and the graph second, as everybody locks them.
        back = superseded.take_back(connection, ids, "superseded_by")
        vectors.drop(connection, ids)
        version.lock(connection)
        # Turns that were read with these before them: "she" may have got a name there. Under the graph's lock, so that
        # whoever is writing one has written it, or looks at these turns again before it does.
        stated = sorted({*ids, *followers, *memories.turns_after(connection, ids)})
        ids = sorted({*ids, *followers, *memories.read_with(connection, ids)})
        # Before the commit, so that no failure can leave them.
        self._embedding.forget([*contents, *fact_rows.texts_of_memories(connection, ids, stated)])
        revoke(connection, ids)
        extractions.forget(connection, ids, stated)
        if back:
            journal.outdated(connection, journal.SUPERSEDE, [gone.id for gone in back])
            version.bump(connection, [gone.scope for gone in back])


def _noting(new: Iterable[Memory], gone: list[Superseding]) -> Iterator[Memory]:
    """Pass memories on, note those that a file says are superseded, and refuse a mark where nobody looks for it."""
    for memory in new:
        check_flags(memory.extra, "extra")
        if memory.superseded_by is not None:
            gone.append(Superseding(memory.external_id, memory.superseded_by, since=memory.superseded_at))
        yield memory


def _newly(rules: SensitivityRules, memory: Memory) -> bool:
    return not memory.is_sensitive and rules.meets(memory)


def once_each(new: Sequence[Memory]) -> Sequence[Memory]:
    """Pass on what is to be written; anything but memories, and an id that stands twice, is refused."""
    seen = set[str]()
    for memory in new:
        if not isinstance(memory, Memory):
            raise HopgateError(
                f"add takes memories, not {type(memory).__name__}: write hopgate.Memory('an id', 'the text')"
            )
        if memory.external_id in seen:
            raise HopgateError(f"memory {memory.external_id[:80]!r} is given twice: keep one of them")
        seen.add(memory.external_id)
    return new


def _with_progress(stream: Iterable[Memory], progress: Advance | None) -> Iterator[Memory]:
    """Pass memories on, reporting progress every 500."""
    for number, memory in enumerate(stream, start=1):
        yield memory
        if progress and number % 500 == 0:
            progress(500)
