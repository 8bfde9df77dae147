"""The whole way from memories to a graph: extract, canonicalise, derive, embed; the second time only what is new."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from hopgate.errors import HopgateError, WithdrawnError
from hopgate.extract.extraction import ContextualExtractor, Extraction, Extractor, Source, failed, sources
from hopgate.extract.files import Statement, WithStatements, read_statements
from hopgate.extract.rules.survey import Survey
from hopgate.extract.runner import Extracted, Progress, Run
from hopgate.extract.spec import as_extractor
from hopgate.graph.build.changes import read_changes, read_judged_ends
from hopgate.graph.build.options import BuildOptions, ExtractOptions
from hopgate.graph.build.resolve import CosineScale, NameResolver, Tally, canonicalise_store, declare
from hopgate.graph.build.sink import GraphSink, StoreContext, survey_page
from hopgate.guard import guarded
from hopgate.memory import Cleared, Memory, cleared
from hopgate.redact import redacted
from hopgate.scale.engine import Engine, map_batches, session, with_shared
from hopgate.store import extractions, memories, setting_rows, vectors
from hopgate.store.build_lock import build_lock
from hopgate.store.extractions import StoreCache
from hopgate.store.graph import graph_vectors
from hopgate.store.graph.graph_vectors import StatementRow
from hopgate.store.memories import IdRange, id_ranges, in_range
from hopgate.times import moment

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

    from hopgate.extract.model.judge import Judge
    from hopgate.store.fill import Embedding
    from hopgate.store.store import Store

BATCH = 512
# Memories that one worker reads at a time and that are written in one transaction: what an interruption costs. A model
# takes seconds for one.
RANGE, MODEL_RANGE = 1000, 32
Show = Callable[[Progress], object]
Surveys = Mapping[str, Survey]
"""What memories show of their words, by scope; under "" where scopes are shared, or there is none."""


@dataclass(frozen=True, slots=True)
class Built:
    """What a build did; `incremental` ones resolved new names, the others clustered all of them."""

    extraction: Progress
    incremental: bool
    resolution: Tally


class GraphBuilder:
    """Turns a store's memories into its graph."""

    def __init__(self, store: Store, embedding: Embedding) -> None:
        self._store = store
        self._embedding = embedding
        self._scale = CosineScale()
        self._has_space = False

    def extract(self, extractor: str | Extractor, **options: Unpack[ExtractOptions]) -> Progress:
        """Extract from every memory that this extractor has not dealt with; resumable, from cache where it can.

        In a graph that is built, edges follow at once. Before the first build nothing does until it.
        """
        extractor = as_extractor(extractor)
        with build_lock(self._store) as whole:
            progress = self._extract(extractor, options, whole, self._resolution())
        if not whole:
            self._read_changes(extractor, options.get("judge"), options.get("show", str))
            self.embed(show=options.get("show", str))
        return progress

    def build(self, extractor: str | Extractor, **options: Unpack[BuildOptions]) -> Built:
        """Extract, canonicalise, derive and embed.

        The first time names and relations are clustered globally. Afterwards new memories' names are resolved one by
        one against the concepts that are there, never by clustering anew, unless `rebuild` asks for it. A build that
        was broken off is taken up where it stopped.
        """
        extractor, show = as_extractor(extractor), options.get("show", str)
        if statements := options.get("statements"):
            extractor = WithStatements(extractor, self._state(statements))
        reader = _text_reader(extractor)
        single = {*getattr(reader, "single_valued", ()), *options.get("single_valued", ())}
        several = options.get("several_valued", ())
        with build_lock(self._store, rebuild=options.get("rebuild", False)) as whole:
            self._store.run(lambda connection: declare(connection, single, several, whole))
            resolution = self._resolution()
            progress = self._extract(extractor, options, whole, resolution)
            if whole:
                embed = self._embed if self._embeds() else None
                canonicalise_store(self._store, embed, show)
        self._read_changes(extractor, options.get("judge"), show)
        self.embed(concepts=options.get("embed_concepts", True), show=show)
        return Built(progress, not whole, resolution.tally)

    def _state(self, path: str | Path) -> list[Statement]:
        """Store a file's statements, all or none; those about sensitive memories end here, and the others are given."""
        with self._store.transaction() as connection:
            known = memories.external_ids(connection)
            read = read_statements(path, set(known.values()))
            named = {name: key for key, name in known.items()}
            about = memories.fetch_by_id(connection, sorted({named[statement.doc_id] for statement in read}))
            passed = {about[key].external_id for key, _ in cleared(about.items())}
            kept = [statement for statement in read if statement.doc_id in passed]
            rows = []
            for statement in kept:
                key = named[statement.doc_id]
                made = about[key].created_at
                assert made is not None  # every stored memory has a date
                times = moment(statement.valid_from), moment(statement.valid_to), made
                rows.append(
                    StatementRow(key, statement.statement, statement.subject or None, statement.confidence, *times)
                )
            graph_vectors.add_statements(connection, rows)
        return kept

    def _resolution(self) -> NameResolver:
        embed = self._embed if self._embeds() else None
        return NameResolver(embed=embed, scale=self._scale, forget=self._embedding.forget)

    def _extract(
        self, extractor: Extractor, options: ExtractOptions, whole: bool, resolution: NameResolver
    ) -> Progress:
        """Extract, and link what is found where the graph is not built as a whole after this."""
        only, run, engine = options.get("only"), options.get("run"), options.get("engine", Engine())
        sink = GraphSink(self._store, deriving=not whole, resolution=resolution)
        contextual = isinstance(_text_reader(extractor), ContextualExtractor)
        # A model is asked as its run says, unless others are to ask it.
        plain = only is None and (run is None or run == Run())
        if whole and plain and (engine.name != "local" or isinstance(extractor, ContextualExtractor)):
            return self._extract_all(extractor, sink, options)
        # Before the first build sources are told of all other memories, later of those that matter.
        context = StoreContext(self._surveys(engine) if whole else None) if contextual else None
        if only is None and not whole and options.get("limit") is None:
            # What other extractors left undone is asked once and is all there is to do.
            with self._store.transaction() as connection:
                options = {**options, "only": extractions.unfinished(connection, extractor.identity)}
        return self._extract_some(extractor, sink, options, context)

    def _extract_all(self, extractor: Extractor, sink: GraphSink, options: ExtractOptions) -> Progress:
        """Extract from every memory, or the first so many, by the workers of an engine."""
        engine, limit, show = options.get("engine", Engine()), options.get("limit"), options.get("show", str)
        contextual = isinstance(extractor, ContextualExtractor)
        with self._store.transaction() as connection:
            ranges = id_ranges(connection, RANGE if contextual else MODEL_RANGE, limit)
            total = memories.count_kept(connection)
        progress = Progress(total=total if limit is None else min(total, limit), stage="surveying")
        with session(engine):
            show(progress)
            surveys = self._surveys(engine) if contextual else {}
            progress, began = replace(progress, stage="extracting"), time.monotonic()
            reader = with_shared(_extract_range, _Reader(self._store, extractor, surveys))
            for read in map_batches(engine, reader, ranges, place=_place):
                sink.write(read.extracted, extractor.identity)
                progress = progress.plus(read.extracted, time.monotonic() - began)
                progress = replace(progress, skipped=progress.skipped + read.skipped)
                show(progress)
        return replace(progress, stage="")

    def _surveys(self, engine: Engine) -> Surveys:
        """What all memories show of their words, each scope's apart unless scopes are shared."""
        with self._store.transaction() as connection:
            ranges = id_ranges(connection, RANGE)
        surveys: dict[str, Survey] = {}
        for part in map_batches(engine, with_shared(_survey_range, self._store), ranges, place=_place):
            for scope, survey in part.items():
                surveys.setdefault(scope, Survey()).merge(survey)
        return surveys

    def _extract_some(
        self, extractor: Extractor, sink: GraphSink, options: ExtractOptions, context: StoreContext | None
    ) -> Progress:
        """Extract in this process, from these memories or from all of them."""
        only, limit = options.get("only"), options.get("limit")
        if only is None:
            with self._store.transaction() as connection:
                total = memories.count_kept(connection)
        else:
            total, limit = len(only), None
        return (options.get("run") or Run()).over(
            self._sources(only, limit, extractor, context),
            extractor,
            sink,
            # Rules read a text again in less time than it takes to look up what they said of it.
            cache=None if context is not None else StoreCache(self._store),
            guard=lambda read: extractions.guard(self._store, read),
            total=total if limit is None else min(total, limit),
            show=options.get("show", str),
        )

    def _read_changes(self, extractor: Extractor, judge: Judge | None, show: Show) -> None:
        """Compare memories with earlier ones, where a judge is given or the trained model does that."""
        rules = _text_reader(extractor)
        if judge:
            read_judged_ends(self._store, judge, extractor.identity, show)
        elif isinstance(rules, ContextualExtractor) and rules.changes:
            read_changes(self._store, extractor.identity, show)

    def embed(self, *, concepts: bool = True, show: Show = str) -> None:
        """Give edges, statements, and concepts unless `concepts` is false, the vectors they lack, where there are any.

        Walks start from facts and statements near the query; concepts' vectors serve to resolve new names. Equal texts
        are embedded once.
        """
        if not self._embeds():
            return
        tables: tuple[graph_vectors.Table, ...] = ("concept_edges", "statements")
        tables = (*tables, "concepts") if concepts else tables
        after = dict.fromkeys(tables, 0)
        began, progress = time.monotonic(), Progress(stage="embedding facts and names")
        while after:
            with self._store.transaction() as connection:
                rows = graph_vectors.pending(connection, after, limit=BATCH)
                following = {table: own[-1][0] for table, own in rows.items() if len(own) == BATCH}
                if following and progress.total is None:
                    total = sum(graph_vectors.count_pending(connection, table) for table in tables)
                    progress = replace(progress, total=total)
            if texts := [text for own in rows.values() for _, text in own]:
                try:
                    with guarded(graph_vectors.guard(self._store, rows)):
                        made = self._embed(texts)
                except WithdrawnError:
                    # One of them is not what it was: the pages are read again.
                    continue
                self._store.run(partial(graph_vectors.write_unchanged, rows, made))
                done = progress.memories + len(texts)
                progress = replace(progress, memories=done, seconds=time.monotonic() - began)
                show(progress)
            after = following
        self._store.run(partial(graph_vectors.ensure_index, tables=tables))

    def _embeds(self) -> bool:
        # A store that has an embedder's vectors keeps them.
        if not self._has_space:
            with self._store.transaction() as connection:
                self._has_space = vectors.has_space(connection)
        return self._has_space

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        # Names and facts were read from cleared texts, and go when their memories turn sensitive.
        return self._embedding.embedder().documents([Cleared(text) for text in texts])

    def _sources(
        self, only: Sequence[str] | None, limit: int | None, extractor: Extractor, context: StoreContext | None
    ) -> Iterator[Source]:
        """Memories as an extractor reads them, with what others tell of them where that matters."""
        for page in self._pages(only, limit):
            if context is None:
                yield from sources(page)
                continue
            with self._store.transaction() as connection:
                # What is done is not read again; it passes as it is, so that it is counted.
                done = set(extractions.done(connection, [memory.external_id for memory in page], extractor.identity))
                read = context.filled(connection, [memory for memory in page if memory.external_id not in done])
            fresh = {source.memory_id: source for source in read}
            yield from [fresh.get(source.memory_id, source) for source in sources(page)]

    def _pages(self, only: Sequence[str] | None, limit: int | None) -> Iterator[list[Memory]]:
        """These memories or all, a batch at a time, so that no cursor stays open for a long run."""
        for start in range(0, len(only or ()), BATCH):
            part = (only or ())[start : start + BATCH]
            with self._store.transaction() as connection:
                known = memories.fetch(connection, part)
            yield [known[key] for key in part if key in known]
        after = taken = 0
        while only is None and (limit is None or taken < limit):
            size = BATCH if limit is None else min(BATCH, limit - taken)
            with self._store.transaction() as connection:
                page = memories.page(connection, after=after, limit=size)
            if not page:
                return
            yield list(page.values())
            after, taken = max(page), taken + len(page)


def _text_reader(extractor: Extractor) -> Extractor:
    """The extractor that reads texts, where one that adds statements stands before it."""
    return extractor.extractor if isinstance(extractor, WithStatements) else extractor


class RangeRead(NamedTuple):
    """What was read in a range, and how many of its memories needed no reading."""

    extracted: list[Extracted]
    skipped: int


@dataclass(frozen=True)
class _Reader:
    """What a worker extracts with."""

    store: Store
    extractor: Extractor
    surveys: Surveys


def _place(ids: IdRange) -> str:
    return f"one of the {ids.last - ids.first + 1} memories from number {ids.first} on"


def _survey_range(store: Store, ids: IdRange) -> dict[str, Survey]:
    surveys: dict[str, Survey] = {}
    with store.transaction() as connection:
        shared = setting_rows.scopes(connection) == setting_rows.SHARED
        survey_page(surveys, list(_open(connection, ids).values()), shared)
    return surveys


def _extract_range(reader: _Reader, ids: IdRange) -> RangeRead:
    """Read a range; no transaction is held while a model reads."""
    while True:
        with reader.store.transaction() as connection:
            known = _open(connection, ids)
            final = extractions.recorded(connection, list(known), reader.extractor.identity)
            left = [memory for key, memory in known.items() if not final.get(key)]
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
        return RangeRead([Extracted(*pair, False) for pair in zip(read, made, strict=True)], sum(final.values()))


def _open(connection: Connection[Any], ids: IdRange) -> dict[int, Memory]:
    """The memories of a range, without those that a rule of the store makes sensitive whatever their flag says."""
    rules = setting_rows.sensitivity(connection)
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
