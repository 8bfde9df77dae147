"""Extractions made elsewhere or earlier: a `triples.jsonl` enters the same pipeline."""

from __future__ import annotations

import hashlib
import io
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Extraction, Fact, Mention, Source, found
from hopgate.extract.extractor import ExtractorIdentity
from hopgate.extract.model.answer import fold
from hopgate.extract.triples import Triple, parse_triples


@dataclass(frozen=True)
class Replay:
    """Give each memory the mentions and facts that a file has for its id.

    The file is read and checked whole before the first memory is served: not JSON, a missing field, a wrong type, NaN
    or an id that is not in `known` is refused with file, line and reason.

    Parameters
    ----------
    path : str
        The `triples.jsonl`.
    known : collection of str, optional
        The ids that exist, sensitive memories included; a row about another id is refused.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "triples.jsonl"
    ...     _ = path.write_text('{"doc_id": "m1", "subject": "Ada", "relation": "owns", "object": "NAS"}')
    ...     [extraction] = Replay(str(path)).extract([Source("m1", "Ada owns the NAS.")])
    >>> extraction.facts[0].relation, [mention.name for mention in extraction.mentions]
    ('owns', ['Ada', 'NAS'])
    """

    path: str
    known: Collection[str] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def identity(self) -> ExtractorIdentity:
        """The file's content: another file is another extractor."""
        return ExtractorIdentity("replay", hashlib.sha256(self._bytes).hexdigest()[:32], by_id=True)

    def extract(self, sources: Sequence[Source]) -> list[Extraction]:
        """Return one extraction for each source, in order."""
        return [
            self._rows.get(str(source.memory_id)) or found((), (), reason="the file has no row for this memory")
            for source in sources
        ]

    @cached_property
    def _bytes(self) -> bytes:
        try:
            return Path(self.path).read_bytes()
        except OSError as error:
            raise HopgateError(f"{self.path} cannot be read ({error.strerror}): give a triples.jsonl") from error

    @cached_property
    def _rows(self) -> dict[str, Extraction]:
        mentions: defaultdict[str, dict[str, Mention]] = defaultdict(dict)
        facts: defaultdict[str, dict[Fact, None]] = defaultdict(dict)
        for triple in parse_triples(io.BytesIO(self._bytes), self.path, self.known):
            names = [Mention(triple.subject, triple.subject_type)]
            if triple.is_fact:
                names.append(Mention(triple.object, triple.object_type))
                facts[triple.doc_id][_fact(triple)] = None
            of_memory = mentions[triple.doc_id]
            for mention in names:
                # A name is one mention of a memory however often the file has it, with the first kind that is given.
                key = fold(mention.name) or mention.name
                if key not in of_memory or not of_memory[key].kind:
                    of_memory[key] = mention
        return {doc_id: found(of_memory.values(), facts[doc_id]) for doc_id, of_memory in mentions.items()}


def _fact(triple: Triple) -> Fact:
    confidence = 1.0 if triple.confidence is None else triple.confidence
    return Fact(triple.subject, triple.relation, triple.object, triple.valid_from, triple.valid_to, confidence)
