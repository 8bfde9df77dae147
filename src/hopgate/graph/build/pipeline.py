"""The whole way from memories to a graph: extract, canonicalise, derive, embed; the second time only what is new."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from hopgate.errors import WithdrawnError
from hopgate.extract.extraction import ContextualExtractor, Extractor, ExtractorIdentity, Source, sources
from hopgate.extract.files import Statement, WithStatements, read_statements
from hopgate.extract.model.chat import statement_writer
from hopgate.extract.rules.survey import Survey
from hopgate.extract.runner import Extracted, Run, Sink
from hopgate.extract.spec import as_extractor
from hopgate.graph.build.changes import read_changes, read_judged_ends
from hopgate.graph.build.options import BuildOptions, ExtractOptions
from hopgate.graph.build.reading import Reader, Surveys, survey, text_reader, with_stored_turns
from hopgate.graph.build.resolve import NameResolver, Tally, canonicalise_store, declare
from hopgate.graph.build.sink import GraphSink
from hopgate.graph.canonicalise import Embed
from hopgate.guard import guarded
from hopgate.memory import Cleared
from hopgate.progress import Progress
from hopgate.scale.engine import Engine, map_batches, place_of, with_shared
from hopgate.store import clearance, extractions, memories, vectors
from hopgate.store.extractions import StoreCache
from hopgate.store.graph import graph_vectors
from hopgate.store.graph.graph_vectors import StatementRow
from hopgate.store.graph.version import build_lock
from hopgate.store.rows import Connection
from hopgate.times import moment

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hopgate.extract.model.judge import Judge
    from hopgate.store.fill import Embedding
    from hopgate.store.store import Store

# Texts embedded, and memories looked up, at a time.
BATCH = 512
# Memories that one worker reads at a time and that are written in one transaction: what an interruption costs. A model
# takes seconds for one.
RANGE, MODEL_RANGE = 1000, 32
Show = Callable[[Progress], object]


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

    def extract(self, extractor: str | Extractor, **options: Unpack[ExtractOptions]) -> Progress:
        """Extract from every memory that this extractor has not dealt with; resumable, from cache where it can.

        In a graph that is built, edges follow at once. Before the first build nothing does until it.
        """
        extractor, show = as_extractor(extractor), options.get("show", str)
        with build_lock(self._store) as whole:
            progress = self._extract(extractor, options, whole, NameResolver())
        if not whole:
            self._read_changes(extractor, options.get("judge"), show)
            self.embed(show=show)
        return progress

    def build(self, extractor: str | Extractor, **options: Unpack[BuildOptions]) -> Built:
        """Extract, canonicalise, derive and embed.

        The first time names and relations are clustered globally. Afterwards new memories' names are resolved one by
        one against the concepts that are there, never by clustering anew, unless `rebuild` asks for it. A build that
        was broken off is taken up where it stopped.
        """
        extractor, show = as_extractor(extractor), options.get("show", str)
        if path := options.get("statements"):
            extractor = WithStatements(extractor, self._store.run(partial(_store_statements, path)))
        single = {*getattr(text_reader(extractor), "single_valued", ()), *options.get("single_valued", ())}
        several = options.get("several_valued", ())
        with build_lock(self._store, rebuild=options.get("rebuild", False)) as whole:
            self._store.run(lambda connection: declare(connection, single, several, whole))
            resolver = NameResolver()
            progress = self._extract(extractor, options, whole, resolver)
            if whole:
                canonicalise_store(self._store, self._embedder(), show)
        self._read_changes(extractor, options.get("judge"), show)
        self.embed(show=show)
        return Built(progress, not whole, resolver.tally)

    def write_statements(self, extractor: str | Extractor, **options: Unpack[ExtractOptions]) -> Progress:
        """Ask an extractor's model for statements about memories, with the turns before them; store and embed them."""
        writer = statement_writer(extractor)
        ids = self._ids(writer, options, whole=True)
        progress = self._ask(writer, StatementSink(self._store), ids, options, turns=True)
        self.embed(show=options.get("show", str))
        return progress

    # Extraction: by the workers of an engine, or by a model as its run says.

    def _extract(self, extractor: Extractor, options: ExtractOptions, whole: bool, resolver: NameResolver) -> Progress:
        """Extract, and link what is found where the graph is not built as a whole after this."""
        sink = GraphSink(self._store, None if whole else resolver)
        run, engine = options.get("run"), options.get("engine", Engine())
        ids = self._ids(extractor, options, whole)
        by_workers = whole and options.get("only") is None and run in (None, Run()) and engine.name != "local"
        if by_workers or isinstance(text_reader(extractor), ContextualExtractor):
            return self._by_workers(extractor, sink, ids, engine if whole else None, options.get("show", str))
        return self._ask(extractor, sink, ids, options)

    def _ask(
        self, extractor: Extractor, sink: Sink, ids: Sequence[int], options: ExtractOptions, *, turns: bool = False
    ) -> Progress:
        """Let a model read memories as its run says, by themselves or with the turns before them."""
        return (options.get("run") or Run()).over(
            self._sources(ids, turns),
            extractor,
            sink,
            cache=StoreCache(self._store),
            guard=lambda read: extractions.guard(self._store, read),
            total=len(ids),
            show=options.get("show", str),
        )

    def _ids(self, extractor: Extractor, options: ExtractOptions, whole: bool) -> list[int]:
        """Ids of the memories to extract from: those asked for, or all open ones; in a built graph the unfinished."""
        only, limit = options.get("only"), options.get("limit")
        with self._store.transaction() as connection:
            if only is not None:
                return memories.ids_of(connection, only)
            if whole or limit is not None:
                return memories.open_ids(connection, limit=limit)
            return extractions.unfinished(connection, extractor.identity)

    def _sources(self, ids: Sequence[int], turns: bool) -> Iterator[Source]:
        """Memories as a model reads them, a batch at a time, so that no cursor stays open for a long run."""
        for start in range(0, len(ids), BATCH):
            with self._store.transaction() as connection:
                batch = memories.fetch_by_id(connection, ids[start : start + BATCH])
                batch_sources = list(with_stored_turns(connection, batch) if turns else sources(batch.values()))
            yield from batch_sources

    def _by_workers(
        self, extractor: Extractor, sink: GraphSink, ids: Sequence[int], engine: Engine | None, show: Show
    ) -> Progress:
        """Extract by an engine's workers, after a survey of the whole store.

        Without an engine one batch is read and written after the other: each finds the names of those before it.
        """
        contextual = isinstance(text_reader(extractor), ContextualExtractor)
        batches = _batches(ids, RANGE if contextual else MODEL_RANGE)
        progress, began = Progress(total=len(ids), stage="surveying"), time.monotonic()
        show(progress)
        surveys = self._surveys(engine) if contextual and engine else None
        reader = partial(partial, Reader(self._store, extractor, surveys).read)
        progress = replace(progress, stage="extracting")
        for batch in map_batches(engine or Engine(), reader, batches, ahead=2 if engine else 1, place=place_of):
            sink.write(batch.extracted, extractor.identity)
            progress = progress.plus(batch.extracted, time.monotonic() - began)
            progress = replace(progress, skipped=progress.skipped + batch.skipped)
            show(progress)
        return replace(progress, stage="")

    def _surveys(self, engine: Engine) -> Surveys:
        """What all memories show of their words, each scope's apart unless scopes are shared."""
        with self._store.transaction() as connection:
            batches = _batches(memories.open_ids(connection), RANGE)
        surveys: dict[str, Survey] = {}
        for part in map_batches(engine, with_shared(survey, self._store), batches, place=place_of):
            for scope, scope_survey in part.items():
                surveys.setdefault(scope, Survey()).merge(scope_survey)
        return surveys

    def _read_changes(self, extractor: Extractor, judge: Judge | None, show: Show) -> None:
        """Compare memories with earlier ones, where a judge is given or the trained model does that."""
        rules = text_reader(extractor)
        if judge:
            read_judged_ends(self._store, judge, extractor.identity, show)
        elif isinstance(rules, ContextualExtractor) and rules.changes:
            read_changes(self._store, extractor.identity, show)

    def embed(self, *, show: Show = str) -> None:
        """Give edges and statements, from which walks start, the vectors they lack; equal texts are embedded once."""
        embed = self._embedder()
        if embed is None:
            return
        tables: tuple[graph_vectors.Table, ...] = ("concept_edges", "statements")
        last_ids = dict.fromkeys(tables, 0)
        began, progress = time.monotonic(), Progress(stage="embedding facts")
        while last_ids:
            with self._store.transaction() as connection:
                rows = graph_vectors.pending(connection, last_ids, limit=BATCH)
                next_ids = {table: pending[-1][0] for table, pending in rows.items() if len(pending) == BATCH}
                if next_ids and progress.total is None:
                    total = sum(graph_vectors.count_pending(connection, table) for table in tables)
                    progress = replace(progress, total=total)
            if texts := [text for pending in rows.values() for _, text in pending]:
                try:
                    with guarded(graph_vectors.guard(self._store, rows)):
                        new_vectors = embed(texts)
                except WithdrawnError:
                    # One of them is not what it was: the pages are read again.
                    continue
                self._store.run(partial(graph_vectors.write_unchanged, rows, new_vectors))
                done, seconds = progress.memories + len(texts), time.monotonic() - began
                progress = replace(progress, memories=done, seconds=seconds)
                show(progress)
            last_ids = next_ids
        self._store.run(graph_vectors.ensure_index)

    def _embedder(self) -> Embed | None:
        """What embeds names and facts; None in a store without vectors."""
        with self._store.transaction() as connection:
            return self._embed if vectors.has_space(connection) else None

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        # Names and facts were read from cleared texts, and go when their memories turn sensitive.
        return self._embedding.embedder().documents([Cleared(text) for text in texts])


def _store_statements(path: str | Path, connection: Connection) -> list[Statement]:
    """Store a file's statements, all or none, but for those about sensitive memories; return those stored."""
    ids = {name: key for key, name in memories.external_ids(connection).items()}
    statements = read_statements(path, set(ids))
    about = clearance.open_memories(connection, sorted({ids[statement.doc_id] for statement in statements}))
    open_statements = [statement for statement in statements if ids[statement.doc_id] in about]
    rows = []
    for statement in open_statements:
        key = ids[statement.doc_id]
        made_at = about[key].created_at
        assert made_at is not None  # every stored memory has a date
        since, until = moment(statement.valid_from), moment(statement.valid_to)
        row = (key, statement.statement, statement.subject or None, statement.confidence, since, until, made_at)
        rows.append(StatementRow(*row))
    graph_vectors.add_statements(connection, rows)
    return open_statements


@dataclass(frozen=True)
class StatementSink(Sink):
    """Writes a model's statements into a store; one that is there already, as after a stopped run, stays as it is.

    None of the memories is done: what was answered before comes from the cache.
    """

    store: Store

    def write(self, batch: Sequence[Extracted], identity: ExtractorIdentity) -> None:  # noqa: ARG002
        """Write the statements of a batch, but for what may not be read any more."""
        self.store.run(partial(self._write, batch))

    def _write(self, batch: Sequence[Extracted], connection: Connection) -> None:
        readable = extractions.readable(connection, [entry.source for entry in batch])
        rows = [
            StatementRow(memory.id, fact.object, fact.subject or None, fact.confidence, moment(fact.valid_from), None,
                         memory.recorded_at)
            for entry in batch if (memory := readable.get(str(entry.source.memory_id)))
            for fact in entry.extraction.facts
        ]  # fmt: skip
        graph_vectors.add_statements(connection, rows)


def _batches(ids: Sequence[int], size: int) -> list[Sequence[int]]:
    return [ids[start : start + size] for start in range(0, len(ids), size)]
