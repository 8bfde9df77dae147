"""Extractions made elsewhere or earlier: a `triples.jsonl` enters the same pipeline."""

from __future__ import annotations

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from hopgate.errors import HopgateError
from hopgate.extract.dates import iso
from hopgate.extract.extraction import Extraction, Fact, Mention, Source, found
from hopgate.extract.extractor import ExtractorIdentity
from hopgate.extract.model.answer import fold

_FACT = ("subject", "relation", "object")


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
        for number, line in enumerate(self._bytes.split(b"\n"), start=1):
            if not line.strip():
                continue
            try:
                row = _row(line, self.known)
                fact = _fact(row)
                names = ("entity", "type"), ("subject", "subject_type"), ("object", "object_type")
                said = [Mention(row[name], row.get(kind) or "") for name, kind in names if name in row]
            except ValueError as error:
                raise HopgateError(f"{self.path}, line {number}: {error}") from error
            memory = row["doc_id"]
            if fact:
                facts[memory][fact] = None
            for mention in said:
                key = fold(mention.name) or mention.name
                if not mentions[memory].get(key, Mention("")).kind:
                    mentions[memory][key] = mention
        return {memory: found(kept.values(), facts[memory]) for memory, kept in mentions.items()}


def _row(line: bytes, known: Collection[str] | None) -> dict[str, Any]:
    """Check one line and return it; ValueError says what is wrong with it."""
    try:
        row = json.loads(line.decode("utf-8"), parse_constant=_refused)
    except UnicodeDecodeError as error:
        raise ValueError("it is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON ({error.msg})") from error
    if not isinstance(row, dict):
        raise ValueError("it is not a JSON object")
    wanted = ("doc_id", "entity") if "entity" in row else ("doc_id", *_FACT)
    for name in wanted:
        if name not in row:
            raise ValueError(f'"{name}" is missing')
        if not isinstance(row[name], str) or not row[name].strip():
            raise ValueError(f'"{name}" must be a text that is not empty')
    for name in ("type", "subject_type", "object_type", "valid_from", "valid_to"):
        if not isinstance(row.get(name), str | None):
            raise ValueError(f'"{name}" must be a text')
    if any("\0" in value for value in row.values() if isinstance(value, str)):
        raise ValueError("it holds a NUL character")
    if known is not None and row["doc_id"] not in known:
        raise ValueError(f'there is no memory "{row["doc_id"][:80]}"')
    return row


def _fact(row: dict[str, Any]) -> Fact | None:
    if "subject" not in row:
        return None
    confidence = row.get("confidence")
    confidence = 1.0 if confidence is None else confidence
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        raise ValueError('"confidence" must be a number')
    if math.isnan(confidence) or not 0 <= confidence <= 1:
        raise ValueError(f'"confidence" must be between 0 and 1, not {confidence}')
    begin, end = (_date(row.get(name), name) for name in ("valid_from", "valid_to"))
    if begin and end and begin > end:
        raise ValueError(f'"valid_to" {end} is before "valid_from" {begin}')
    subject, relation, target = (" ".join(row[name].split()) for name in _FACT)
    return Fact(subject, relation, target, begin, end, float(confidence))


def _date(value: str | None, name: str) -> str | None:
    if not value:
        return None
    date = iso(value) or iso(value[:10])
    if date is None:
        raise ValueError(f'"{name}" must be an ISO date, not {value[:40]!r}')
    return date


def _refused(constant: str) -> float:
    raise ValueError(f"{constant} is not a number that can be used")
