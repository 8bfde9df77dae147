"""A backfill from its first row to its last edge: load, index, build, each going on where an earlier run stopped."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from hopgate.errors import HopgateError
from hopgate.extract.progress import Progress
from hopgate.extract.spec import as_extractor
from hopgate.graph.build.pipeline import GraphBuilder
from hopgate.redact import redacted
from hopgate.scale import shards
from hopgate.scale.engine import Engine, WorkerPool
from hopgate.scale.load import BatchLoader
from hopgate.scale.local_pool import LocalPool
from hopgate.scale.pooled_embedding import PooledEmbedding
from hopgate.scale.summary import Backfilled, StageRate
from hopgate.scale.worker import BackfillWorker
from hopgate.store import connection_limit, memories, set_aside
from hopgate.store.retry import patiently

if TYPE_CHECKING:
    from hopgate.extract.extractor import Extractor
    from hopgate.memory_writer import MemoryWriter
    from hopgate.scale.ray_pool import RayPool
    from hopgate.sources.source import ReadOptions
    from hopgate.store.fill import Embedding
    from hopgate.store.store import Store

# Memories that are embedded by one worker at a time and written in one transaction.
BATCH = 512
# After so many new rows the planner's statistics and the index's pending list are worth a pass of their own.
TIDY_ABOVE = 1000

Show = Callable[[Progress], object]


def backfill(
    sources: Sequence[str | Path],
    store: Store,
    embedding: Embedding,
    writer: MemoryWriter,
    *,
    engine: str = "local",
    address: str | None = None,
    workers: int | None = None,
    gpus_per_worker: float = 0.0,
    show: Show = str,
    extractor: str | Extractor = "phrases",
    embedder: str | None = None,
    form: str | None = None,
    options: ReadOptions | None = None,
    batch: int = BATCH,
    build: bool = True,
    rebuild: bool = False,
) -> Backfilled:
    """Bring everything that a source holds into a store, once each, whoever else is doing the same.

    The parameters are those of `BackfillOptions`.
    """
    if batch < 1:
        raise HopgateError("a batch holds at least one memory")
    run = _Run(
        Engine(engine, address, workers, gpus_per_worker), as_extractor(extractor), form, options, batch, build, rebuild
    )
    return run.over(sources, embedder, store, embedding, writer, show)


@dataclass(frozen=True)
class _Run:
    """A backfill's settings."""

    engine: Engine
    extractor: Extractor
    form: str | None
    options: ReadOptions | None
    batch: int
    build: bool
    rebuild: bool

    def over(
        self,
        sources: Sequence[str | Path],
        embedder: str | None,
        store: Store,
        embedding: Embedding,
        writer: MemoryWriter,
        show: Show,
    ) -> Backfilled:
        began = time.monotonic()
        found = shards.shards(sources)
        spec = embedding.working_spec(embedder)
        with self._pool(store, spec) as (pool, readers):
            loader = BatchLoader(store, writer, pool, embedding.embedder(embedder).identity, datetime.now(UTC))
            stream = chain.from_iterable(shards.rows(shard, self.form, self.options) for shard in found)

            def say(count: int) -> None:
                show(Progress(memories=count, seconds=time.monotonic() - began, stage="embedding and writing"))

            loader.load(shards.batches(stream, self.batch), say)
            read_out = [redacted(shard) for shard in found]
            patiently(lambda: store.run(lambda c: set_aside.forget_older(c, read_out, loader.run_at)))
            if loader.done.added + loader.done.changed >= TIDY_ABOVE:
                patiently(lambda: store.run(memories.tidy))
            patiently(embedding.index)
            done = replace(loader.done, workers=pool.size)
            stages = list(loader.rates.values())
            if self.build:
                built, rates = self._build(store, PooledEmbedding(store, pool) if readers else embedding, readers,
                                           writer, show)  # fmt: skip
                done, stages = replace(done, linked=built), [*stages, *rates]
        return replace(done, seconds=time.monotonic() - began, stages=tuple(stages))

    def _build(
        self, store: Store, embedding: Embedding, readers: RayPool | None, writer: MemoryWriter, show: Show
    ) -> tuple[int, list[StageRate]]:
        """Build the graph from what is in the store; concepts need all names, so it comes after the last row."""
        stages: dict[str, tuple[float, int]] = {}

        def note(progress: Progress) -> None:
            begun, _ = stages.get(progress.stage or "extracting", (time.monotonic(), 0))
            stages[progress.stage or "extracting"] = (begun, progress.memories)
            show(progress)

        def once() -> int:
            writer.mark_by_rules()
            built = GraphBuilder(store, embedding, readers).build(self.extractor, rebuild=self.rebuild, show=note)
            return built.extraction.memories

        linked = patiently(once)
        starts = [begun for begun, _ in stages.values()] + [time.monotonic()]
        return linked, [
            StageRate(name, rows, starts[at + 1] - begun) for at, (name, (begun, rows)) in enumerate(stages.items())
        ]

    @contextlib.contextmanager
    def _pool(self, store: Store, spec: str) -> Iterator[tuple[WorkerPool, RayPool | None]]:
        """The workers, and the same again where they also read for the graph."""
        if self.engine.name == "local":
            yield LocalPool(BackfillWorker(store, spec, self.extractor)), None
            return
        from hopgate.scale.ray_pool import RayPool
        from hopgate.scale.ray_session import cluster_workers, ray_session, spans_machines

        with ray_session(self.engine) as ray:
            if store.directory is not None and spans_machines(ray):
                raise HopgateError(
                    "an embedded store serves the workers of its own machine: give a server's address that all can "
                    "reach, --dsn postgresql://…"
                )
            wanted = cluster_workers(ray, self.engine)
            size = min(wanted, patiently(lambda: store.run(connection_limit.workers_allowed)))
            pool = RayPool(ray, self.engine, size, store, spec, self.extractor)
            try:
                yield pool, pool
            finally:
                pool.close()
