"""For tests of the runner: a sink and a cache in dictionaries, and a cache in a file that survives a killed process."""

import json
import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from hopgate.extract.extraction import Extraction, ExtractorIdentity, Source
from hopgate.extract.runner import Extracted


class Rows:
    """A sink in a dictionary."""

    def __init__(self) -> None:
        self.rows: dict[str | int, Extraction] = {}

    def done(self, memory_ids: Sequence[str | int], identity: ExtractorIdentity) -> set[str | int]:
        return {key for key in memory_ids if key in self.rows and self.rows[key].state.done}

    def write(self, batch: Sequence[Extracted], identity: ExtractorIdentity) -> None:
        self.rows.update({entry.source.memory_id: entry.extraction for entry in batch})


class DictCache:
    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], Extraction] = {}

    def get(self, identity: ExtractorIdentity, text_hashes: Sequence[str]) -> dict[str, Extraction]:
        return {one: self.kept[one, identity.hash] for one in text_hashes if (one, identity.hash) in self.kept}

    def put(self, identity: ExtractorIdentity, made: Sequence[tuple[Source, Extraction]]) -> None:
        self.kept.update({(source.text_hash, identity.hash): one for source, one in made})


class FileCache:
    """One line an extraction; a line that a kill cut short counts as not there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = threading.Lock()

    def get(self, identity: ExtractorIdentity, text_hashes: Sequence[str]) -> dict[str, Extraction]:
        kept = {}
        for line in self.path.read_text().splitlines(keepends=True) if self.path.exists() else ():
            if line.endswith("\n"):
                text_hash, made_by, row = json.loads(line)
                if made_by == identity.hash and text_hash in text_hashes:
                    kept[text_hash] = Extraction.from_dict(row)
        return kept

    def put(self, identity: ExtractorIdentity, made: Sequence[tuple[Source, Extraction]]) -> None:
        lines = "".join(json.dumps([source.text_hash, identity.hash, asdict(one)]) + "\n" for source, one in made)
        with self.lock, self.path.open("a") as file:
            file.write(lines)
