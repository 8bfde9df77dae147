"""A backfill: shards of many memories, guarded, embedded by an engine's workers and written a batch in a transaction.

Run again, it goes on where it stopped: what the store holds as it comes is neither embedded nor written.
"""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from glob import has_magic
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from hopgate.corpus import TOP
from hopgate.embed.embedder import embedder_from
from hopgate.embed.late import OFF, late_model
from hopgate.errors import HopgateError, LostServerError, RefusedRowError, UnreachableError, WithdrawnError
from hopgate.guard import guarded
from hopgate.memory import Cleared, Memory, cleared
from hopgate.progress import Progress
from hopgate.redact import redacted
from hopgate.scale.engine import Engine, map_batches, session, spans_machines
from hopgate.sources.read import ADDRESSES, checked_memories
from hopgate.store import clearance, connect, memories, setting_rows, vectors
from hopgate.store.store import retried

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.embed.texts import Made
    from hopgate.extract.extraction import Extractor
    from hopgate.memory_writer import MemoryWriter
    from hopgate.sources.source import ReadOptions
    from hopgate.store.fill import Embedding
    from hopgate.store.store import Store

# The files of a folder that are shards.
SUFFIXES = (".jsonl", ".ndjson", ".parquet", ".pq")
# Memories that are embedded by one worker at a time and written in one transaction.
BATCH = 512
# After so many new rows the planner's statistics and the index's pending list are worth a pass of their own.
TIDY_ABOVE = 1000
# So many memories in a row that an embedder refuses are its fault and not theirs.
PATIENCE = 50


class BackfillOptions(TypedDict, total=False):
    """How a backfill runs."""

    engine: Engine  # who embeds, and reads for the graph; by default a thread of this process
    show: Callable[[Progress], object]  # called with the count after every batch and stage
    extractor: str | Extractor  # what mentions and facts are read with; by default the rules
    embedder: str | None  # by default the store's, or `HOPGATE_EMBEDDER`, or the bundled bge-small-en-v1.5
    form: str | None  # the source's name, such as "parquet", where it is not to be recognised
    options: ReadOptions | None  # a field map, a query, and how else the source is read
    batch: int  # memories that one worker embeds at a time and that become visible together
    build: bool  # whether the graph follows; rows and vectors alone otherwise
    rebuild: bool  # whether all names are brought together anew where there is a graph already


class Rejected(NamedTuple):
    """A row that no memory was made of; nothing of what it holds, for nobody knows whether it is sensitive."""

    source: str  # the file or query
    place: str  # the line or row in it
    stage: str  # where it failed: "read", "embed" or "write"
    reason: str  # what was wrong with it, without its values


@dataclass(frozen=True, slots=True)
class Backfilled:
    """What a backfill did."""

    read: int = 0  # rows of the source
    added: int = 0
    changed: int = 0  # memories that were known and are as the source has them now
    unchanged: int = 0  # memories that the store had already as they came, of an earlier run or of one beside this
    sensitive: int = 0  # those of the source that no model has read
    repeated: int = 0  # rows whose id came again later in the same batch: the last one counts
    embedded: int = 0  # memories that got a vector
    linked: int = 0  # memories that got an extraction
    rejected: tuple[Rejected, ...] = ()
    workers: int = 1
    seconds: float = 0.0  # from the first row to the last edge
    stages: dict[str, float] = field(default_factory=dict)  # seconds of each; those of several workers add up

    def __str__(self) -> str:
        return (
            f"{self.read:,} rows: {self.added:,} memories are new, {self.changed:,} changed, {self.unchanged:,} were "
            f"there already, {len(self.rejected):,} rows were rejected; {self.embedded:,} embedded, {self.linked:,} "
            f"linked, {self.sensitive:,} sensitive ones left unread; {self.seconds:,.1f} s with {self.workers} "
            f"worker{'s' if self.workers > 1 else ''}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The summary as JSON values."""
        return {**asdict(self), "rejected": [row._asdict() for row in self.rejected]}


def backfill(
    sources: Sequence[str | Path],
    store: Store,
    embedding: Embedding,
    writer: MemoryWriter,
    build: Callable[[Engine, Callable[[Progress], object]], int],
    given: BackfillOptions,
) -> Backfilled:
    """Bring everything that a source holds into a store, once each, whoever else is doing the same.

    `build` makes the graph after the last row, for concepts need all names, and gives how many memories it read.
    """
    size, show = given.get("batch", BATCH), given.get("show", str)
    if size < 1:
        raise HopgateError("a batch holds at least one memory")
    began, files = time.monotonic(), shards(sources)
    spec = embedding.working_spec(given.get("embedder"))
    engine = given.get("engine", Engine())
    with session(engine):
        engine = _within_reach(engine, store)
        loader = _Loader(store, writer, embedding, spec, engine)
        stream = chain.from_iterable(rows(file, given.get("form"), given.get("options")) for file in files)
        for done in loader.load(iter(lambda: list(islice(stream, size)), [])):
            show(Progress(memories=done, seconds=time.monotonic() - began, stage="embedding and writing"))
        if loader.counts["added"] + loader.counts["changed"] >= TIDY_ABOVE:
            retried(lambda: store.run(memories.tidy), patient=True)
        retried(embedding.index, patient=True)
        if given.get("build", True):
            started = time.perf_counter()
            loader.counts["linked"] = retried(lambda: build(engine, show), patient=True)
            loader.seconds["building"] = time.perf_counter() - started
    return Backfilled(
        **loader.counts,
        rejected=tuple(loader.rejected),
        workers=engine.workers or 1,
        seconds=time.monotonic() - began,
        stages=dict(loader.seconds),
    )


def shards(sources: Sequence[str | Path]) -> list[str]:
    """Resolve paths, globs, folders and addresses, in one order always; what names nothing is refused.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("b.jsonl", "a.jsonl", "notes.txt"):
    ...         _ = Path(folder, name).write_text("")
    ...     [Path(shard).name for shard in shards([folder])], len(shards([f"{folder}/*.txt"]))
    (['a.jsonl', 'b.jsonl'], 1)
    """
    files: list[str] = []
    for source in map(str, sources):
        path = Path(source)
        if source.startswith(ADDRESSES) or path.is_file():
            files.append(source)
        elif path.is_dir():
            inside = sorted(str(file) for file in path.iterdir() if file.name.lower().endswith(SUFFIXES))
            if not inside:
                raise HopgateError(
                    f"{source} holds no shard ({', '.join(SUFFIXES)}): give its files, or hopgate ingest"
                )
            files += inside
        elif has_magic(source):
            fixed = next(part for part in path.parents if not has_magic(str(part)))
            matching = sorted(str(file) for file in fixed.glob(str(path.relative_to(fixed))) if file.is_file())
            if not matching:
                raise HopgateError(f"no file is called {source}: correct the pattern")
            files += matching
        else:
            raise HopgateError(f"{source} cannot be read: there is no such file")
    return list(dict.fromkeys(files))


class Row(NamedTuple):
    """A row of a shard: a memory, or why it is none."""

    source: str
    place: str
    memory: Memory | None
    reason: str = ""


def rows(shard: str, form: str | None = None, options: ReadOptions | None = None) -> Iterator[Row]:
    """Read a shard; a row that is no memory carries the reason."""
    name = redacted(shard)
    for place, read in checked_memories(shard, form, options):
        if isinstance(read, HopgateError):
            yield Row(name, place, None, without_values(str(read)))
        else:
            yield Row(name, place, read)


# A value as an error repeats it: not the apostrophe inside a word, and to the end where it was cut.
_QUOTED = re.compile(r"(?<!\w)(?:'(?:[^'\\]|\\.)*'?|\"(?:[^\"\\]|\\.)*\"?)", re.DOTALL)
# What stands there instead of what was wanted; the kind of a value may be named.
_INSTEAD = re.compile(r", not (?!an? \w+(?:$|[:;,])).*", re.DOTALL)


def without_values(reason: str) -> str:
    """Leave out of an error about a row what it repeats of it: what a field or a name in it held.

    Examples
    --------
    >>> without_values("created_at must be an ISO 8601 date or time, not 'The pin is 4711'")
    'created_at must be an ISO 8601 date or time'
    >>> without_values("'isSensitive' is not a field of a memory: did you mean 'is_sensitive'?")
    "'…' is not a field of a memory: did you mean 'is_sensitive'?"
    >>> without_values("tags must be a list, not a number"), without_values("1e999 is too large a number")
    ('tags must be a list, not a number', 'it is too large a number')
    """
    plain = _QUOTED.sub(lambda match: match[0] if match[0].strip("'\"") in TOP else "'…'", redacted(reason))
    return re.sub(r"^\S+ is too large a number", "it is too large a number", _INSTEAD.sub("", plain))[:200]


def _within_reach(engine: Engine, store: Store) -> Engine:
    """The engine with as many workers as the store has connections for."""
    if engine.name == "ray" and store.directory is not None and spans_machines():
        raise HopgateError(
            "an embedded store serves the workers of its own machine: give a server's address that all can reach, "
            "--dsn postgresql://…"
        )
    allowed = retried(lambda: store.run(connect.workers_allowed), patient=True)
    return replace(engine, workers=min(engine.size(), allowed))


class _Readable(NamedTuple):
    """What a model may read of a batch, and where in the source it lies."""

    memories: Sequence[Memory]
    place: str


class _Prepared(NamedTuple):
    """A batch that the guard has looked at."""

    rows: Sequence[Row]
    new: tuple[Memory, ...]
    readable: _Readable
    rejected: list[Rejected]
    counts: dict[str, int]


class _Embedded(NamedTuple):
    """What a worker made of a batch, by external id."""

    made: dict[str, Made]
    refused: dict[str, str]  # why a memory has none
    seconds: float


class _Loader:
    """Takes batches through the guard and the workers into the store, in their order."""

    def __init__(self, store: Store, writer: MemoryWriter, embedding: Embedding, spec: str, engine: Engine) -> None:
        self.counts = Counter[str]()
        self.rejected: list[Rejected] = []
        self.seconds: dict[str, float] = defaultdict(float)
        self._store, self._writer, self._engine = store, writer, engine
        late = embedding.late()
        self._identity, self._late = embedding.embedder(spec).identity, late.identity if late else None
        late_spec = late.identity.spec if late else OFF
        self._make = partial(_Embedding, store, spec, late_spec, None if engine.name == "local" else 1)

    def load(self, batches: Iterator[list[Row]]) -> Iterator[int]:
        """Load batches; give after each how many rows were read so far."""
        waiting: deque[_Prepared] = deque()

        def readable() -> Iterator[_Readable]:
            while True:
                began = time.perf_counter()
                batch = next(batches, None)
                self.seconds["reading"] += time.perf_counter() - began
                if batch is None:
                    return
                began = time.perf_counter()
                waiting.append(retried(partial(self._store.run, partial(_guard, batch=batch)), patient=True))
                self.seconds["guarding"] += time.perf_counter() - began
                yield waiting[-1].readable

        for made in map_batches(self._engine, self._make, readable(), place=lambda batch: batch.place):
            self._finish(waiting.popleft(), made)
            yield self.counts["read"]

    def _finish(self, prepared: _Prepared, made: _Embedded) -> None:
        self.seconds["embedding"] += made.seconds
        began = time.perf_counter()
        places = {row.memory.external_id: row for row in prepared.rows if row.memory is not None}
        refused = {name: ("embed", reason) for name, reason in made.refused.items()}
        kept = [memory for memory in prepared.new if memory.external_id not in refused]
        try:
            self._write(kept, made)
        except RefusedRowError:
            for memory in kept:
                try:
                    self._write([memory], made)
                except RefusedRowError as error:
                    refused[memory.external_id] = ("write", error.kind)
        self.rejected += prepared.rejected
        self.rejected += [
            Rejected(places[name].source, places[name].place, *reason) for name, reason in refused.items()
        ]
        self.counts.update(prepared.counts)
        self.seconds["writing"] += time.perf_counter() - began

    def _write(self, new: Sequence[Memory], made: _Embedded) -> None:
        there = {one.external_id: made.made[one.external_id] for one in new if one.external_id in made.made}
        write = partial(self._writer.write_embedded, new, there, self._identity, self._late)
        written = retried(write, patient=True)
        self.counts["added"] += written.added
        self.counts["changed"] += written.rows - written.added
        self.counts["embedded"] += len(there)


def _guard(connection: Connection[Any], batch: Sequence[Row]) -> _Prepared:
    """Sensitive memories, by flag, by rule or by a mark in the store, stay in this process."""
    rules = setting_rows.sensitivity(connection)
    rejected = [Rejected(row.source, row.place, "read", row.reason) for row in batch if row.memory is None]
    given: dict[str, Memory] = {}
    for row in batch:
        if row.memory is None:
            continue
        try:
            setting_rows.require_languages(connection, {row.memory.language} if row.memory.language else ())
        except HopgateError as error:
            rejected.append(Rejected(row.source, row.place, "read", without_values(str(error))))
        else:
            # The last one counts, at its own place: the order is then that of one after the other.
            given.pop(row.memory.external_id, None)
            given[row.memory.external_id] = row.memory
    marked = list(rules.applied(given.values()))
    unchanged = vectors.unchanged(connection, marked)
    new = tuple(memory for memory in marked if memory.external_id not in unchanged)
    readable = clearance.still_open(connection, [memory for memory in new if not memory.is_sensitive])
    counts = {
        "read": len(batch),
        "unchanged": len(unchanged),
        "sensitive": sum(memory.is_sensitive for memory in marked),
        "repeated": len(batch) - len(rejected) - len(given),
    }
    place = f"{batch[0].source}, {batch[0].place}, to {batch[-1].source}, {batch[-1].place}"
    return _Prepared(batch, new, _Readable(readable, place), rejected, counts)


class _Embedding:
    """What a worker embeds with: its own models, without the cache on this machine's disk."""

    def __init__(self, store: Store, spec: str, late: str, threads: int | None) -> None:
        from hopgate.embed.bundled import BgeSmall
        from hopgate.embed.texts import TextModels

        made = embedder_from(spec)
        self._store = store
        self._models = TextModels(BgeSmall(threads) if isinstance(made, BgeSmall) else made, late_model(late, threads))
        self._failures = 0

    def __call__(self, batch: _Readable) -> _Embedded:
        """Embed memories that the guard has passed, again where the server of the store went away meanwhile."""
        return retried(partial(self._embedded, batch), patient=True)

    def _embedded(self, batch: _Readable) -> _Embedded:
        """Embed a batch; a memory that the embedder refuses, or that turns sensitive, does not keep the others."""
        began = time.perf_counter()
        left = batch.memories
        while True:
            made: dict[str, Made] = {}
            refused: dict[str, str] = {}
            guard = clearance.incoming_guard(self._store, left)
            passed = list(cleared((memory.external_id, memory) for memory in left))
            try:
                with guarded(guard):
                    if passed:
                        guard.check()
                        self._add(passed, made, refused)
                return _Embedded(made, refused, time.perf_counter() - began)
            except WithdrawnError:
                left = self._store.run(partial(clearance.still_open, new=left))

    def _add(self, passed: Sequence[tuple[str, Cleared]], made: dict[str, Made], refused: dict[str, str]) -> None:
        """Embed together, or one by one where that fails, so that only the memory at fault is refused."""
        try:
            made |= zip([name for name, _ in passed], self._models.made([text for _, text in passed]), strict=True)
        except (WithdrawnError, LostServerError, UnreachableError):
            raise
        except Exception as error:
            if len(passed) > 1:
                for memory in passed:
                    self._add([memory], made, refused)
                return
            self._failures += 1
            if self._failures >= PATIENCE:
                raise
            # What a server answered stands in brackets, and may repeat the text.
            reason = str(error).partition(" (")[0]
            refused[passed[0][0]] = without_values(reason) if isinstance(error, HopgateError) else type(error).__name__
            return
        self._failures = 0
