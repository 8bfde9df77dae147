"""Text to vectors: one file an embedder, one cache."""

from hopgate.embed.cache import CacheInfo, EmbeddingCache
from hopgate.embed.embedder import Embedder, Identity, embedder_from

__all__ = ["CacheInfo", "Embedder", "EmbeddingCache", "Identity", "embedder_from"]
