"""What others found: `triples.jsonl` and `statements.jsonl`, their readers, and the extractors that serve from them."""

import io
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, NoReturn

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Extraction, Extractor, ExtractorIdentity, Fact, Mention, Source, found
from hopgate.extract.model.answer import MAX_STATEMENT, fold
from hopgate.extract.rules.dates import iso
from hopgate.jsonl import field as text_of
from hopgate.jsonl import json_lines, parse_json_lines, refuse
from hopgate.memory import Cleared

_FACT = ("subject", "relation", "object")
_OPTIONAL_TEXTS = ("subject", "type", "subject_type", "object_type", "valid_from", "valid_to")


@dataclass(frozen=True, slots=True)
class Triple:
    """A typed fact and the external id of the memory that is its evidence; a mention has a subject alone.

    Its interval is in ISO form, as precise as it was given. Its confidence is None where it was not given.
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
    """A sentence about a memory, which names what it is about and can be understood without the memory.

    Its interval is in ISO form, as precise as it was given; its subject is empty where it is not given.
    """

    doc_id: str
    statement: str
    subject: str = ""
    valid_from: str | None = None
    valid_to: str | None = None
    confidence: float = 1.0


def read_triples(path: Path | str, known: Collection[str] | None = None) -> tuple[Triple, ...]:
    """Read a file of facts and mentions; the first line that is none is refused with file, line and reason.

    So is one about another memory than those that are known, where these are given.
    """
    return tuple(map(_triple, _rows(json_lines(path), path, known)))


def read_statements(path: Path | str, known: Collection[str] | None = None) -> tuple[Statement, ...]:
    """Read a file of statements; what is none is refused as `read_triples` does."""
    return tuple(map(_statement, _rows(json_lines(path), path, known)))


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of a file, and what is refused of it."""

    path: Path | str
    line: int
    values: dict[str, Any]

    def refuse(self, reason: str) -> NoReturn:
        refuse(self.path, self.line, reason)

    def name(self, name: str) -> str:
        return " ".join(text_of(self.values, name, self.path, self.line).split())

    @property
    def doc_id(self) -> str:
        return text_of(self.values, "doc_id", self.path, self.line)

    def confidence(self) -> float | None:
        value = self.values.get("confidence")
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            self.refuse(f"confidence must be a number between 0 and 1, not {value!r}")
        return float(value)

    def interval(self) -> tuple[str | None, str | None]:
        """The two dates in ISO form, as precise as they were given."""
        dates: list[str | None] = []
        for name in ("valid_from", "valid_to"):
            value: str | None = self.values.get(name) or None
            # The first ten characters are the day of a date with a time.
            dates.append(value and (iso(value) or iso(value[:10])))
            if value and not dates[-1]:
                self.refuse(f"{name} must be an ISO date, not {value[:40]!r}")
        begin, end = dates
        if begin and end and begin > end:
            self.refuse(f"valid_to {end} is before valid_from {begin}")
        return begin, end


def _rows(
    lines: Iterable[tuple[int, dict[str, Any]]], path: Path | str, known: Collection[str] | None
) -> Iterator[_Row]:
    """The lines of a file about memories that there are; optional texts of wrong types are refused."""
    for line, values in lines:
        row = _Row(path, line, values)
        if known is not None and row.doc_id not in known:
            row.refuse(f"doc_id {row.doc_id[:80]!r} is not in the corpus: this file is about other memories")
        for name in _OPTIONAL_TEXTS:
            if not isinstance(values.get(name), str | None):
                row.refuse(f"{name} must be a text")
        if any("\0" in value for value in values.values() if isinstance(value, str)):
            row.refuse("it holds a NUL character")
        yield row


def _triple(row: _Row) -> Triple:
    values = row.values
    if "entity" in values:
        if any(name in values for name in _FACT):
            row.refuse("both a fact (subject, relation, object) and a mention (entity): write two lines")
        return Triple(row.doc_id, row.name("entity"), subject_type=values.get("type") or "")
    if not all(name in values for name in _FACT):
        row.refuse("neither a fact (subject, relation, object) nor a mention (entity)")
    kinds = (values.get("subject_type") or "", values.get("object_type") or "")
    subject, relation, target = map(row.name, _FACT)
    return Triple(row.doc_id, subject, relation, target, *kinds, *row.interval(), row.confidence())


def _statement(row: _Row) -> Statement:
    sentence, confidence = row.name("statement"), row.confidence()
    if len(sentence) > MAX_STATEMENT:
        row.refuse(f"a statement has at most {MAX_STATEMENT:,} characters, not {len(sentence):,}")
    subject = " ".join((row.values.get("subject") or "").split())
    return Statement(row.doc_id, sentence, subject, *row.interval(), 1.0 if confidence is None else confidence)


@dataclass(frozen=True)
class Replay:
    """Give each memory the mentions and facts that a file has for its id.

    The file is read and checked whole before the first memory is served.

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

    path: str  # the `triples.jsonl`
    # The ids that exist, sensitive memories included; a row about another id is refused.
    known: Collection[str] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def identity(self) -> ExtractorIdentity:
        """The file's content: another file is another extractor."""
        return ExtractorIdentity("replay", sha256(self._bytes).hexdigest()[:32], by_id=True)

    def extract(self, sources: Sequence[Source]) -> list[Extraction]:
        """Return one extraction for each source, in order."""
        nothing = found((), (), reason="the file has no row for this memory")
        return [self._extractions.get(str(source.memory_id), nothing) for source in sources]

    @cached_property
    def _bytes(self) -> bytes:
        try:
            return Path(self.path).read_bytes()
        except OSError as error:
            raise HopgateError(f"{self.path} cannot be read ({error.strerror}): give a triples.jsonl") from error

    @cached_property
    def _extractions(self) -> dict[str, Extraction]:
        mentions: defaultdict[str, list[Mention]] = defaultdict(list)
        facts: defaultdict[str, list[Fact]] = defaultdict(list)
        stream: IO[bytes] = io.BytesIO(self._bytes)
        for one in map(_triple, _rows(parse_json_lines(stream, self.path), self.path, self.known)):
            mentions[one.doc_id].append(Mention(one.subject, one.subject_type))
            if one.is_fact:
                mentions[one.doc_id].append(Mention(one.object, one.object_type))
                confidence = 1.0 if one.confidence is None else one.confidence
                fact = Fact(one.subject, one.relation, one.object, one.valid_from, one.valid_to, confidence)
                facts[one.doc_id].append(fact)
        return {doc_id: _joined(of_memory, facts[doc_id]) for doc_id, of_memory in mentions.items()}


@dataclass(frozen=True)
class WithStatements:
    """An extractor that reads, beside each memory, what was stated about it: their names and facts are the memory's."""

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
        """Return one extraction for each source, in order: of its text with its statements below it."""
        stated = [self._of.get(str(source.memory_id), []) for source in sources]
        texts = [
            # A statement's memory passed the guard.
            replace(source, text=Cleared("\n".join((source.text, *(row.statement for row in about)))))
            for source, about in zip(sources, stated, strict=True)
        ]
        extractions = self.extractor.extract(texts)
        return [_with_subjects(made, about) for made, about in zip(extractions, stated, strict=True)]

    @cached_property
    def _of(self) -> dict[str, list[Statement]]:
        """The statements about each memory."""
        by_memory: defaultdict[str, list[Statement]] = defaultdict(list)
        for statement in self.statements:
            by_memory[statement.doc_id].append(statement)
        return dict(by_memory)


def _with_subjects(extraction: Extraction, about: Sequence[Statement]) -> Extraction:
    """An extraction with the subjects of statements, which a replay does not read; a failed one stays as it is."""
    if not extraction.state.done or not about:
        return extraction
    subjects = (Mention(row.subject) for row in about if row.subject)
    joined = _joined((*extraction.mentions, *subjects), extraction.facts)
    return joined.spent(extraction.prompt_tokens, extraction.answer_tokens)


def _joined(mentions: Iterable[Mention], facts: Iterable[Fact]) -> Extraction:
    """A memory's mentions and facts, each once however often it is given; a name with the first kind that it gets."""
    by_name: dict[str, Mention] = {}
    for mention in mentions:
        # Spellings that differ in case and marks alone are one mention of a memory.
        key = fold(mention.name) or mention.name
        if key not in by_name or not by_name[key].kind:
            by_name[key] = mention
    return found(by_name.values(), dict.fromkeys(facts))
