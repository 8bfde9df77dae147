"""`statements.jsonl`: what a model or a person wrote about a memory in one self-contained sentence. Its one reader."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from hopgate.extract.extraction import Extraction, Mention, Source, found
from hopgate.extract.extractor import Extractor, ExtractorIdentity
from hopgate.extract.triples import read_confidence, read_date
from hopgate.jsonl import field as text_field
from hopgate.jsonl import json_lines, refuse
from hopgate.memory import Cleared

# A statement is a sentence; what is longer is a memory of its own.
MAX_STATEMENT = 2000


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
    return tuple(_statements(path, known))


def _statements(path: Path | str, known: Collection[str] | None) -> Iterator[Statement]:
    for line, row in json_lines(path):
        doc_id = text_field(row, "doc_id", path, line)
        if known is not None and doc_id not in known:
            refuse(
                path, line, f"doc_id {doc_id[:80]!r} is not in the corpus: these statements are about other memories"
            )
        sentence = " ".join(text_field(row, "statement", path, line).split())
        if len(sentence) > MAX_STATEMENT:
            refuse(path, line, f"a statement has at most {MAX_STATEMENT:,} characters, not {len(sentence):,}")
        subject = row.get("subject")
        if not isinstance(subject, str | None):
            refuse(path, line, "subject must be a text")
        if "\0" in sentence or "\0" in (subject or ""):
            refuse(path, line, "it holds a NUL character")
        begin, end = (read_date(row, name, path, line) for name in ("valid_from", "valid_to"))
        if begin and end and begin > end:
            refuse(path, line, f"valid_to {end} is before valid_from {begin}")
        confidence = read_confidence(row, path, line)
        yield Statement(
            doc_id, sentence, " ".join((subject or "").split()), begin, end, 1.0 if confidence is None else confidence
        )


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
        stated = [(source, statement) for source in sources for statement in self._of(source)]
        own = self.extractor.extract(sources)
        # A replay answers by id and has answered already. The others read the sentence, whose memory passed the guard.
        more: list[Extraction] = []
        if stated and not self.extractor.identity.by_id:
            more = self.extractor.extract(
                [
                    replace(source, text=Cleared(one.statement), tags=(), keywords=(), title=None)
                    for source, one in stated
                ]
            )
        extra: defaultdict[str, list[Extraction]] = defaultdict(list)
        for (source, _), extraction in zip(stated, more, strict=False):
            extra[str(source.memory_id)].append(extraction)
        return [
            _joined(extraction, [one.subject for one in self._of(source)], extra[str(source.memory_id)])
            for source, extraction in zip(sources, own, strict=True)
        ]

    def _of(self, source: Source) -> Sequence[Statement]:
        return self._by_memory.get(str(source.memory_id), ())

    @cached_property
    def _by_memory(self) -> Mapping[str, Sequence[Statement]]:
        found: defaultdict[str, list[Statement]] = defaultdict(list)
        for statement in self.statements:
            found[statement.doc_id].append(statement)
        return found


def _joined(own: Extraction, subjects: Sequence[str], stated: Sequence[Extraction]) -> Extraction:
    """A memory's extraction with what its statements add; one that did not succeed stays as it is."""
    if not own.state.done:
        return own
    parts = [own, *stated]
    mentions = [mention for part in parts for mention in part.mentions] + [Mention(name) for name in subjects if name]
    # A name or a fact counts once however often it is said, with the first kind that is given.
    named: dict[str, Mention] = {}
    for mention in mentions:
        named.setdefault(mention.name, mention)
    joined = found(named.values(), dict.fromkeys(fact for part in parts for fact in part.facts))
    return joined.spent(sum(part.prompt_tokens for part in parts), sum(part.answer_tokens for part in parts))
