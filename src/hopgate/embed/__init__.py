"""Text to vectors: one file an embedder, one cache."""

from __future__ import annotations

from hopgate.embed.cache import CacheInfo, EmbeddingCache
from hopgate.embed.cached_embedder import CachedEmbedder
from hopgate.embed.embedder import Embedder, Identity
from hopgate.embed.spec import embedder_from

__all__ = ["CacheInfo", "CachedEmbedder", "Embedder", "EmbeddingCache", "Identity", "embedder_from"]
