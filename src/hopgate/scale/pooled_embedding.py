"""A store's embedder whose texts are shared out over workers: names and facts of a large graph are many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hopgate.embed import CachedEmbedder
from hopgate.scale.guarded_texts import under_guard
from hopgate.store.fill import Embedding

if TYPE_CHECKING:
    from hopgate.embed import Embedder, Identity
    from hopgate.embed.embedder import Vectors
    from hopgate.memory import Cleared
    from hopgate.scale.engine import WorkerPool
    from hopgate.store import vectors
    from hopgate.store.store import Store

# Texts in one question to a worker.
AT_ONCE = 32


class PooledEmbedder:
    """Embeds documents by a pool's workers; queries by itself."""

    def __init__(self, embedder: Embedder, pool: WorkerPool) -> None:
        self._embedder = embedder
        self._pool = pool

    @property
    def identity(self) -> Identity:
        """Which embedder this is."""
        return self._embedder.identity

    def documents(self, texts: Sequence[Cleared]) -> Vectors:
        """Embed texts that have passed the guard."""
        parts = (under_guard(tuple(texts[start : start + AT_ONCE])) for start in range(0, len(texts), AT_ONCE))
        made: Vectors = np.concatenate(list(self._pool.each("vectors", parts)))
        return made

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries."""
        return self._embedder.queries(texts)


class PooledEmbedding(Embedding):
    """As `Embedding`, with a pool's workers; the cache is this machine's, as ever."""

    def __init__(self, store: Store, pool: WorkerPool) -> None:
        super().__init__(store)
        self._pool = pool

    def embedder(self, spec: str | None = None, space: vectors.EmbeddingSpace | None = None) -> CachedEmbedder:
        """The store's embedder; a spec that names another is refused."""
        made = super().embedder(spec, space)
        return CachedEmbedder(PooledEmbedder(made.embedder, self._pool), made.cache)
