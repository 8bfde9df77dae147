"""The extraction of a backfill by rules: surveyed and read by all cores, written range by range in few statements."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from hopgate.embed.onnx import cores
from hopgate.extract.extractor import ContextualExtractor, ExtractorIdentity
from hopgate.extract.progress import Progress
from hopgate.extract.rules.survey import CorpusSurvey
from hopgate.graph.build.range_reading import RANGE, RangeResult, Surveys
from hopgate.graph.build.reading_pool import ReadingPool, Task
from hopgate.graph.build.revoke import revoke
from hopgate.store import memory_words
from hopgate.store.graph import extracted_rows, name_rows, version
from hopgate.store.memory_ranges import IdRange, id_ranges

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.extract.extractor import Extractor
    from hopgate.store.store import Store

# Fewer ranges are read in less time than it takes to start a process.
MIN_RANGES = 4
# A model takes seconds a memory: a range is then what an interruption may cost.
MODEL_RANGE = 32


class BulkReaders(Protocol):
    """Whoever reads ranges of memories side by side: processes of this machine, or workers of a cluster."""

    def tell(self, surveys: Surveys) -> None:
        """Let every reader know what all memories show."""
        ...

    def each(self, task: Task, ranges: Sequence[IdRange]) -> Iterator[Any]:
        """Do a task for every range; results come in the order of the ranges."""
        ...


def extract_in_bulk(
    store: Store,
    extractor: Extractor,
    show: Callable[[Progress], object],
    processes: int | None = None,
    readers: BulkReaders | None = None,
) -> Progress:
    """Extract from every memory that the extractor has not dealt with; nothing follows from it yet.

    Parameters
    ----------
    processes : int, optional
        How many read; by default one a core for a large store, and none for a small one, which this process reads.
    readers : BulkReaders, optional
        Who reads instead of processes of this machine.
    """
    surveying = isinstance(extractor, ContextualExtractor)
    size = RANGE if surveying else MODEL_RANGE
    with store.transaction() as connection:
        ranges, total = id_ranges(connection, size), memory_words.count_kept(connection)
    if processes is None:
        processes = min(cores(), len(ranges)) if len(ranges) >= MIN_RANGES else 0
    began = time.monotonic()
    with contextlib.nullcontext(readers) if readers else ReadingPool(store, extractor, processes) as pool:
        surveys: dict[str, CorpusSurvey] = {}
        progress = Progress(total=total, stage="surveying")
        for found in pool.each("surveyed", ranges if surveying else []):
            for scope, survey in found.items():
                surveys.setdefault(scope, CorpusSurvey()).words.merge(survey.words)
            progress = replace(
                progress, memories=min(total, progress.memories + RANGE), seconds=time.monotonic() - began
            )
            show(progress)
        pool.tell(surveys)
        began = time.monotonic()
        progress = Progress(total=total, stage="extracting")
        for read in pool.each("extracted", ranges):
            store.run(partial(write_range, read, extractor.identity))
            progress = progress.joined(read.progress, time.monotonic() - began)
            show(progress)
    return replace(progress, stage="")


def write_range(read: RangeResult, identity: ExtractorIdentity, connection: Connection[Any]) -> None:
    """Write what was read in a range, in the place of these memories' earlier extractions."""
    extracted_rows.stage(connection, read.rows)
    # Every writer of both locks memories first and the graph second, so that no two wait for each other.
    extracted_rows.keep_readable(connection)
    name_rows.lock(connection)
    if read.rows.turns:
        extracted_rows.drop_by_turns(connection)
    if before := extracted_rows.extracted_before(connection):
        revoke(connection, before)
    extracted_rows.add_names(connection)
    extracted_rows.add_mentions_and_facts(connection)
    extracted_rows.add_endings(connection, identity)
    version.bump(connection)
