"""Extractions as rows for `store.graph.extracted_rows`: every name once a memory, and facts whose ends are names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from hopgate.extract.extraction import Extraction
from hopgate.extract.rules.role_table import ROLE_RELATIONS
from hopgate.graph.names import initials, normalise
from hopgate.graph.temporal.joint_facts import statements_of
from hopgate.store.graph.extracted_rows import NULL, ExtractedRows, copy_lines, field
from hopgate.store.graph.stated_rows import NewStatement
from hopgate.times import moment

# A name of more characters is a sentence that a model mistook for one; an index entry could not hold it.
MAX_NAME = 200
Interval = tuple[datetime | None, datetime | None]


def rows_of_extractions(extractions: Iterable[tuple[int, Extraction, str]]) -> ExtractedRows:
    r"""Turn extractions, each with its memory's id and the digest of what was read of it, into rows.

    Mentions are numbered, and a fact's ends are such numbers: a name is written once a memory, and looked up once.

    Examples
    --------
    >>> from hopgate.extract.extraction import Fact, found
    >>> rows = rows_of_extractions([(7, found([], [Fact("The NAS", "runs on", "cedar")]), "")])
    >>> print(rows.mentions.decode().replace("\t", "|"), rows.facts.decode().replace("\t", "|"), sep="")
    7|0|nas|The NAS|\N|\N
    7|1|cedar|cedar|\N|\N
    7|0|0|runs on|1|1.0|\N|\N
    <BLANKLINE>
    """
    memories: list[str] = []
    mentions: list[str] = []
    facts: list[str] = []
    stated: list[NewStatement] = []
    for memory_id, extraction, digest in extractions:
        reason = field(extraction.reason or None)
        may_change = "t" if extraction.may_change else "f"
        memories.append(f"{memory_id}\t{extraction.state.value}\t{reason}\t{digest}\t{may_change}\n")
        names: dict[str, tuple[str, str | None]] = {}
        given: dict[str, str] = {}
        # A name that came before without a kind brings nothing, and most of them come with every fact.
        for name, kind in dict.fromkeys(names_used(extraction)):
            given[name] = normal = normalise(name)
            if is_name(name, normal):
                spelling, first = names.get(normal, (name, None))
                names[normal] = (spelling, first or kind)
        places = {normal: place for place, normal in enumerate(names, start=len(mentions))}
        for normal, (spelling, kind) in names.items():
            mentions.append(f"{memory_id}\t{places[normal]}\t{_mention(normal, spelling, kind)}\n")
        # What a fact calls its ends may be no name.
        ends = {name: places[normal] for name, normal in given.items() if normal in places}
        facts += _facts(memory_id, extraction, ends, places)
        stated += statements_of(memory_id, extraction.stated)
    said, named, told = ("".join(lines).encode("utf-8", "surrogatepass") for lines in (memories, mentions, facts))
    return ExtractedRows(said, named, told, stated=copy_lines(stated))


@lru_cache(maxsize=16384)
def _mention(normal: str, spelling: str, kind: str | None) -> str:
    """What a line of `extracted_mentions` says of a name."""
    return f"{field(normal)}\t{field(spelling)}\t{field(kind)}\t{field(initials(normal) or None)}"


def _facts(memory_id: int, extraction: Extraction, ends: Mapping[str, int], places: Mapping[str, int]) -> Iterator[str]:
    """A memory's facts as lines; each once, by what `facts` is unique by."""
    known: set[tuple[int, int, tuple[str, Interval]]] = set()
    for place, fact in enumerate((*extraction.facts, *extraction.tentative)):
        subject, object_ = ends.get(fact.subject), ends.get(fact.object)
        if subject is None or object_ is None:  # what is merely named beside another is a mention by another spelling
            subject, object_ = places.get(normalise(fact.subject)), places.get(normalise(fact.object))
        said = _said(fact.relation, fact.confidence, fact.valid_from, fact.valid_to)
        if subject is None or object_ is None or said is None:
            continue
        key = (subject, object_, said.once)
        if key not in known:
            known.add(key)
            yield f"{memory_id}\t{place}\t{subject}\t{said.relation}\t{object_}\t{said.rest}\n"


class _Said(NamedTuple):
    """What a fact says of its two ends: what tells it from others, and the fields of its line."""

    once: tuple[str, Interval]
    relation: str
    rest: str


@lru_cache(maxsize=8192)  # of the facts of one memory most begin on the same day
def _said(relation: str, confidence: float, valid_from: str | None, valid_to: str | None) -> _Said | None:
    """What a fact says; nothing where its relation is empty, or it ends before it begins."""
    start, end = moment(valid_from), moment(valid_to)
    if backwards(start, end) or not relation.strip():
        return None
    kept = relation[:MAX_NAME]
    return _Said((kept, (start, end)), field(kept), f"{confidence}\t{start or NULL}\t{end or NULL}")


def names_used(extraction: Extraction) -> Iterator[tuple[str, str | None]]:
    """The names that an extraction uses, with their kinds: whoever states a fact mentions its ends.

    So does a sentence that tells of a change; what is merely named beside something is a mention already, or nothing.
    """
    for mention in extraction.mentions:
        yield mention.name, mention.kind or None
    for fact in (*extraction.facts, *(one for one in extraction.tentative if one.confidence >= 0)):
        yield fact.subject, None
        yield fact.object, None
    for fact in extraction.tentative:
        if fact.confidence < 0 and fact.relation in ROLE_RELATIONS:
            yield fact.subject, None  # what somebody is to me: a note of mine need not name me


def is_name(name: str, normal: str) -> bool:
    """Whether a text can stand for a concept."""
    return bool(normal) and len(normal) <= MAX_NAME and len(name) <= 2 * MAX_NAME


def backwards(start: datetime | None, end: datetime | None) -> bool:
    """Whether an interval ends before it begins."""
    return start is not None and end is not None and end < start
