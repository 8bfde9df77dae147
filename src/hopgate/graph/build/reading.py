"""Every memory of a store read by an engine's workers, a range of ids at a time: surveyed first, and then extracted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from hopgate.errors import HopgateError, WithdrawnError
from hopgate.extract.extraction import Extraction, Source, failed, sources
from hopgate.extract.extractor import ContextualExtractor, Extractor
from hopgate.extract.rules.survey import CorpusSurvey
from hopgate.extract.runner import Extracted
from hopgate.graph.build.store_context import StoreContext, survey_page
from hopgate.redact import redacted
from hopgate.scale.engine import Engine, map_batches, with_shared
from hopgate.sending import guarded
from hopgate.sensitivity import SensitivityRules
from hopgate.store import extractions, setting_rows
from hopgate.store.memory_ranges import IdRange, in_range

if TYPE_CHECKING:
    from typing import Any

    from psycopg import Connection

    from hopgate.memory import Memory
    from hopgate.store.store import Store

# Memories that one worker reads at a time and that are written in one transaction: what an interruption costs. A model
# takes seconds for one.
RANGE, MODEL_RANGE = 1000, 32

Surveys = Mapping[str, CorpusSurvey]
"""What memories show of their words, by scope; under "" where scopes are shared, or there is none."""


class RangeRead(NamedTuple):
    """What was read in a range, and how many of its memories needed no reading."""

    extracted: list[Extracted]
    skipped: int


def surveyed(engine: Engine, store: Store, ranges: Sequence[IdRange]) -> Iterator[dict[str, CorpusSurvey]]:
    """Survey ranges of memories, each scope's apart unless scopes are shared; `joined` makes one of them."""
    return map_batches(engine, with_shared(_survey, store), ranges, place=_place)


def joined(parts: Iterator[dict[str, CorpusSurvey]]) -> Surveys:
    """Join the surveys of several ranges."""
    surveys: dict[str, CorpusSurvey] = {}
    for part in parts:
        for scope, survey in part.items():
            surveys.setdefault(scope, CorpusSurvey()).words.merge(survey.words)
    return surveys


def extracted(
    engine: Engine, store: Store, extractor: Extractor, surveys: Surveys, ranges: Sequence[IdRange]
) -> Iterator[RangeRead]:
    """Extract from those memories of each range that the extractor has not dealt with."""
    return map_batches(engine, with_shared(_extract, _Reader(store, extractor, surveys)), ranges, place=_place)


@dataclass(frozen=True)
class _Reader:
    """What a worker extracts with."""

    store: Store
    extractor: Extractor
    surveys: Surveys


def _place(ids: IdRange) -> str:
    return f"one of the {ids.last - ids.first + 1} memories from number {ids.first} on"


def _survey(store: Store, ids: IdRange) -> dict[str, CorpusSurvey]:
    surveys: dict[str, CorpusSurvey] = {}
    with store.transaction() as connection:
        shared = setting_rows.scopes(connection) == setting_rows.SHARED
        survey_page(surveys, list(_open(connection, ids).values()), shared)
    return surveys


def _extract(reader: _Reader, ids: IdRange) -> RangeRead:
    """Read a range; no transaction is held while a model reads."""
    while True:
        with reader.store.transaction() as connection:
            known = _open(connection, ids)
            done = known.keys() & extractions.done_between(connection, *ids, reader.extractor.identity)
            left = [memory for key, memory in known.items() if key not in done]
            if isinstance(reader.extractor, ContextualExtractor):
                read = StoreContext(reader.surveys).filled(connection, left)
            else:
                read = list(sources(left))
        try:
            with guarded(extractions.guard(reader.store, read)):
                made = one_by_one(reader.extractor, read)
        except WithdrawnError:
            # One of them is not what it was: the range is read again.
            continue
        return RangeRead([Extracted(*pair, False) for pair in zip(read, made, strict=True)], len(done))


def _open(connection: Connection[Any], ids: IdRange) -> dict[int, Memory]:
    """The memories of a range, without those that a rule of the store makes sensitive whatever their flag says."""
    rules = SensitivityRules.of(setting_rows.sensitivity(connection))
    known = in_range(connection, ids, RANGE)
    return {key: memory for key, memory in known.items() if not rules.meets(memory)} if rules else known


def one_by_one(extractor: Extractor, read: Sequence[Source]) -> list[Extraction]:
    """Extract from sources together, or one by one where one of them raises, so that only that one fails."""
    try:
        return extractor.extract(read)
    except HopgateError:
        raise
    except Exception as error:
        if len(read) == 1:
            return [failed(f"{type(error).__name__}: {redacted(str(error))[:200]}")]
        return [extraction for source in read for extraction in one_by_one(extractor, [source])]
