"""What others found: `triples.jsonl` and `statements.jsonl`, their readers, and the extractors that serve from them."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from hopgate.errors import HopgateError
from hopgate.extract.dates import iso
from hopgate.extract.extraction import Extraction, Extractor, ExtractorIdentity, Fact, Mention, Source, found
from hopgate.extract.model.answer import fold
from hopgate.jsonl import field as text_of
from hopgate.jsonl import json_lines, parse_json_lines, refuse
from hopgate.memory import Cleared

# A statement is a sentence; what is longer is a memory of its own.
MAX_STATEMENT = 2000
_FACT = ("subject", "relation", "object")
_OPTIONAL_TEXTS = ("type", "subject_type", "object_type", "valid_from", "valid_to")
_Row = tuple[Path | str, int, dict[str, Any]]  # the file, the line, and what it says


@dataclass(frozen=True, slots=True)
class Triple:
    """A typed fact and the memory that is its evidence; a mention has a subject alone.

    Parameters
    ----------
    doc_id : str
        The memory's external id.
    subject, relation, object : str
        The fact; `relation` and `object` are empty for a mention.
    subject_type, object_type : str
        The kinds of the two names, empty where they are not given.
    valid_from, valid_to : str, optional
        The interval in which it is true, in ISO form, as precise as it was given.
    confidence : float, optional
        In 0..1; None where it was not given, which ``"confidence": null`` means too.

    Examples
    --------
    >>> Triple("m1", "immich", "runs on", "nas-2").is_fact, Triple("m1", "immich").is_fact
    (True, False)
    """

    doc_id: str
    subject: str
    relation: str = ""
    object: str = ""
    subject_type: str = ""
    object_type: str = ""
    valid_from: str | None = None
    valid_to: str | None = None
    confidence: float | None = None

    @property
    def is_fact(self) -> bool:
        """Whether it relates two concepts, or only mentions one."""
        return bool(self.relation)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence about a memory, between a triple and the memory's own text.

    Parameters
    ----------
    doc_id : str
        The memory's external id.
    statement : str
        The sentence: it names what it is about, and can be understood without the memory.
    subject : str
        Who or what it is about, empty where it is not given.
    valid_from, valid_to : str, optional
        The interval in which it is true, in ISO form, as precise as it was given.
    confidence : float
        In 0..1.
    """

    doc_id: str
    statement: str
    subject: str = ""
    valid_from: str | None = None
    valid_to: str | None = None
    confidence: float = 1.0


def read_triples(path: Path | str, known: Collection[str] | None = None) -> tuple[Triple, ...]:
    """Read a file of facts and mentions.

    Parameters
    ----------
    path : path
        The `triples.jsonl`.
    known : collection of str, optional
        The ids that exist; a row about another is refused.

    Raises
    ------
    HopgateError
        For the first line that is neither a fact nor a mention, that names an unknown memory, or whose fields are not
        what they should be, naming file, line and reason.
    """
    return tuple(_triple((path, line, row), known) for line, row in json_lines(path))


def parse_triples(stream: IO[bytes], name: Path | str, known: Collection[str] | None = None) -> Iterator[Triple]:
    """Read facts and mentions from an open stream, as `read_triples` does from a file; errors call it `name`.

    Examples
    --------
    >>> rows = b'{"doc_id": "m1", "entity": "NAS", "type": "device"}'
    >>> [(triple.subject, triple.subject_type) for triple in parse_triples(io.BytesIO(rows), "triples.jsonl")]
    [('NAS', 'device')]
    """
    return (_triple((name, line, row), known) for line, row in parse_json_lines(stream, name))


def read_statements(path: Path | str, known: Collection[str] | None = None) -> tuple[Statement, ...]:
    """Read a file of statements.

    Parameters
    ----------
    known : collection of str, optional
        The ids that exist; a row about another is refused.

    Raises
    ------
    HopgateError
        For the first line that is no statement, names an unknown memory, or has fields that are not what they should
        be, naming file, line and reason.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "statements.jsonl"
    ...     _ = path.write_text('{"doc_id": "m1", "subject": "Ada", "statement": "Ada keeps the spare key."}')
    ...     [statement] = read_statements(path)
    >>> statement.subject, statement.confidence
    ('Ada', 1.0)
    """
    return tuple(_statement((path, line, row), known) for line, row in json_lines(path))


def _triple(row: _Row, known: Collection[str] | None) -> Triple:
    path, line, values = row
    doc_id = _checked_id(row, known, _OPTIONAL_TEXTS)
    if "entity" in values:
        if any(name in values for name in _FACT):
            refuse(path, line, "both a fact (subject, relation, object) and a mention (entity): write two lines")
        return Triple(doc_id, _name(row, "entity"), subject_type=values.get("type") or "")
    if not all(name in values for name in _FACT):
        refuse(path, line, "neither a fact (subject, relation, object) nor a mention (entity)")
    subject, relation, target = (_name(row, name) for name in _FACT)
    kinds = (values.get("subject_type") or "", values.get("object_type") or "")
    return Triple(doc_id, subject, relation, target, *kinds, *_interval(row), _confidence(row))


def _statement(row: _Row, known: Collection[str] | None) -> Statement:
    path, line, values = row
    doc_id = _checked_id(row, known, ("subject", "valid_from", "valid_to"))
    sentence = _name(row, "statement")
    if len(sentence) > MAX_STATEMENT:
        refuse(path, line, f"a statement has at most {MAX_STATEMENT:,} characters, not {len(sentence):,}")
    confidence = _confidence(row)
    subject = " ".join((values.get("subject") or "").split())
    return Statement(doc_id, sentence, subject, *_interval(row), 1.0 if confidence is None else confidence)


def _checked_id(row: _Row, known: Collection[str] | None, optional_texts: Sequence[str]) -> str:
    """The id of the memory that a row is about; a row that is about none, or has fields of wrong types, is refused."""
    path, line, values = row
    doc_id = text_of(values, "doc_id", path, line)
    if known is not None and doc_id not in known:
        refuse(path, line, f"doc_id {doc_id[:80]!r} is not in the corpus: this file is about other memories")
    for name in optional_texts:
        if not isinstance(values.get(name), str | None):
            refuse(path, line, f"{name} must be a text")
    if any("\0" in value for value in values.values() if isinstance(value, str)):
        refuse(path, line, "it holds a NUL character")
    return doc_id


def _name(row: _Row, name: str) -> str:
    path, line, values = row
    return " ".join(text_of(values, name, path, line).split())


def _confidence(row: _Row) -> float | None:
    path, line, values = row
    value = values.get("confidence")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        refuse(path, line, f"confidence must be a number between 0 and 1, not {value!r}")
    return float(value)


def _interval(row: _Row) -> tuple[str | None, str | None]:
    """The two dates of a row in ISO form, as precise as they were given."""
    path, line, values = row
    dates: list[str | None] = []
    for name in ("valid_from", "valid_to"):
        value: str | None = values.get(name) or None
        # The first ten characters are the day of a date with a time.
        dates.append(value and (iso(value) or iso(value[:10])))
        if value and not dates[-1]:
            refuse(path, line, f"{name} must be an ISO date, not {value[:40]!r}")
    begin, end = dates
    if begin and end and begin > end:
        refuse(path, line, f"valid_to {end} is before valid_from {begin}")
    return begin, end


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
    >>> extraction.facts[0].object, [mention.name for mention in extraction.mentions]
    ('NAS', ['Ada', 'NAS'])
    """

    path: str
    known: Collection[str] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def identity(self) -> ExtractorIdentity:
        """The file's content: another file is another extractor."""
        return ExtractorIdentity("replay", sha256(self._bytes).hexdigest()[:32], by_id=True)

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
        mentions: defaultdict[str, list[Mention]] = defaultdict(list)
        facts: defaultdict[str, list[Fact]] = defaultdict(list)
        for triple in parse_triples(io.BytesIO(self._bytes), self.path, self.known):
            mentions[triple.doc_id].append(Mention(triple.subject, triple.subject_type))
            if triple.is_fact:
                mentions[triple.doc_id].append(Mention(triple.object, triple.object_type))
                facts[triple.doc_id].append(_fact(triple))
        return {doc_id: _joined(of_memory, facts[doc_id]) for doc_id, of_memory in mentions.items()}


@dataclass(frozen=True)
class WithStatements:
    """An extractor that reads, beside each memory, what was stated about it: their names and facts are the memory's.

    Parameters
    ----------
    extractor : Extractor
        Reads the memories and the statements.
    statements : sequence of Statement
        What was stated.
    """

    extractor: Extractor
    statements: Sequence[Statement] = field(repr=False)

    @cached_property
    def identity(self) -> ExtractorIdentity:
        """The extractor's, with the statements: other statements make it another extractor."""
        own = self.extractor.identity
        read = sha256("\n".join(map(repr, self.statements)).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        # With the prompt, so that a model behind it is asked about one memory at a time here too.
        return ExtractorIdentity(own.extractor, f"{own.hash} with statements {read}", own.prompt, by_id=True)

    def extract(self, sources: Sequence[Source]) -> list[Extraction]:
        """Return one extraction for each source, in order: of its text and of its statements."""
        parts = [[extraction] for extraction in self.extractor.extract(sources)]
        # A replay answers by id and has answered already. The others read the sentence, whose memory passed the guard.
        if not self.extractor.identity.by_id:
            stated = [(at, one) for at, source in enumerate(sources) for one in self._of(source)]
            texts = [
                replace(sources[at], text=Cleared(one.statement), tags=(), keywords=(), title=None)
                for at, one in stated
            ]
            for (at, _), extraction in zip(stated, self.extractor.extract(texts), strict=True):
                parts[at].append(extraction)
        return [self._with_subjects(source, of_memory) for source, of_memory in zip(sources, parts, strict=True)]

    def _with_subjects(self, source: Source, parts: Sequence[Extraction]) -> Extraction:
        """A memory's own extraction with those of its statements; one that did not succeed stays as it is."""
        if not parts[0].state.done:
            return parts[0]
        mentions = [mention for part in parts for mention in part.mentions]
        mentions += [Mention(statement.subject) for statement in self._of(source) if statement.subject]
        joined = _joined(mentions, (fact for part in parts for fact in part.facts))
        return joined.spent(sum(part.prompt_tokens for part in parts), sum(part.answer_tokens for part in parts))

    def _of(self, source: Source) -> Sequence[Statement]:
        return self._by_memory.get(str(source.memory_id), ())

    @cached_property
    def _by_memory(self) -> Mapping[str, Sequence[Statement]]:
        by_memory: defaultdict[str, list[Statement]] = defaultdict(list)
        for statement in self.statements:
            by_memory[statement.doc_id].append(statement)
        return by_memory


def _fact(triple: Triple) -> Fact:
    confidence = 1.0 if triple.confidence is None else triple.confidence
    return Fact(triple.subject, triple.relation, triple.object, triple.valid_from, triple.valid_to, confidence)


def _joined(mentions: Iterable[Mention], facts: Iterable[Fact]) -> Extraction:
    """A memory's mentions and facts, each once however often it is given; a name with the first kind that it gets."""
    by_name: dict[str, Mention] = {}
    for mention in mentions:
        # Spellings that differ in case and marks alone are one mention of a memory.
        key = fold(mention.name) or mention.name
        if key not in by_name or not by_name[key].kind:
            by_name[key] = mention
    return found(by_name.values(), dict.fromkeys(facts))
