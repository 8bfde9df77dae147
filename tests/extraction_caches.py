"""For tests of the runner: a sink and a cache in dictionaries."""

from collections.abc import Sequence

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
