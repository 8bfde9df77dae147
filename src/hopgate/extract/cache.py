"""The key of a cached extraction, (what was read, who read it), and what the runner needs of a cache.

The cache itself is in the store, so that what turns sensitive leaves it in the same transaction.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from hopgate.extract.extraction import Extraction, Source
from hopgate.extract.extractor import ExtractorIdentity


class CacheKey(NamedTuple):
    """The hash of what was read and the hash of the extractor's identity; neither holds any text."""

    text: str
    identity: str


def text_key(source: Source) -> str:
    """Return the hash of all that an extractor may read of a source."""
    return hashlib.sha256(source.material.encode("utf-8", "surrogatepass")).hexdigest()


def cache_key(source: Source, identity: ExtractorIdentity) -> CacheKey:
    """Return the key of an extraction.

    Examples
    --------
    >>> from hopgate.memory import Cleared
    >>> cache_key(Source("m1", Cleared("a")), ExtractorIdentity("x")) == cache_key(
    ...     Source("m2", Cleared("a")), ExtractorIdentity("x"))
    True
    """
    return CacheKey(text_key(source), identity.hash)


class CacheEntry(NamedTuple):
    """An extraction to keep, with its key and the source that was read."""

    key: CacheKey
    source: Source
    extraction: Extraction


class ExtractionCache(Protocol):
    """What the runner needs of a cache. Safe to use from several threads."""

    def get_many(self, keys: Iterable[CacheKey]) -> dict[CacheKey, Extraction]:
        """Return the extractions that are there."""
        ...

    def put_many(self, entries: Sequence[CacheEntry]) -> None:
        """Keep extractions, for good when this returns; an empty one too. The runner does not ask to keep failures."""
        ...
