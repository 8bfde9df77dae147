"""Extractions by (what was read, who read it): an empty result is a hit too; a failed one is asked again."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Extraction, Source, material
from hopgate.extract.extractor import ExtractorIdentity
from hopgate.memory import Memory


class CacheKey(NamedTuple):
    """The hash of what was read and the hash of the extractor's identity; neither holds any text."""

    text: str
    identity: str


def text_key(source: Source) -> str:
    """Return the hash of all that an extractor may read of a source."""
    return _hash(source.material)


def forget_key(memory: Memory) -> str:
    """Return the `text_key` that a memory had or would have, sensitive or not: to `forget` one that turned sensitive.

    Examples
    --------
    >>> from hopgate.extract.extraction import sources
    >>> [source] = sources([Memory("m1", "a", tags=("b",))])
    >>> forget_key(Memory("m1", "a", tags=("b",), is_sensitive=True)) == text_key(source)
    True
    """
    return _hash(material(memory.content, memory.tags, memory.expanded_keywords))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


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


class ExtractionCache(Protocol):
    """What the runner needs of a cache. Safe to use from several threads."""

    def get_many(self, keys: Iterable[CacheKey]) -> dict[CacheKey, Extraction]:
        """Return the extractions that are there."""
        ...

    def put_many(self, extractions: Mapping[CacheKey, Extraction]) -> None:
        """Keep extractions; they are on disk when this returns."""
        ...

    def forget(self, texts: Iterable[str]) -> int:
        """Remove every extraction of these `text_key`s; return how many there were."""
        ...


class MemoryCache:
    """A cache that ends with the process.

    Examples
    --------
    >>> cache = MemoryCache()
    >>> cache.put_many({CacheKey("t", "i"): Extraction()})
    >>> len(cache.get_many([CacheKey("t", "i"), CacheKey("t", "other")])), cache.forget(["t"])
    (1, 1)
    """

    def __init__(self) -> None:
        self._kept: dict[CacheKey, Extraction] = {}

    def get_many(self, keys: Iterable[CacheKey]) -> dict[CacheKey, Extraction]:
        """Return the extractions that are there."""
        return {key: self._kept[key] for key in keys if key in self._kept}

    def put_many(self, extractions: Mapping[CacheKey, Extraction]) -> None:
        """Keep extractions."""
        self._kept.update(extractions)

    def forget(self, texts: Iterable[str]) -> int:
        """Remove every extraction of these texts."""
        gone = set(texts)
        keys = [key for key in self._kept if key.text in gone]
        for key in keys:
            del self._kept[key]
        return len(keys)


class DiskCache:
    """A cache in one SQLite file that survives a crash: each `put_many` is one transaction.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with DiskCache(Path(folder.name) / "extractions.sqlite") as cache:
    ...     cache.put_many({CacheKey("t", "i"): Extraction(reason="nothing")})
    >>> with DiskCache(Path(folder.name) / "extractions.sqlite") as cache:
    ...     cache.get_many([CacheKey("t", "i")])[CacheKey("t", "i")].reason
    'nothing'
    >>> folder.cleanup()
    """

    def __init__(self, path: str | Path) -> None:
        self._lock = threading.Lock()
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._rows = sqlite3.connect(path, check_same_thread=False, timeout=60, isolation_level=None)
            # secure_delete: what is forgotten is overwritten, not merely unlinked.
            for pragma in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON"):
                self._rows.execute(f"PRAGMA {pragma}")
            self._rows.execute(
                "CREATE TABLE IF NOT EXISTS extractions (text TEXT, identity TEXT, extraction TEXT NOT NULL, "
                "PRIMARY KEY (text, identity)) WITHOUT ROWID"
            )
        except (OSError, sqlite3.Error) as error:
            raise HopgateError(f"{path} cannot be used as an extraction cache ({error}): name another file") from error

    def get_many(self, keys: Iterable[CacheKey]) -> dict[CacheKey, Extraction]:
        """Return the extractions that are there."""
        one = "SELECT extraction FROM extractions WHERE text = ? AND identity = ?"
        with self._lock:
            rows = {key: self._rows.execute(one, key).fetchone() for key in keys}
        return {key: Extraction.from_dict(json.loads(row[0])) for key, row in rows.items() if row}

    def put_many(self, extractions: Mapping[CacheKey, Extraction]) -> None:
        """Keep extractions, in one transaction."""
        rows = [(*key, json.dumps(extraction.to_dict())) for key, extraction in extractions.items()]
        if not rows:
            return
        with self._lock:
            self._rows.execute("BEGIN IMMEDIATE")
            with self._rows:
                self._rows.executemany("INSERT OR REPLACE INTO extractions VALUES (?, ?, ?)", rows)

    def forget(self, texts: Iterable[str]) -> int:
        """Remove every extraction of these texts, from the file's free pages and its journal too."""
        with self._lock:
            self._rows.execute("BEGIN IMMEDIATE")
            with self._rows:
                gone = sum(
                    self._rows.execute("DELETE FROM extractions WHERE text = ?", (text,)).rowcount for text in texts
                )
            self._rows.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return gone

    def close(self) -> None:
        """Close the file."""
        self._rows.close()

    def __enter__(self) -> DiskCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
