"""KnowledgeBase: what `hopgate.open()` returns; it ties store, embedder, graph and recall together."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.memory import Memory
from hopgate.recall.filters import Filters, check_query
from hopgate.recall.fuse import ExactMatch, Importance, active
from hopgate.recall.hit import Hit
from hopgate.recall.legs.dense import dense_leg
from hopgate.recall.recall import GraphAnswer, Leg, Machinery, recall, run_legs
from hopgate.recall.settings import Settings, load_settings
from hopgate.store import memories, vectors
from hopgate.store.fill import Embedding

if TYPE_CHECKING:
    import networkx as nx
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

    from hopgate.extract.extractor import Extractor
    from hopgate.extract.progress import Progress as ExtractionProgress
    from hopgate.graph.build.curate import Decide, Proposal
    from hopgate.graph.build.manual import Change
    from hopgate.graph.build.pipeline import Built, GraphBuilder
    from hopgate.graph.inspect.edges import Edge
    from hopgate.graph.inspect.stats import GraphStats
    from hopgate.recall.legs.graph import GraphLeg
    from hopgate.recall.rerank import Reranker
    from hopgate.store.memories import Written
    from hopgate.store.store import Store

Progress = Callable[[int], None]
"""Told how many more memories are done."""

# After a load of this size the planner's statistics and the index's pending list are worth a pass of their own.
TIDY_ABOVE = 1000


class BarredLegWarning(UserWarning):
    """A leg is on and nothing that it alone finds can enter the top k: the test that repeats this proves nothing."""


class KnowledgeBase:
    """Memories in, recall out.

    Made by `hopgate.open`; use it in a `with` block, or call `close`.

    Examples
    --------
    >>> import tempfile, hopgate
    >>> folder = tempfile.TemporaryDirectory()
    >>> with hopgate.open(folder.name) as kb:
    ...     _ = kb.add(hopgate.Memory("m1", "Ada keeps the spare key."), hopgate.Memory("m2", "Bea feeds the cat."))
    ...     [hit.external_id for hit in kb.recall("who has the spare key", legs=("lexical",))]
    ['m1']
    >>> folder.cleanup()
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._embedding = Embedding(store)
        self._workers = ThreadPoolExecutor(4, thread_name_prefix="hopgate")
        self._warned: set[str] = set()
        self._reranker: Reranker | None = None
        self._machinery = Machinery(self._embedding.query, self._graph_leg, self._cross_encoder, lambda: self._workers)

    def add(self, *new: Memory) -> Written:
        """Add memories, or bring those with the same external id up to date; an id given twice is refused."""
        seen = set[str]()
        for memory in new:
            if memory.external_id in seen:
                raise HopgateError(f"memory {memory.external_id[:80]!r} is given twice: keep one of them")
            seen.add(memory.external_id)
        return self._write(new)

    def ingest(self, path: str | Path, *, limit: int | None = None, progress: Progress | None = None) -> Written:
        """Read a `corpus.jsonl` into the store, all or nothing; `-` is standard input."""
        from hopgate.corpus import read_corpus

        written = self._write(_told(itertools.islice(read_corpus(path), limit), progress))
        if written.rows >= TIDY_ABOVE:
            with self.store.transaction() as connection:
                memories.tidy(connection)
        return written

    def get(self, external_id: str) -> Memory | None:
        """Read one memory, or none."""
        with self.store.transaction() as connection:
            return memories.fetch(connection, [external_id]).get(external_id)

    def delete(self, external_ids: Sequence[str]) -> int:
        """Delete memories and exactly what only they supported in the graph; unknown ids are refused."""
        from hopgate.graph.build.revoke import revoke

        with self.store.transaction() as connection:
            ids = memories.require(connection, external_ids)
            revoke(connection, ids)
            memories.remove(connection, ids)
        return len(ids)

    def mark_sensitive(self, external_ids: Sequence[str]) -> int:
        """Mark memories as sensitive and remove, in the same transaction, all that was ever made of their text."""
        with self.store.transaction() as connection:
            ids = memories.require(connection, external_ids)
            memories.set_sensitive(connection, ids)
            self._forget(connection, ids)
        return len(ids)

    def recall(
        self,
        query: str,
        *,
        legs: Sequence[str] | None = None,
        scope: str | None = None,
        exclude: Sequence[str] = (),
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        include_superseded: bool = False,
        explain: bool = False,
        exact: bool | None = None,
        **changes: Any,
    ) -> list[Hit]:
        """Recall the memories that answer a query, best first.

        Parameters
        ----------
        query : str
            What to recall, in plain words.
        legs : sequence of str, optional
            Run only these of "lexical", "dense" and "graph", with the weights they have.
        scope : str, optional
            Only memories of this scope.
        exclude : sequence of str
            External ids that are in context already.
        as_of, known_at : datetime, optional
            Walk the graph as it was true at a time, and as it was known at a time.
        explain : bool
            Whether hits carry each leg's rank, score and contribution, the prior and the graph's path.
        exact : bool, optional
            Whether the dense leg compares every vector; by default only where there is no index.
        **changes
            Settings for this query: `k`, `depth`, `fuser`, `lexical`, `dense`, `graph`, `prior`, `sort_by`, ….
        """
        text = check_query(query)
        settings = self.settings(**changes)
        if legs is not None:
            if unknown := [name for name in legs if name not in settings.fuser.weights]:
                raise HopgateError(f"there is no leg {unknown[0]!r}: there are {', '.join(settings.fuser.weights)}")
            silent = {name: 0.0 for name in settings.fuser.weights if name not in legs}
            settings = settings.replaced({"fuser": settings.fuser.reweighed(**silent)})
        left_out: tuple[int, ...] = ()
        if exclude:
            with self.store.transaction() as connection:
                left_out = tuple(memories.ids_of(connection, exclude))
        filters = Filters(scope, left_out, as_of, known_at, include_superseded)
        self._warn_if_barred(settings)
        return recall(self.store, text, settings, filters, self._machinery, exact=exact, explain=explain)

    def legs(
        self,
        query: str,
        *,
        settings: Settings | None = None,
        scope: str | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        exact: bool | None = None,
        graphs: Mapping[str, GraphLeg] | None = None,
    ) -> tuple[dict[str, Leg], dict[int, float]]:
        """Run the legs alone, before fusion: their lists by the store's ids, and the importance of what they found.

        Parameters
        ----------
        graphs : mapping of name to GraphLeg
            Further graph legs to run on the same base hits: other walks, controls.
        """
        text, filters = check_query(query), Filters(scope, as_of=as_of, known_at=known_at)
        settings = settings or self.settings()
        lists, _ = run_legs(self.store, text, settings, filters, self._machinery, exact=exact)
        for name, leg in (graphs or {}).items():
            vector = self._embedding.query(text) if self._has_vectors() else None
            found, _ = leg.rank(text, vector, lists, filters, settings.depth, _dense)
            lists[name] = found
        with self.store.transaction() as connection:
            known = memories.weights(connection, sorted({key for leg in lists.values() for key, _ in leg}))
        return lists, {key: importance for key, (importance, _) in known.items()}

    def id_map(self) -> dict[int, str]:
        """Every memory's external id by the store's own."""
        with self.store.transaction() as connection:
            return memories.external_ids(connection, memories.all_ids(connection))

    def keep_queries(self) -> None:
        """Keep queries' vectors in the cache from now on: for an evaluation, which asks the same ones again."""
        if self._has_vectors():
            self._embedding.embedder().keep_queries = True

    def embedder_name(self) -> str:
        """The embedder that made this store's vectors, or nothing."""
        with self.store.transaction() as connection:
            found = vectors.space(connection)
        return found.identity.name if found else ""

    def _has_vectors(self) -> bool:
        with self.store.transaction() as connection:
            return vectors.space(connection) is not None

    def export(self) -> Iterator[Memory]:
        """Give every memory back, in the order of arrival."""
        with self.store.transaction() as connection:
            yield from memories.stream(connection)

    def __len__(self) -> int:
        with self.store.transaction() as connection:
            return memories.count(connection)

    def settings(self, **changes: Any) -> Settings:
        """Resolve the settings of the next query: file, environment, then `changes`."""
        return load_settings(self.store.directory, arguments=changes)

    def embed(self, embedder: str | None = None, *, progress: Progress | None = None) -> int:
        """Embed the memories that have no vector yet; say how many.

        Parameters
        ----------
        embedder : str, optional
            By default the one that made this store's vectors, or `HOPGATE_EMBEDDER`, or the bundled bge-small-en-v1.5.
            A store refuses another than its own: see `reembed`.
        """
        return self._embedding.fill(embedder, progress)

    def reembed(self, embedder: str, *, progress: Progress | None = None) -> int:
        """Change the store to another embedder; recall goes on with the old vectors until the last one is made."""
        return self._embedding.change(embedder, progress)

    def extract(self, extractor: str | Extractor = "phrases", **options: Any) -> ExtractionProgress:
        """Extract mentions and facts from the memories that the extractor has not dealt with."""
        return self._builder.extract(self._extractor(extractor), **options)

    def build(self, extractor: str | Extractor = "phrases", **options: Any) -> Built:
        """Build the graph, or bring it up to date with the memories that are new."""
        return self._builder.build(self._extractor(extractor), **options)

    def extraction_states(self) -> dict[str, int]:
        """How many memories are extracted, empty, truncated, failed or pending."""
        from hopgate.store import extractions

        with self.store.transaction() as connection:
            return extractions.states(connection)

    def edges(
        self, of: str | None = None, *, as_of: datetime | None = None, known_at: datetime | None = None
    ) -> list[Edge]:
        """The edges, all or one concept's: those true as of a time, as known at a time."""
        from hopgate.graph.inspect.edges import edges

        with self.store.transaction() as connection:
            return edges(connection, of=of, as_of=as_of, known_at=known_at)

    def merge_concepts(self, kept: str, merged: str, *, dry_run: bool = False) -> Change:
        """Make two concepts one, each given by any of its names; `split_concept` takes it back."""
        from hopgate.graph.build import manual

        with self.store.transaction() as connection:
            first, second = (manual.named(connection, name) for name in (kept, merged))
            change = manual.merge(connection, first, second)
            if dry_run:
                connection.rollback()
        return change

    def split_concept(self, name: str, *, dry_run: bool = False) -> list[Change]:
        """Undo every merge into a concept, the last one first."""
        from hopgate.graph.build import manual

        with self.store.transaction() as connection:
            changes = manual.split(connection, manual.named(connection, name))
            if dry_run:
                connection.rollback()
        return changes

    def curate(
        self, *, since: datetime | None = None, apply: bool = False, decide: Decide | None = None
    ) -> list[Proposal]:
        """Propose what new memories mean for older ones (ADD, UPDATE, DELETE, NOOP); carry it out only with `apply`."""
        from hopgate.graph.build import curate

        with self.store.transaction() as connection:
            found = list(curate.proposals(connection, since=since, decide=decide))
            if apply:
                curate.apply(connection, found)
        return found

    def restore(self, external_ids: Sequence[str]) -> int:
        """Let superseded memories stand again; say how many."""
        from hopgate.graph.build import curate

        with self.store.transaction() as connection:
            return curate.restore(connection, external_ids)

    def graph_counts(self) -> dict[str, Any]:
        """How much of everything there is in the graph."""
        from hopgate.store.graph import overview

        with self.store.transaction() as connection:
            return overview.counts(connection)

    def graph_stats(self, *, damping: float = 0.5) -> GraphStats:
        """Measure the graph: hubs, components, kinds, relations, and how much PageRank resembles degree here."""
        from hopgate.graph.inspect.stats import stats
        from hopgate.store.graph.arrays import snapshot

        with snapshot(self.store) as connection:
            return stats(connection, damping=damping)

    def to_networkx(
        self, *, as_of: datetime | None = None, known_at: datetime | None = None, memories: bool = False
    ) -> nx.MultiDiGraph[str]:
        """The graph for networkx: concepts and edges, and with `memories` what talks about them."""
        from hopgate.graph.inspect.networkx_export import to_networkx
        from hopgate.store.graph.arrays import snapshot

        with snapshot(self.store) as connection:
            return to_networkx(connection, as_of=as_of, known_at=known_at, memories=memories)

    def pending_vectors(self) -> int:
        """How many memories wait for a vector."""
        with self.store.transaction() as connection:
            return vectors.count_pending(connection)

    def close(self) -> None:
        """Close the connections and let go of the embedded server."""
        self._workers.shutdown(wait=False, cancel_futures=True)
        self.store.close()

    def __enter__(self) -> KnowledgeBase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _graph_leg(
        self,
        query: str,
        vector: NDArray[np.float32] | None,
        legs: Mapping[str, Leg],
        filters: Filters,
        depth: int,
    ) -> GraphAnswer:
        leg, walked = self.graph.rank(query, vector, legs, filters, depth, _dense)
        if walked is None:
            return GraphAnswer(leg)
        return GraphAnswer(leg, lambda memory_id: self.graph.explain(walked, memory_id))

    @cached_property
    def graph(self) -> GraphLeg:
        """The graph leg; its `walk` may be replaced."""
        from hopgate.embed.cache import default_directory
        from hopgate.recall.legs.graph import GraphLeg

        return GraphLeg(self.store, default_directory() / "matrices")

    @cached_property
    def _builder(self) -> GraphBuilder:
        from hopgate.graph.build.pipeline import GraphBuilder

        return GraphBuilder(self.store, self._embedding)

    def _extractor(self, extractor: str | Extractor) -> Extractor:
        if not isinstance(extractor, str):
            return extractor
        from hopgate.extract.spec import extractor_from

        return extractor_from(extractor)

    def _cross_encoder(self) -> Reranker:
        if self._reranker is None:
            from hopgate.recall.rerank import bundled

            self._reranker = bundled()
        return self._reranker

    def _warn_if_barred(self, settings: Settings) -> None:
        """Say once for each configuration which of its legs can never put a memory of its own into the top k."""
        # A leg alone is heard, whatever its weight.
        if len(active(settings.fuser)) < 2 or repr(settings) in self._warned:
            return
        from hopgate.recall import reach

        self._warned.add(repr(settings))
        exact = ExactMatch(settings.exact_match) if settings.exact_match else None
        for sentence in reach.warnings(
            settings.fuser, k=settings.k, depths=settings.depth, prior=Importance(settings.prior), exact=exact
        ):
            warnings.warn(sentence, BarredLegWarning, stacklevel=3)

    def _write(self, new: Iterable[Memory]) -> Written:
        from hopgate.graph.build.revoke import revoke

        with self.store.transaction() as connection:
            written = memories.upsert(connection, new)
            # What was said once may be what turns sensitive later: the caches keep no text that a store gave up.
            self._embedding.forget(written.replaced)
            if written.changed:
                revoke(connection, written.changed)
                vectors.drop(connection, written.changed)
            if written.now_sensitive:
                self._forget(connection, written.now_sensitive)
        return written

    def _forget(self, connection: Connection[Any], ids: Sequence[int]) -> None:
        """Remove all that was made of memories' texts; the caches on disk first, so that no failure can leave them."""
        from hopgate.graph.build.revoke import revoke
        from hopgate.store import extractions
        from hopgate.store.graph import fact_rows

        texts = [memory.content for memory in memories.fetch_by_id(connection, ids).values()]
        self._embedding.forget([*texts, *fact_rows.texts_of_memories(connection, ids)])
        revoke(connection, ids)
        vectors.drop(connection, ids)
        extractions.forget(connection, ids)


def _dense(connection: Connection[Any], vector: NDArray[np.float32], filters: Filters, depth: int) -> Leg:
    return dense_leg(connection, vector, filters, depth=depth, exact=not vectors.has_index(connection))


def _told(stream: Iterable[Memory], progress: Progress | None) -> Iterator[Memory]:
    """Pass memories on, telling the progress every so often."""
    for number, memory in enumerate(stream, start=1):
        yield memory
        if progress and number % 500 == 0:
            progress(500)
