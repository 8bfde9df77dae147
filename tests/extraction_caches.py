"""Caches for tests of the runner: one in a dictionary, one in a file that survives a killed process."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

from hopgate.extract.extraction import Extraction
from hopgate.extract.runner import CacheEntry, CacheKey


class DictCache:
    def __init__(self) -> None:
        self.kept: dict[CacheKey, Extraction] = {}

    def get_many(self, keys: Iterable[CacheKey]) -> dict[CacheKey, Extraction]:
        return {key: self.kept[key] for key in keys if key in self.kept}

    def put_many(self, entries: Sequence[CacheEntry]) -> None:
        self.kept.update({entry.key: entry.extraction for entry in entries})


class FileCache:
    """One line an extraction; a line that a kill cut short counts as not there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = threading.Lock()

    def get_many(self, keys: Iterable[CacheKey]) -> dict[CacheKey, Extraction]:
        kept = {}
        if self.path.exists():
            for line in self.path.read_text().splitlines(keepends=True):
                if line.endswith("\n"):
                    text, identity, row = json.loads(line)
                    kept[CacheKey(text, identity)] = Extraction.from_dict(row)
        return {key: kept[key] for key in keys if key in kept}

    def put_many(self, entries: Sequence[CacheEntry]) -> None:
        lines = "".join(json.dumps([*key, one.to_dict()]) + "\n" for key, _, one in entries)
        with self.lock, self.path.open("a") as file:
            file.write(lines)
