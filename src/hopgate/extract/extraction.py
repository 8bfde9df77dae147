"""What an extractor is: what it takes, what it gives back, and what its answers depend on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

from hopgate.memory import Cleared, Memory, cleared

OWNER = "I"
"""Who a note is about that says "I", where nothing names its owner."""

# What one memory may bring into a graph. A text with more names is a list, which says little of any of them, and all
# who write wait while they are resolved: 4,000 held the graph's lock for 46 s.
MAX_NAMES = MAX_FACTS = 200


class State(StrEnum):
    """How an extraction ended; nothing but `complete` and `empty` is done."""

    COMPLETE = "complete"
    EMPTY = "empty"
    TRUNCATED = "truncated"
    FAILED = "failed"

    @property
    def done(self) -> bool:
        """Whether asking again would be pointless."""
        return self in (State.COMPLETE, State.EMPTY)


@dataclass(frozen=True, slots=True)
class Source:
    """A memory as an extractor sees it: cleared text, tags and keywords, and the id to file the result under."""

    memory_id: str | int
    text: Cleared
    tags: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    # The memory's title, which is its text's first line; None where it is not known whether it has one.
    title: str | None = None
    created_at: datetime | None = None  # when it was written: "yesterday" is the day before
    owner: str = OWNER  # who says "I" in it
    before: tuple[Cleared, ...] = ()  # the turns of the same thread just before it: "she" may be somebody there
    # Words of this text, in lower case, that other memories show to be names, each with its kind or an empty text.
    known: tuple[tuple[str, str], ...] = ()

    @property
    def text_hash(self) -> str:
        """The hash of all that an extractor may read, which no other source has: by it extractions are cached."""
        day = self.created_at.date().isoformat() if self.created_at else ""
        read = [self.text, self.tags, self.keywords, self.title, day, self.owner, self.before, self.known]
        return hashlib.sha256(json.dumps(read, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Mention:
    """A name that a memory mentions, with its kind where the extractor knows it."""

    name: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """A typed, directed relation between two names, with an optional validity interval (ISO dates of any precision).

    Examples
    --------
    >>> Fact("immich", "runs on", "nas-2", valid_from="2024-03")
    Fact(subject='immich', relation='runs on', object='nas-2', valid_from='2024-03', valid_to=None, confidence=1.0)
    """

    subject: str
    relation: str
    object: str
    valid_from: str | None = None
    valid_to: str | None = None
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Extraction:
    """The mentions and facts of one memory, and how they came about."""

    mentions: tuple[Mention, ...] = ()
    facts: tuple[Fact, ...] = ()
    # `complete`, `empty`, `truncated` or `failed`; `reason` is why, where it is not `complete`.
    state: State = State.EMPTY
    reason: str = ""
    prompt_tokens: int = 0  # what a model read for it, retries included; 0 without a model
    answer_tokens: int = 0  # what it wrote
    # What was left out of the answer and how often, e.g. ``(("ungrounded", 3), ("repeated", 12))``.
    dropped: tuple[tuple[str, int], ...] = ()

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.prompt_tokens + self.answer_tokens

    def spent(self, prompt_tokens: int, answer_tokens: int) -> Extraction:
        """Return the same with these tokens added to its account."""
        return replace(
            self,
            prompt_tokens=self.prompt_tokens + prompt_tokens,
            answer_tokens=self.answer_tokens + answer_tokens,
        )

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Extraction:
        """Make the extraction whose `asdict` this is, also after a way through JSON."""
        parts = {
            "mentions": tuple(Mention(**mention) for mention in row["mentions"]),
            "facts": tuple(Fact(**fact) for fact in row["facts"]),
            "state": State(row["state"]),
            "dropped": tuple(map(tuple, row["dropped"])),
        }
        return cls(**{**row, **parts})


def found(
    mentions: Iterable[Mention], facts: Iterable[Fact], *, reason: str = "nothing was found in the text"
) -> Extraction:
    """Return `complete` with what was found, or `empty` with the reason."""
    kept, typed = tuple(mentions), tuple(facts)
    if kept or typed:
        return Extraction(kept, typed, State.COMPLETE)
    return Extraction(state=State.EMPTY, reason=reason)


def bounded(extraction: Extraction) -> Extraction:
    """Keep what one memory may bring into a graph: its first facts, and the first names beside theirs."""
    names: set[str] = set()

    def fits(*new: str) -> bool:
        if len(names.union(new)) <= MAX_NAMES:
            names.update(new)
            return True
        return False

    facts = tuple(fact for fact in extraction.facts[:MAX_FACTS] if fits(fact.subject, fact.object))
    mentions = tuple(mention for mention in extraction.mentions if fits(mention.name))
    left = len(extraction.facts) - len(facts) + len(extraction.mentions) - len(mentions)
    dropped = ((f"beyond the first {MAX_NAMES}", left),) if left else ()
    return replace(extraction, mentions=mentions, facts=facts, dropped=(*extraction.dropped, *dropped))


def failed(reason: str) -> Extraction:
    """Return an extraction that did not happen, and why."""
    return Extraction(state=State.FAILED, reason=reason)


def sources(memories: Iterable[Memory]) -> Iterator[Source]:
    """Turn memories into what extractors take; sensitive ones do not pass the guard."""
    for memory, text in cleared((memory, memory) for memory in memories):
        tags, keywords = memory.tags, memory.expanded_keywords
        yield Source(memory.external_id, text, tags, keywords, memory.title, memory.created_at, owner_of(memory))


def owner_of(memory: Memory) -> str:
    """Give who says "I" in a memory: its metadata's `owner`, else "I", told apart by scope as in "I (ada)"."""
    given = (memory.source or {}).get("owner")
    if isinstance(given, str) and given.strip():
        return given.strip()
    return f"{OWNER} ({memory.scope})" if memory.scope else OWNER


Parameter = str | int | float | bool | None


@dataclass(frozen=True)
class ExtractorIdentity:
    """What an extractor's answer depends on besides the text: the cache's key is made of it."""

    extractor: str  # the name on the command line: ``phrases``, ``llama``, ``openai``, ``replay``
    model: str = ""  # the model's name or its file's fingerprint; for rules, their version
    prompt: str = ""  # its text, empty where there is none
    grammar: str = ""  # the text of the JSON schema, empty where there is none
    parameters: dict[str, Parameter] = field(default_factory=dict)  # temperature, seed, lengths and the like
    # Whether answers depend on the memory's id rather than its text, as a replay's do: such answers are not cached.
    by_id: bool = False

    @cached_property
    def hash(self) -> str:
        """A stable fingerprint: the same on every machine and in every run."""
        canonical = json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@runtime_checkable
class Extractor(Protocol):
    """Turns sources into extractions: one for each, in order.

    `extract` never raises for a text it cannot handle: such a source gets a `failed` extraction with the reason. It
    raises HopgateError only where every source would fail alike (no model file, no server, a refused key).
    """

    @property
    def identity(self) -> ExtractorIdentity:
        """What the answers depend on besides the text."""
        ...

    def extract(self, sources: Sequence[Source]) -> list[Extraction]:
        """Return one extraction for each source, in order."""
        ...


@runtime_checkable
class ContextualExtractor(Extractor, Protocol):
    """An extractor that makes use of what other memories show (`Source.known`, `Source.before`), as the rules do."""

    @property
    def changes(self) -> bool:
        """Whether notes that it read are to be compared with earlier ones, by the trained model of changes."""
        ...
