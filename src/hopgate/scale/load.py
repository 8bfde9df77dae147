"""The first half of a backfill: rows in, guarded, embedded by workers and written, a batch in one transaction."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg

from hopgate.errors import HopgateError
from hopgate.memory import Memory
from hopgate.scale.embedded_texts import EmbeddedTexts
from hopgate.scale.kept_reason import reason_of, without_values
from hopgate.scale.shards import SourceRow
from hopgate.scale.summary import Backfilled, StageRate
from hopgate.sensitivity import SensitivityRules
from hopgate.store import embedded_memories, memories, set_aside, setting_rows, store_language
from hopgate.store.retry import patiently
from hopgate.store.set_aside import SetAside

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.embed import Identity
    from hopgate.memory_writer import MemoryWriter
    from hopgate.scale.engine import WorkerPool
    from hopgate.store.store import Store

# So often a batch is looked at again because something of it turned sensitive while it was embedded.
WITHDRAWALS = 3


class _UndoneError(Exception):
    """Ends a transaction that was a trial."""


@dataclass(frozen=True, eq=False)
class PreparedBatch:
    """A batch that was looked at: what is to be written, what of that a model may read, and what is set aside."""

    rows: Sequence[SourceRow]
    new: tuple[Memory, ...]
    readable: tuple[Memory, ...]
    aside: tuple[SetAside, ...]
    settled: int
    repeated: int
    sensitive: int


@dataclass
class BatchLoader:
    """Loads batches into a store.

    Parameters
    ----------
    identity : Identity
        Who makes the vectors.
    run_at : datetime
        When the run began: what is set aside is noted with it.
    """

    store: Store
    writer: MemoryWriter
    pool: WorkerPool
    identity: Identity
    run_at: datetime
    done: Backfilled = field(default_factory=Backfilled)
    rates: dict[str, StageRate] = field(default_factory=dict)

    def load(self, batches: Iterable[Sequence[SourceRow]], show: Callable[[int], object]) -> None:
        """Take batches through; they are written in their order, so that ids are given as one process gives them."""
        waiting: deque[PreparedBatch] = deque()

        def readable() -> Iterator[tuple[Memory, ...]]:
            for batch in self._timed("reading", batches):
                waiting.append(self._prepare(batch))
                yield waiting[-1].readable

        for made in self.pool.each("embedded", readable()):
            self._finish(waiting.popleft(), made)
            show(self.done.read)

    def _timed(self, stage: str, batches: Iterable[Sequence[SourceRow]]) -> Iterator[Sequence[SourceRow]]:
        stream = iter(batches)
        while True:
            began = time.perf_counter()
            batch = next(stream, None)
            self._rate(stage, len(batch or ()), time.perf_counter() - began)
            if batch is None:
                return
            yield batch

    def _prepare(self, batch: Sequence[SourceRow]) -> PreparedBatch:
        began = time.perf_counter()
        prepared = patiently(lambda: self._looked_at(batch))
        self._rate("guarding", len(batch), time.perf_counter() - began)
        return prepared

    def _looked_at(self, batch: Sequence[SourceRow]) -> PreparedBatch:
        """The guard: sensitive memories, by flag, by rule or by a mark in the store, stay in this process."""
        with self.store.transaction() as connection:
            rules = SensitivityRules.of(setting_rows.sensitivity(connection))
            aside = [SetAside(row.source, row.place, None, "read", row.reason) for row in batch if row.memory is None]
            found: dict[str, Memory] = {}
            for row in batch:
                if row.memory is None:
                    continue
                if reason := _unsearchable(connection, row.memory):
                    aside.append(SetAside(row.source, row.place, row.memory.external_id, "read", reason))
                else:
                    # The last one counts, at its own place: the order is then that of one after the other.
                    found.pop(row.memory.external_id, None)
                    found[row.memory.external_id] = row.memory
            memories_ = list(rules.applied(found.values()))
            settled = embedded_memories.settled(connection, memories_)
            new = [memory for memory in memories_ if memory.external_id not in settled]
            known = memories.fetch(connection, [memory.external_id for memory in new])
        marked = {name for name, memory in known.items() if memory.is_sensitive}
        readable = [memory for memory in new if not memory.is_sensitive and memory.external_id not in marked]
        closed = sum(memory.is_sensitive for memory in memories_)
        repeated = len(batch) - len(aside) - len(found)
        return PreparedBatch(batch, tuple(new), tuple(readable), tuple(aside), len(settled), repeated, closed)

    def _finish(self, prepared: PreparedBatch, made: EmbeddedTexts) -> None:
        for _ in range(WITHDRAWALS):
            if not made.withdrawn:
                break
            prepared = self._prepare(prepared.rows)
            made = sum(self.pool.each("embedded", [prepared.readable]), EmbeddedTexts())
        if made.withdrawn:
            raise HopgateError(
                "memories turn sensitive faster than they are embedded: run this again when that is over"
            )
        self._rate("embedding", len(made.vectors), made.seconds)
        places = {row.memory.external_id: row for row in prepared.rows if row.memory is not None}
        aside = [
            *prepared.aside,
            *(_aside(places[name], "embed", reason) for name, reason in made.refused.items()),
        ]
        kept = [memory for memory in prepared.new if memory.external_id not in made.refused]
        began = time.perf_counter()
        self._write(prepared, kept, aside, places, made)
        self._rate("writing", len(kept), time.perf_counter() - began)
        self._count(read=len(prepared.rows), settled=prepared.settled, repeated=prepared.repeated)
        self._count(sensitive=prepared.sensitive)

    def _write(
        self,
        prepared: PreparedBatch,
        kept: list[Memory],
        aside: list[SetAside],
        places: dict[str, SourceRow],
        made: EmbeddedTexts,
    ) -> None:
        """Write a batch whole; a row that the server refuses is found, set aside, and the rest written whole."""
        gone = {(one.source, one.place) for one in aside}
        passed = [key for row in prepared.rows if (key := (row.source, row.place)) not in gone]
        vectors = {one.external_id: made.vectors[one.external_id] for one in kept if one.external_id in made.vectors}

        def note(connection: Connection[Any]) -> None:
            set_aside.replace(connection, passed, aside, self.run_at)

        try:
            written = patiently(partial(self.writer.write_embedded, kept, vectors, self.identity, note))
        except (psycopg.DataError, psycopg.IntegrityError) as error:
            if not (bad := self._refused(kept, made, error)):
                raise
            further = [_aside(places[name], "write", reason) for name, reason in bad.items()]
            left = [memory for memory in kept if memory.external_id not in bad]
            self._write(prepared, left, [*aside, *further], places, made)
            return
        self._count(added=written.added, changed=written.rows - written.added, embedded=len(vectors))
        self._count(set_aside=len(aside))

    def _refused(self, kept: Sequence[Memory], made: EmbeddedTexts, error: Exception) -> dict[str, str]:
        """Those of the memories that the server does not take, found by halves; nothing of it is kept."""
        if len(kept) < 2:
            return {memory.external_id: reason_of(error, memory.content) for memory in kept}
        half = len(kept) // 2
        found: dict[str, str] = {}
        for part in (kept[:half], kept[half:]):
            try:
                patiently(partial(self._tried, part, made))
            except (psycopg.DataError, psycopg.IntegrityError) as again:
                found |= self._refused(part, made, again)
        return found

    def _tried(self, part: Sequence[Memory], made: EmbeddedTexts) -> None:
        """Write memories and take that back."""

        def undo(_: Connection[Any]) -> None:
            raise _UndoneError

        with contextlib.suppress(_UndoneError):
            self.writer.write_embedded(part, made.vectors, self.identity, undo)

    def _count(self, **more: int) -> None:
        self.done = self.done.plus(**more)

    def _rate(self, stage: str, rows: int, seconds: float) -> None:
        self.rates[stage] = self.rates.get(stage, StageRate(stage)).plus(rows, seconds)


def _aside(row: SourceRow, stage: str, reason: str) -> SetAside:
    return SetAside(row.source, row.place, row.memory.external_id if row.memory else None, stage, reason)


def _unsearchable(connection: Connection[Any], memory: Memory) -> str:
    """Why this server cannot search a memory; nothing where it can."""
    try:
        store_language.require(connection, {memory.language} if memory.language else ())
    except HopgateError as error:
        return without_values(str(error))
    return ""
