"""An embedder that asks the cache first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from hopgate.embed.cache import EmbeddingCache, Role
from hopgate.embed.embedder import Embedder, Identity, Vectors
from hopgate.memory import Cleared
from hopgate.sending import check_sending, kept_safely

Text = TypeVar("Text", bound=str)

# Texts embedded between two writes to the cache: an interrupted backfill loses no more than these.
BATCH = 256


class CachedEmbedder:
    """Embed what the cache does not have, and keep it batch by batch.

    Parameters
    ----------
    embedder : Embedder
    cache : EmbeddingCache
    keep_queries : bool
        Cache queries' vectors too: for an evaluation, which asks the same queries again and again. Off otherwise, since
        a query has passed no guard.

    Examples
    --------
    >>> import tempfile
    >>> from hopgate.embed import embedder_from
    >>> from hopgate.memory import Memory, cleared
    >>> texts = [text for _, text in cleared([("a", Memory("a", "The NAS is in the cellar."))])]
    >>> embedder = CachedEmbedder(embedder_from("bge-small"), EmbeddingCache(tempfile.mkdtemp() + "/cache.sqlite3"))
    >>> bool((embedder.documents(texts) == embedder.documents(texts)).all()), embedder.cache.info().vectors
    (True, 1)
    """

    def __init__(self, embedder: Embedder, cache: EmbeddingCache, *, keep_queries: bool = False) -> None:
        self.embedder = embedder
        self.cache = cache
        self.keep_queries = keep_queries

    def __repr__(self) -> str:
        return f"CachedEmbedder({self.embedder!r})"

    @property
    def identity(self) -> Identity:
        """Which embedder this is: the one behind the cache."""
        return self.embedder.identity

    def load(self) -> None:
        """Load the bundled model now; other embedders load what they need when they are first asked."""
        from hopgate.embed.bge import BgeSmall

        if isinstance(self.embedder, BgeSmall):
            self.embedder.load()

    def documents(self, texts: Sequence[Cleared]) -> Vectors:
        """Embed memories' contents, which have passed the guard."""
        return self._embed(texts, "document", self.embedder.documents)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries."""
        if self.keep_queries:
            return self._embed(texts, "query", self.embedder.queries)
        return self.embedder.queries(texts)

    def _embed(self, texts: Sequence[Text], role: Role, embed: Callable[[Sequence[Text]], Vectors]) -> Vectors:
        if not texts:
            return np.zeros((0, self.identity.dimension), dtype=np.float32)
        unique = dict.fromkeys(texts)
        known = self.cache.get(self.identity, unique, role)
        missing = [text for text in unique if text not in known]
        for start in range(0, len(missing), BATCH):
            batch = missing[start : start + BATCH]
            check_sending()
            made = dict(zip(batch, embed(batch), strict=True))
            with kept_safely():
                self.cache.put(self.identity, made, role)
            known.update(made)
        return np.stack([known[text] for text in texts])
