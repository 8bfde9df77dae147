"""What one process does for a backfill: survey a range of memories, and extract from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Extraction, Source, bounded, failed, sources
from hopgate.extract.extractor import ContextualExtractor, Extractor
from hopgate.extract.progress import Progress
from hopgate.extract.rules.survey import CorpusSurvey
from hopgate.graph.build.extraction_rows import rows_of_extractions
from hopgate.graph.build.store_context import StoreContext, survey_page
from hopgate.memory import Memory
from hopgate.redact import redacted
from hopgate.sensitivity import SensitivityRules
from hopgate.store import extractions, setting_rows
from hopgate.store.graph.extracted_rows import ExtractedRows, copy_lines
from hopgate.store.memory_ranges import IdRange, digests, in_range
from hopgate.store.thread_rows import digest

if TYPE_CHECKING:
    from psycopg import Connection

# Memories that one process reads at a time and that are written in one transaction: what an interruption costs.
RANGE = 1000

Surveys = Mapping[str, CorpusSurvey]
"""What memories show of their words, by scope; under "" where scopes are shared, or there is none."""


class RangeResult(NamedTuple):
    """What was read in a range, and how that went."""

    rows: ExtractedRows
    progress: Progress


class PreparedRange(NamedTuple):
    """What is to be read in a range: sources with their memories' ids and digests, and the turns that go with them."""

    sources: list[Source]
    keys: list[int]
    versions: list[str]
    turns: bytes
    done: int


@dataclass
class RangeReader:
    """Reads ranges with one extractor; what a scope's memories show of their words is told to it once it is known."""

    extractor: Extractor
    surveys: Surveys = field(default_factory=dict)

    def surveyed(self, connection: Connection[Any], ids: IdRange) -> dict[str, CorpusSurvey]:
        """Survey a range: each scope's memories apart, unless scopes are shared."""
        found: dict[str, CorpusSurvey] = {}
        shared = setting_rows.scopes(connection) == setting_rows.SHARED
        survey_page(found, list(_open(connection, ids).values()), shared)
        return found

    def extracted(self, connection: Connection[Any], ids: IdRange) -> RangeResult:
        """Extract from those memories of a range that are not done."""
        return self.read(self.prepared(connection, ids))

    def prepared(self, connection: Connection[Any], ids: IdRange) -> PreparedRange:
        """Give what is to be read in a range: a model reads it when the transaction has ended."""
        # Before the texts: what changes between the two is then told from what was read.
        versions = digests(connection, ids)
        known = {key: memory for key, memory in _open(connection, ids).items() if key in versions}
        done = known.keys() & extractions.done_between(connection, ids.first, ids.last, self.extractor.identity)
        left = [memory for key, memory in known.items() if key not in done]
        numbers = {memory.external_id: key for key, memory in known.items()}
        if isinstance(self.extractor, ContextualExtractor):
            read = StoreContext(self.surveys).filled(connection, left)
        else:
            read = list(sources(left))
        keys = [numbers[str(source.memory_id)] for source in read]
        turns = copy_lines(_turns_read(known, zip(keys, read, strict=True)))
        return PreparedRange(read, keys, [versions[key] for key in keys], turns, len(done))

    def read(self, range_: PreparedRange) -> RangeResult:
        """Extract from what was prepared."""
        made = [bounded(one) for one in one_by_one(self.extractor, range_.sources)]
        rows = rows_of_extractions(zip(range_.keys, made, range_.versions, strict=True))
        counted = Progress().plus(made, [False] * len(made), 0.0)
        return RangeResult(rows._replace(turns=range_.turns), replace(counted, skipped=range_.done))


def _open(connection: Connection[Any], ids: IdRange) -> dict[int, Memory]:
    """The memories of a range, without those that a rule of the store makes sensitive whatever their flag says."""
    rules = SensitivityRules.of(setting_rows.sensitivity(connection))
    known = in_range(connection, ids, RANGE)
    return {key: memory for key, memory in known.items() if not rules.meets(memory)} if rules else known


def _turns_read(
    known: Mapping[int, Memory], read: Iterable[tuple[int, Source]]
) -> Iterator[tuple[int, str | None, str | None, str]]:
    """The turns that memories were read with: memory, scope, thread, digest of the turn."""
    for key, source in read:
        for turn in source.before:
            yield key, known[key].scope, known[key].thread, digest(turn)


def one_by_one(extractor: Extractor, read: Sequence[Source]) -> list[Extraction]:
    """Extract from sources together, or one by one where one of them raises, so that only that one fails."""
    try:
        return extractor.extract(read)
    except HopgateError:
        raise
    except Exception as error:
        if len(read) == 1:
            return [failed(f"{type(error).__name__}: {redacted(str(error))[:200]}")]
        return [one for source in read for one in one_by_one(extractor, [source])]
