"""What one process does for a backfill: survey a range of memories, and extract from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.errors import HopgateError
from hopgate.extract.context import with_turns
from hopgate.extract.extraction import Extraction, Source, failed
from hopgate.extract.extractor import Extractor
from hopgate.extract.progress import Progress
from hopgate.extract.rules.survey import CorpusSurvey
from hopgate.graph.build.extraction_rows import rows_of_extractions
from hopgate.graph.build.store_context import StoreContext
from hopgate.store import extractions
from hopgate.store.graph.extracted_rows import ExtractedRows
from hopgate.store.memory_ranges import IdRange, in_range

if TYPE_CHECKING:
    from psycopg import Connection

# Memories that one process reads at a time and that are written in one transaction: what an interruption costs.
RANGE = 1000


class RangeResult(NamedTuple):
    """What was read in a range, and how that went."""

    rows: ExtractedRows
    progress: Progress


@dataclass
class RangeReader:
    """Reads ranges with one extractor; what all memories show of their words is told to it once it is known."""

    extractor: Extractor
    survey: CorpusSurvey = field(default_factory=CorpusSurvey)

    def surveyed(self, connection: Connection[Any], ids: IdRange) -> CorpusSurvey:
        """Survey a range."""
        found = CorpusSurvey()
        for source in with_turns(in_range(connection, ids, RANGE).values()):
            found.add(source)
        return found

    def extracted(self, connection: Connection[Any], ids: IdRange) -> RangeResult:
        """Extract from those memories of a range that are not done."""
        known = in_range(connection, ids, RANGE)
        numbers = {memory.external_id: key for key, memory in known.items()}
        done = set(extractions.done(connection, list(numbers), self.extractor.identity))
        left = [memory for name, memory in zip(numbers, known.values(), strict=True) if name not in done]
        sources = StoreContext(self.survey).filled(connection, left)
        made = one_by_one(self.extractor, sources)
        pairs = zip((numbers[str(source.memory_id)] for source in sources), made, strict=True)
        counted = Progress().plus(made, [False] * len(made), 0.0)
        return RangeResult(rows_of_extractions(pairs), replace(counted, skipped=len(done)))


def one_by_one(extractor: Extractor, sources: Sequence[Source]) -> list[Extraction]:
    """Extract from sources together, or one by one where one of them raises, so that only that one fails."""
    try:
        return extractor.extract(sources)
    except HopgateError:
        raise
    except Exception as error:
        if len(sources) == 1:
            return [failed(f"{type(error).__name__}: {str(error)[:200]}")]
        return [one for source in sources for one in one_by_one(extractor, [source])]
