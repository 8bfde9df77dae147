"""The whole way from memories to a graph: extract, canonicalise, derive, embed; the second time only what is new."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopgate.extract.extraction import Source, sources
from hopgate.extract.extractor import ContextualExtractor, Extractor
from hopgate.extract.progress import Progress
from hopgate.extract.runner import Run
from hopgate.extract.statements import Statement, WithStatements, read_statements
from hopgate.graph.build import backfill
from hopgate.graph.build.follow import follow_all, follow_change
from hopgate.graph.build.ingest import GraphSink
from hopgate.graph.build.resolve import Ask, CosineScale, NameResolver, Tally
from hopgate.graph.build.store_context import StoreContext, surveyed_store
from hopgate.memory import Cleared, Memory, cleared
from hopgate.store import extractions, memories, vectors
from hopgate.store.build_lock import build_lock, share
from hopgate.store.extractions import StoreCache
from hopgate.store.graph import fact_rows, graph_vectors, name_rows, relation_rows, statement_rows, version
from hopgate.store.graph.statement_rows import StatementRow
from hopgate.times import moment

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

    from hopgate.graph.canonicalise import Canonicaliser
    from hopgate.store.fill import Embedding
    from hopgate.store.store import Store

BATCH = 512
# So often a graph may change while all its names are compared before they are compared under its lock.
ATTEMPTS = 3
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
        self._scale = CosineScale()

    def extract(
        self,
        extractor: Extractor,
        *,
        only: Sequence[str] | None = None,
        run: Run | None = None,
        limit: int | None = None,
        show: Show = str,
        ask: Ask | None = None,
    ) -> Progress:
        """Extract from every memory that this extractor has not dealt with; resumable, from cache where it can.

        In a graph that is built, edges follow at once. Before the first build nothing does until it.

        Parameters
        ----------
        only : sequence of str, optional
            The external ids of the memories to extract from: the cost is then that of these, however many others.
        """
        with build_lock(self._store) as whole:
            return self._extract(extractor, only, run, limit, show, not whole, self._resolution(ask))

    def build(
        self,
        extractor: Extractor,
        *,
        only: Sequence[str] | None = None,
        run: Run | None = None,
        limit: int | None = None,
        canonicaliser: Canonicaliser | None = None,
        single_valued: Collection[str] = (),
        several_valued: Collection[str] = (),
        rebuild: bool = False,
        embed_concepts: bool = True,
        statements: str | Path | None = None,
        show: Show = str,
        ask: Ask | None = None,
    ) -> Built:
        """Extract, canonicalise, derive and embed.

        The first time names and relations are clustered globally. Afterwards new memories' names are resolved one by
        one against the concepts that are there, never by clustering anew, unless `rebuild` asks for it. A build that
        was broken off is taken up where it stopped.
        """
        if statements is not None:
            extractor = WithStatements(extractor, self._state(statements))
        reader = _reader(extractor)
        shipped = reader.single_valued if isinstance(reader, ContextualExtractor) else ()
        with build_lock(self._store, rebuild=rebuild) as whole:
            self._store.run(lambda connection: _declare(connection, {*shipped, *single_valued}, several_valued, whole))
            resolution = self._resolution(ask)
            progress = self._extract(extractor, only, run, limit, show, not whole, resolution)
            if whole:
                self._cluster(canonicaliser, self._embed if self._embeds() else None)
        self.embed(concepts=embed_concepts)
        return Built(progress, not whole, resolution.tally)

    def _cluster(self, canonicaliser: Canonicaliser | None, embed: backfill.Embed | None) -> None:
        """Cluster all names and relations, and derive everything from them.

        The graph's lock is for the write alone; where the graph changed while its names were compared, once more.
        """

        def write(clusters: backfill.Clusters, connection: Connection[Any]) -> bool:
            if not backfill.canonicalise(connection, clusters):
                return False
            follow_all(connection)
            return True

        def at_once(connection: Connection[Any]) -> None:
            name_rows.lock(connection)
            write(backfill.clustered(backfill.material(connection), canonicaliser, embed), connection)

        for _ in range(ATTEMPTS):
            clusters = backfill.clustered(self._store.run(backfill.material), canonicaliser, embed)
            if self._store.run(partial(write, clusters)):
                return
        self._store.run(at_once)

    def _state(self, path: str | Path) -> list[Statement]:
        """Store a file's statements, all or none; those about sensitive memories end here, and the others are given."""
        with self._store.transaction() as connection:
            known = memories.external_ids(connection, memories.all_ids(connection))
            read = read_statements(path, set(known.values()))
            named = {name: key for key, name in known.items()}
            about = memories.fetch_by_id(connection, sorted({named[one.doc_id] for one in read}))
            passed = {about[key].external_id for key, _ in cleared(about.items())}
            kept = [one for one in read if one.doc_id in passed]
            rows = []
            for one in kept:
                made = about[named[one.doc_id]].created_at
                assert made is not None  # every stored memory has a date
                rows.append(
                    StatementRow(named[one.doc_id], one.statement, one.subject or None, one.confidence,
                                 moment(one.valid_from), moment(one.valid_to), made)
                )  # fmt: skip
            statement_rows.add(connection, rows)
        return kept

    def _resolution(self, ask: Ask | None) -> NameResolver:
        return NameResolver(embed=self._embed if self._embeds() else None, ask=ask, scale=self._scale)

    def _extract(
        self,
        extractor: Extractor,
        only: Sequence[str] | None,
        run: Run | None,
        limit: int | None,
        show: Show,
        deriving: bool,
        resolution: NameResolver,
    ) -> Progress:
        context = self._context(extractor, deriving)
        if only is not None:
            with self._store.transaction() as connection:
                wanted = list(memories.fetch(connection, only).values())
            stream: Iterable[Source] = self._read(wanted, extractor, context)
            total = len(only)
        else:
            with self._store.transaction() as connection:
                total = memories.count(connection)
            stream = (source for page in self._pages(limit) for source in self._read(page, extractor, context))
            total = min(total, limit) if limit is not None else total
        sink = GraphSink(self._store, deriving=deriving, resolution=resolution)
        return (run or Run()).over(stream, extractor, sink, cache=StoreCache(self._store), total=total, show=show)

    def embed(self, *, concepts: bool = True) -> None:
        """Give edges, statements, and concepts unless `concepts` is false, the vectors they lack, where there are any.

        Walks start from facts and statements near the query; concepts' vectors serve to resolve new names.
        """
        if not self._embeds():
            return
        tables: list[graph_vectors.Table] = ["concept_edges", "statements"]
        if concepts:
            tables.append("concepts")
        for table in tables:
            after = 0
            while True:
                with self._store.transaction() as connection:
                    rows = graph_vectors.pending(connection, table, after=after, limit=BATCH)
                if not rows:
                    break
                self._store.run(partial(_write_vectors, table, rows, self._embed([text for _, text in rows])))
                after = rows[-1][0]
        if concepts:
            self._store.run(graph_vectors.ensure_index)

    def _embeds(self) -> bool:
        with self._store.transaction() as connection:
            return vectors.space(connection) is not None

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        # Names and facts were read from cleared texts, and go when their memories turn sensitive.
        return self._embedding.embedder().documents([Cleared(text) for text in texts])

    def _context(self, extractor: Extractor, deriving: bool) -> StoreContext | None:
        """What tells sources of other memories, for an extractor that reads it: all of them before the first build."""
        if not isinstance(_reader(extractor), ContextualExtractor):
            return None
        return StoreContext(self._store) if deriving else surveyed_store(self._store, self._pages(None))

    def _read(self, page: Sequence[Memory], extractor: Extractor, context: StoreContext | None) -> Iterable[Source]:
        if context is None:
            return sources(page)
        with self._store.transaction() as connection:
            done = set(extractions.done(connection, [memory.external_id for memory in page], extractor.identity))
        # What is done is not read again; it passes as it is, so that it is counted.
        fresh = {
            source.memory_id: source for source in context.filled([one for one in page if one.external_id not in done])
        }
        return [fresh.get(source.memory_id, source) for source in sources(page)]

    def _pages(self, limit: int | None) -> Iterator[list[Memory]]:
        """Memories a batch at a time, so that no cursor stays open for a long run."""
        after = taken = 0
        while limit is None or taken < limit:
            size = BATCH if limit is None else min(BATCH, limit - taken)
            with self._store.transaction() as connection:
                page = memories.page(connection, after=after, limit=size)
            if not page:
                return
            yield list(page.values())
            after, taken = max(page), taken + len(page)


def _declare(connection: Connection[Any], single: Collection[str], several: Collection[str], whole: bool) -> None:
    """Note which relations have one value at a time; edges follow at once, or at the end of a whole build."""
    if not whole:
        share(connection)
    name_rows.lock(connection)
    declared = relation_rows.declare_single_valued(connection, set(single) - set(several))
    declared += relation_rows.declare_several_valued(connection, several)
    if whole:
        version.set_derived(connection, False)
    elif declared:
        follow_change(connection, groups=fact_rows.groups_of_relations(connection, declared))


def _write_vectors(
    table: graph_vectors.Table,
    rows: Sequence[tuple[int, str]],
    made: NDArray[np.float32],
    connection: Connection[Any],
) -> None:
    """Write vectors of rows that still say what was embedded; what changed meanwhile waits for the next time."""
    name_rows.lock(connection)
    now = dict(graph_vectors.pending(connection, table, after=rows[0][0] - 1, limit=len(rows)))
    same = [at for at, (key, text) in enumerate(rows) if now.get(key) == text]
    graph_vectors.write(connection, table, [rows[at][0] for at in same], made[same])


def _reader(extractor: Extractor) -> Extractor:
    """The extractor that reads texts, where one that adds statements stands before it."""
    return extractor.extractor if isinstance(extractor, WithStatements) else extractor
