"""A store kept in order: vectors and graph up with the memories, backups, and what people changed taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from hopgate.errors import HopgateError, UnknownError
from hopgate.store import connect, extractions, journal, memories, setting_rows, vectors
from hopgate.store.graph import version
from hopgate.store.memories import tally

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.extract.extraction import Extractor
    from hopgate.graph.build.options import ExtractOptions
    from hopgate.graph.build.pipeline import GraphBuilder
    from hopgate.memory_writer import MemoryWriter
    from hopgate.progress import Advance, Progress
    from hopgate.store.backup import Manifest, Scrubbed
    from hopgate.store.fill import Embedding
    from hopgate.store.journal import JournalEntry
    from hopgate.store.memories import Written
    from hopgate.store.store import Store

# The channel that the table's trigger notifies.
CHANNEL = "hopgate_memories"
# How long one wait lasts, so that an interruption is noticed.
PATIENCE = 1.0
# The extractors that ask nobody: a graph that one of them made is kept up by it.
OFFLINE = ("phrases", "rules")
# So many memories at most are embedded beside their linking: a thread cannot be interrupted.
FEW = 64


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """What was brought up to date."""

    embedded: int  # how many memories got a vector
    linked: int  # how many got an extraction
    left: str = ""  # the extractor that made the graph, where linking needs it named


@dataclass(frozen=True, slots=True)
class Remembered(CaughtUp):
    """What was remembered, and what was brought up to date with it."""

    ids: tuple[str, ...] = ()  # the memories', in their order
    added: int = 0  # how many of them are new
    kept_sensitive: int = 0  # how many stay sensitive, as they were marked


class Upkeep:
    """Embeds and links what a store's vectors and graph lack, backs it up, and takes back what people changed.

    Examples
    --------
    >>> import tempfile, hopgate
    >>> folder = tempfile.TemporaryDirectory()
    >>> with hopgate.open(folder.name) as kb:
    ...     _ = kb.add(hopgate.Memory("m1", "Ada Lovelace lives in London."))
    ...     _ = kb.add(hopgate.Memory("m2", "Augusta King met Charles Babbage in Paris."))
    ...     _ = kb.build()
    ...     _ = kb.graph.merge("Ada Lovelace", "Augusta King")
    ...     merged = kb.graph.concept("Augusta King").concept.name
    ...     (entry,) = kb.upkeep.log()
    ...     _ = kb.upkeep.undo(entry.id)
    ...     merged, kb.graph.concept("Augusta King").concept.name
    ('Ada Lovelace', 'Augusta King')
    >>> folder.cleanup()
    """

    def __init__(self, store: Store, embedding: Embedding, writer: MemoryWriter, builder: GraphBuilder) -> None:
        self._store = store
        self._embedding = embedding
        self._writer = writer
        self._builder = builder

    def catch_up(
        self,
        external_ids: Sequence[str] | None = None,
        *,
        extractor: str | Extractor | None = None,
        progress: Advance | None = None,
    ) -> CaughtUp:
        """Embed whatever waits, and link these memories, by default all that wait; finish a build that was broken off.

        Parameters
        ----------
        extractor : str or Extractor, optional
            By default the one that made the graph, where it asks nobody; a graph that a model made waits for `build`.
        """
        from hopgate.extract.spec import as_extractor

        self._writer.mark_by_rules()
        with self._store.transaction() as connection:
            wanted = memories.waiting_names(connection, "waiting_links", external_ids)
            made_by, derived = extractions.made_by(connection), version.is_derived(connection)
            broken_off = bool(made_by) and not derived
            few = len(wanted) <= FEW and vectors.has_space(connection)
            few = few and vectors.count_pending(connection) <= FEW
        due = bool(wanted) or broken_off
        left = made_by if due and extractor is None and made_by not in ("", *OFFLINE) else ""
        if not due or left:
            return CaughtUp(self._embedding.fill(None, progress), 0, left)
        chosen = as_extractor(extractor or made_by or OFFLINE[0])
        if not few:
            # One after the other, so that an interruption ends it; and names and edges get vectors once the memories
            # have made the store an embedder's.
            embedded = self._embedding.fill(None, progress)
            return CaughtUp(embedded, self._link(chosen, wanted if derived else None))
        # Side by side: one waits for the model where the other waits for the server.
        with ThreadPoolExecutor(1, thread_name_prefix="hopgate-embed") as beside:
            embedding = beside.submit(self._embedding.fill, None, progress)
            linked = self._link(chosen, wanted if derived else None)
            return CaughtUp(embedding.result(), linked)

    def remembered(
        self, ids: Sequence[str], written: Written, *, extractor: str | Extractor | None = None, link: bool = True
    ) -> Remembered:
        """Embed and link what was just written, where that is wanted, and say what came of it."""
        done = self.catch_up(ids, extractor=extractor) if link else CaughtUp(0, 0)
        return Remembered(done.embedded, done.linked, done.left, tuple(ids), written.added, written.kept_sensitive)

    def _link(self, extractor: Extractor, external_ids: Sequence[str] | None) -> int:
        return self._builder.build(extractor, only=external_ids).extraction.memories

    def watch(
        self,
        *,
        extractor: str | Extractor | None = None,
        wait: float | None = None,
        look: Callable[[], object] | None = None,
    ) -> Iterator[CaughtUp]:
        """Embed and link what other programs write into the table, as it comes in; give what was done each time.

        Parameters
        ----------
        wait : float, optional
            End when nothing came for so many seconds; by default never.
        look : callable, optional
            Called first, and each second: what else may have something to write.
        """
        look = look or (lambda: None)
        # Listening begins before the first look, so that no row comes in between.
        with self._store.listening(CHANNEL) as notified:
            look()
            yield self.catch_up(extractor=extractor)
            idle = 0.0
            while wait is None or idle < wait:
                look()
                patience = PATIENCE if wait is None else min(PATIENCE, wait - idle)
                if notified(patience):
                    idle = 0.0
                    done = self.catch_up(extractor=extractor)
                    if done.embedded or done.linked or done.left:
                        yield done
                else:
                    idle += patience

    def write_statements(self, model: Extractor, **options: Unpack[ExtractOptions]) -> Progress:
        """Let an extractor's model write up to three sentences about each memory: recall starts from the nearest.

        Answers are cached and a stopped run goes on, as with extractions; the facts of the count are statements.
        """
        self._writer.mark_by_rules()
        return self._builder.write_statements(model, **options)

    def backup(self, path: str | Path) -> Manifest:
        """Write the whole store, as it is at one moment, into a new file, and read it back."""
        from hopgate.store.backup import write_backup

        # Counts of words that wait to be added up are, so that a restored store, which is tidied, has the same rows.
        self._store.run(memories.tidy)
        return write_backup(self._store, Path(path))

    def restore(self, path: str | Path) -> Manifest:
        """Load a backup into this store, which must hold no memories; equal by checksum, or nothing is changed.

        Rules of sensitivity that this store has stay beside the backup's: what meets one is marked before it is read.
        """
        from hopgate.store.backup import read_backup

        made = read_backup(self._store, Path(path), self._writer.keep_rules)
        self._embedding.index()
        return made

    def scrub(self) -> Scrubbed:
        """Deal with what deletion leaves on the disk: dead rows, samples of texts and the write-ahead log."""
        from hopgate.store.backup import scrub

        return scrub(self._store)

    def log(self, *, limit: int = 50) -> list[JournalEntry]:
        """Give what was changed by hand, the last first: merges, what stays apart or gave way, marks and deletions."""
        return self._store.run(lambda connection: journal.listed(connection, limit=limit))

    def entry(self, entry_id: int) -> JournalEntry:
        """Give one entry of the log; an unknown one is refused."""
        found = self._store.run(lambda connection: journal.listed(connection, limit=1, only=entry_id))
        if not found:
            raise UnknownError(f"the log has no entry {entry_id}")
        return found[0]

    def undo(self, entry_id: int) -> JournalEntry:
        """Take an entry of the log back; a deletion cannot be, and what was undone is refused."""
        from hopgate.graph.build import curate, merge

        def work(connection: Connection[Any]) -> None:
            row = journal.taken(connection, entry_id)
            if row.action == journal.MERGE:
                merge.undo_merge(connection, row)
            elif row.action == journal.KEEP_APART:
                merge.undo_keep_apart(connection, row)
            elif row.action == journal.DELETE:
                raise HopgateError("a deletion cannot be undone: a backup brings the memories back")
            else:
                there = list(memories.external_ids(connection, row.memory_ids).values())
                if not there:
                    raise HopgateError("the memories of this entry are gone")
                take_back = curate.restore if row.action == journal.SUPERSEDE else self._writer.unmark_in
                take_back(connection, there)
            journal.undone(connection, entry_id)

        self._store.run(work)
        return self.entry(entry_id)

    def status(self) -> dict[str, Any]:
        """Count memories and what waits to be embedded or linked; name the models, the extractor and the rules."""
        with self._store.transaction() as connection:
            space = vectors.space(connection)
            states = extractions.states(connection)
            return {
                **tally(connection),
                "pending_vectors": vectors.count_pending(connection),
                "pending_graph": states.get("pending", 0),
                "failed_graph": states.get("failed", 0) + states.get("truncated", 0),
                "graph_version": version.current(connection),
                "graph_built": version.is_derived(connection),
                "extractor": extractions.made_by(connection),
                "embedder": space.identity.name if space else "",
                "late": space.late.name if space and space.late else "",
                "pgvector": connect.vector_notice(connect.vector_version(connection)),
                "sensitivity": setting_rows.sensitivity(connection).to_dict(),
                "store_settings": {name: value for name, (value, _) in setting_rows.read(connection).items()},
            }
