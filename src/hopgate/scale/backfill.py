"""A backfill: shards of many memories, written a batch in a transaction, then embedded and read by an engine's workers.

Run again, it goes on where it stopped: what the store holds as it comes is neither written nor embedded.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from glob import glob
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from hopgate.corpus import TOP
from hopgate.embed.embedder import embedder_from
from hopgate.embed.late import OFF, late_model
from hopgate.errors import HopgateError, LostServerError, RefusedRowError, UnreachableError
from hopgate.memory import Memory
from hopgate.progress import Progress
from hopgate.redact import redacted
from hopgate.scale.engine import Engine, map_batches
from hopgate.sources.read import ADDRESSES, checked_memories
from hopgate.store import connect, memories
from hopgate.store.fill import read_page
from hopgate.store.store import retried

if TYPE_CHECKING:
    from hopgate.extract.extraction import Extractor
    from hopgate.memory_writer import MemoryWriter
    from hopgate.sources.source import ReadOptions
    from hopgate.store.fill import Embedding
    from hopgate.store.store import Store
    from hopgate.store.vectors import Embedded

# The files of a folder that are shards.
SUFFIXES = (".jsonl", ".ndjson", ".parquet", ".pq")
# Memories that are written in one transaction.
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
    batch: int  # memories that become visible together
    build: bool  # whether the graph follows; rows and vectors alone otherwise
    rebuild: bool  # whether all names are brought together anew where there is a graph already


class Rejected(NamedTuple):
    """A row that no memory was made of, or a memory that got no vector: nothing of what it holds."""

    source: str  # the file or query, or the store
    place: str  # the line or row in it, or the memory's id
    stage: str  # where it failed: "read", "write" or "embed"
    reason: str  # what was wrong with it, without its values


@dataclass(slots=True)
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
    rejected: list[Rejected] = field(default_factory=list)
    workers: int = 1
    seconds: float = 0.0  # from the first row to the last edge
    stages: dict[str, float] = field(default_factory=dict)  # seconds of each

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
    engine = _within_reach(given.get("engine", Engine()), store)
    done = Backfilled(workers=engine.workers or 1)

    stream = chain.from_iterable(rows(file, given.get("form"), given.get("options")) for file in files)
    while batch := list(islice(stream, size)):
        _write_batch(writer, batch, done)
        show(Progress(memories=done.read, seconds=time.monotonic() - began, stage="writing"))
    if done.added + done.changed >= TIDY_ABOVE:
        retried(lambda: store.run(memories.tidy), patient=True)
    done.stages["writing"] = time.monotonic() - began
    _embed(store, embedding, spec, engine, done, show)
    done.stages["embedding"] = time.monotonic() - began - done.stages["writing"]
    if given.get("build", True):
        started = time.monotonic()
        done.linked = retried(lambda: build(engine, show), patient=True)
        done.stages["building"] = time.monotonic() - started
    done.seconds = time.monotonic() - began
    return done


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
            matching = [source]
        elif path.is_dir():
            matching = sorted(str(file) for file in path.iterdir() if file.name.lower().endswith(SUFFIXES))
        else:
            # `Path.glob` takes no absolute pattern.
            matching = sorted(name for name in glob(source, recursive=True) if Path(name).is_file())  # noqa: PTH207
        if not matching:
            raise HopgateError(f"{source} names no shard: give a file, a pattern, or a folder of {', '.join(SUFFIXES)}")
        files += matching
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
    if store.directory is not None and engine.spans_machines():
        raise HopgateError(
            "an embedded store serves the workers of its own machine: give a server's address that all can reach, "
            "--dsn postgresql://…"
        )
    allowed = retried(lambda: store.run(connect.workers_allowed), patient=True)
    return replace(engine, workers=min(engine.size(), allowed))


def _write_batch(writer: MemoryWriter, batch: Sequence[Row], done: Backfilled) -> None:
    """Write the memories of a batch in one transaction, and note the rows that are none."""
    row_by_id: dict[str, Row] = {}
    for row in batch:
        if row.memory is None:
            done.rejected.append(Rejected(row.source, row.place, "read", row.reason))
        else:
            # The last one counts, at its own place: the order is then that of one after the other.
            done.repeated += row_by_id.pop(row.memory.external_id, None) is not None
            row_by_id[row.memory.external_id] = row
    done.read += len(batch)
    _write(writer, list(row_by_id.values()), done)


def _write(writer: MemoryWriter, batch: Sequence[Row], done: Backfilled) -> None:
    """Write rows that are memories, one by one where that fails together, so that only those at fault are refused."""
    new = [row.memory for row in batch if row.memory is not None]
    try:
        written = retried(partial(writer.write, new), patient=True)
    except LostServerError:
        raise
    except HopgateError as error:
        if len(batch) > 1:
            for row in batch:
                _write(writer, [row], done)
            return
        reason = error.kind if isinstance(error, RefusedRowError) else without_values(str(error))
        done.rejected.append(Rejected(batch[0].source, batch[0].place, "write", reason))
    else:
        done.added += written.added
        done.changed += written.updated
        done.unchanged += written.rows - written.added - written.updated
        done.sensitive += written.sensitive


def _embed(
    store: Store, embedding: Embedding, spec: str, engine: Engine, done: Backfilled, show: Callable[[Progress], object]
) -> None:
    """Give every memory that waits for a vector its own, by an engine's workers; note those that are refused one."""
    began, late = time.monotonic(), embedding.late()
    reader = partial(_PageReader, store, spec, late.identity.spec if late else OFF)
    refused: dict[int, str] = {}

    def read(pages: Iterable[Sequence[int]]) -> Iterator[list[Embedded]]:
        for page in map_batches(engine, reader, pages, place=lambda ids: f"the memories from number {ids[0]} on"):
            refused.update(page.refused)
            yield page.embedded

    def advance(count: int) -> None:
        done.embedded += count
        show(Progress(memories=done.embedded, seconds=time.monotonic() - began, stage="embedding"))

    retried(lambda: embedding.fill(spec, advance, read), patient=True)
    names = store.run(partial(memories.external_ids, ids=refused))
    done.rejected += [
        Rejected("the store", f"memory {names.get(key, key)!r}", "embed", refused[key]) for key in refused
    ]


class _Page(NamedTuple):
    """What a worker made of some memories, and why a memory has none."""

    embedded: list[Embedded]
    refused: dict[int, str]


class _PageReader:
    """What a worker embeds with: its own models, without the cache on this machine's disk."""

    def __init__(self, store: Store, spec: str, late: str) -> None:
        from hopgate.embed.texts import TextModels

        self._store = store
        self._models = TextModels(embedder_from(spec), late_model(late))
        self._failures = 0

    def __call__(self, ids: Sequence[int]) -> _Page:
        """Embed memories, again where the server of the store went away meanwhile."""
        refused: dict[int, str] = {}
        return _Page(self._embedded(ids, refused), refused)

    def _embedded(self, ids: Sequence[int], refused: dict[int, str]) -> list[Embedded]:
        """Embed together, or one by one where that fails, so that only the memory at fault is refused."""
        try:
            embedded = retried(partial(read_page, self._store, self._models, ids), patient=True)
        except (LostServerError, UnreachableError):
            raise
        except Exception as error:
            if len(ids) > 1:
                return [made for key in ids for made in self._embedded([key], refused)]
            self._failures += 1
            if self._failures >= PATIENCE:
                raise
            # What a server answered stands in brackets, and may repeat the text.
            reason = str(error).partition(" (")[0]
            refused[ids[0]] = without_values(reason) if isinstance(error, HopgateError) else type(error).__name__
            return []
        self._failures = 0
        return embedded
