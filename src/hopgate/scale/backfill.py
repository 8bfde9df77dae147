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
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from hopgate.corpus import TOP
from hopgate.embed.embedder import embedder_from
from hopgate.embed.late import OFF, late_model
from hopgate.errors import HopgateError, LostServerError, RefusedRowError, UnreachableError
from hopgate.memory import Memory
from hopgate.progress import Progress
from hopgate.redact import redacted
from hopgate.scale.engine import Engine, map_batches, place_of
from hopgate.sources.read import ADDRESSES, read_source
from hopgate.store import connect, memories
from hopgate.store.fill import read_page
from hopgate.store.store import retried

if TYPE_CHECKING:
    from hopgate.extract.extraction import Extractor
    from hopgate.kb import KnowledgeBase
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
    embedded: int = 0  # memories that got a vector
    linked: int = 0  # memories that got an extraction
    rejected: list[Rejected] = field(default_factory=list)
    workers: int = 1
    stages: dict[str, float] = field(default_factory=dict)  # seconds of each

    def __str__(self) -> str:
        return (
            f"{self.read:,} rows: {self.added:,} memories are new, {self.changed:,} changed, {self.unchanged:,} were "
            f"there already, {len(self.rejected):,} rows were rejected; {self.embedded:,} embedded, {self.linked:,} "
            f"linked, {self.sensitive:,} sensitive ones left unread; {sum(self.stages.values()):,.1f} s with "
            f"{self.workers} worker{'s' if self.workers > 1 else ''}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The summary as JSON values."""
        return {**asdict(self), "rejected": [row._asdict() for row in self.rejected]}


def backfill(
    kb: KnowledgeBase, embedding: Embedding, sources: Sequence[str | Path], given: BackfillOptions
) -> Backfilled:
    """Bring everything that sources hold into a store, once each, whoever else is doing the same.

    The graph is built after the last row, for concepts need all names.
    """
    size, show = given.get("batch", BATCH), given.get("show", str)
    if size < 1:
        raise HopgateError("a batch holds at least one memory")
    files = shards(sources)
    spec = embedding.working_spec(given.get("embedder"))
    engine = given.get("engine", Engine())
    connections = retried(lambda: kb.store.run(connect.workers_allowed), patient=True)
    engine = replace(engine, workers=min(engine.size(), connections))
    done = Backfilled(workers=engine.workers or 1)

    began, stream = time.monotonic(), rows(files, given, done)
    while batch := list(islice(stream, size)):
        # Of an id that comes again the last row counts.
        _write(kb, list({row.memory.external_id: row for row in batch}.values()), done)
        show(Progress(memories=done.read, seconds=time.monotonic() - began, stage="writing"))
    if done.added + done.changed >= TIDY_ABOVE:
        retried(lambda: kb.store.run(memories.tidy), patient=True)
    done.stages["writing"] = time.monotonic() - began

    began = time.monotonic()
    _embed(kb.store, embedding, spec, engine, done, show)
    done.stages["embedding"] = time.monotonic() - began

    if given.get("build", True):
        began = time.monotonic()
        extractor, rebuild = given.get("extractor", "phrases"), given.get("rebuild", False)
        build = partial(kb.build, extractor, rebuild=rebuild, engine=engine, show=show)
        done.linked = retried(build, patient=True).extraction.memories
        done.stages["building"] = time.monotonic() - began
    return done


def shards(sources: Sequence[str | Path]) -> list[str]:
    """Resolve paths, globs, folders and addresses, in one order always; what names nothing is refused."""
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


# ---- Rows ------------------------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """A memory, and where it lies in the source."""

    source: str
    place: str
    memory: Memory


def rows(files: Iterable[str], given: BackfillOptions, done: Backfilled) -> Iterator[Row]:
    """Read shards; a row that is no memory is noted as rejected."""
    for file in files:
        source = redacted(file)
        for place, memory in read_source(file, given.get("form"), given.get("options")).items:
            done.read += 1
            if isinstance(memory, HopgateError):
                done.rejected.append(Rejected(source, place, "read", without_values(memory)))
            else:
                yield Row(source, place, memory)


def _write(kb: KnowledgeBase, batch: Sequence[Row], done: Backfilled) -> None:
    """Write memories in one transaction, or one by one where that fails, so that only those at fault are refused."""
    try:
        written = retried(partial(kb.add, *(row.memory for row in batch)), patient=True)
    except LostServerError:
        raise
    except HopgateError as error:
        if len(batch) == 1:
            done.rejected.append(Rejected(batch[0].source, batch[0].place, "write", without_values(error)))
            return
        for row in batch:
            _write(kb, [row], done)
    else:
        done.added += written.added
        done.changed += written.updated
        done.unchanged += written.rows - written.added - written.updated
        done.sensitive += written.sensitive


# A value as an error repeats it: not the apostrophe inside a word, and to the end where it was cut.
_QUOTED = re.compile(r"(?<!\w)(?:'(?:[^'\\]|\\.)*'?|\"(?:[^\"\\]|\\.)*\"?)", re.DOTALL)
# What stands there instead of what was wanted; the kind of a value may be named.
_INSTEAD = re.compile(r", not (?!an? \w+(?:$|[:;,])).*", re.DOTALL)


def without_values(error: HopgateError) -> str:
    """Why a row was refused, without what the error repeats of it: what a field or a name in it held."""
    if isinstance(error, RefusedRowError):
        return error.kind
    plain = _QUOTED.sub(lambda match: match[0] if match[0].strip("'\"") in TOP else "'…'", redacted(str(error)))
    return re.sub(r"^\S+ is too large a number", "it is too large a number", _INSTEAD.sub("", plain))[:200]


# ---- Vectors ---------------------------------------------------------------------------------------------------------


def _embed(
    store: Store, embedding: Embedding, spec: str, engine: Engine, done: Backfilled, show: Callable[[Progress], object]
) -> None:
    """Give every memory that waits for a vector its own, by an engine's workers; note those that are refused one."""
    began, late = time.monotonic(), embedding.late()
    reader = partial(_PageReader, store, spec, late.identity.spec if late else OFF)
    refused: dict[int, str] = {}

    def read(pages: Iterable[Sequence[int]]) -> Iterator[list[Embedded]]:
        for made, reasons in map_batches(engine, reader, pages, place=place_of):
            refused.update(reasons)
            yield made

    def advance(count: int) -> None:
        done.embedded += count
        show(Progress(memories=done.embedded, seconds=time.monotonic() - began, stage="embedding"))

    retried(lambda: embedding.fill(spec, advance, read), patient=True)
    names = store.run(partial(memories.external_ids, ids=refused))
    done.rejected += [
        Rejected("the store", f"memory {names.get(key, key)!r}", "embed", reason) for key, reason in refused.items()
    ]


class _PageReader:
    """What a worker embeds with: its own models, without the cache on this machine's disk."""

    def __init__(self, store: Store, spec: str, late: str) -> None:
        from hopgate.embed.texts import TextModels

        self._store = store
        self._models = TextModels(embedder_from(spec), late_model(late))
        self._failures = 0

    def __call__(self, ids: Sequence[int]) -> tuple[list[Embedded], dict[int, str]]:
        """Embed memories together, or one by one where that fails; give by id why those at fault were refused."""
        try:
            embedded = retried(partial(read_page, self._store, self._models, ids), patient=True)
        except (LostServerError, UnreachableError):
            raise
        except Exception as error:
            if len(ids) > 1:
                pages = [self([key]) for key in ids]
                reasons = {key: reason for _, refused in pages for key, reason in refused.items()}
                return [row for made, _ in pages for row in made], reasons
            self._failures += 1
            if self._failures >= PATIENCE:
                raise
            if not isinstance(error, HopgateError):
                return [], {ids[0]: type(error).__name__}
            # What a server answered stands in brackets, and may repeat the text.
            return [], {ids[0]: without_values(HopgateError(str(error).partition(" (")[0]))}
        self._failures = 0
        return embedded, {}
