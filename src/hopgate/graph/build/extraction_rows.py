"""Extractions as rows for `store.graph.extracted_rows`: every name once a memory, and facts whose ends are names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from hopgate.extract.extraction import Extraction
from hopgate.extract.rules.role_table import ROLE_RELATIONS
from hopgate.graph.names.normal import initials, normalise
from hopgate.store.graph.extracted_rows import ExtractedRows, copy_lines
from hopgate.times import moment

# A name of more characters is a sentence that a model mistook for one; an index entry could not hold it.
MAX_NAME = 200


def rows_of_extractions(extractions: Iterable[tuple[int, Extraction, str]]) -> ExtractedRows:
    r"""Turn extractions, each with its memory's id and the digest of what was read of it, into rows.

    Examples
    --------
    >>> from hopgate.extract.extraction import Fact, found
    >>> rows = rows_of_extractions([(7, found([], [Fact("The NAS", "runs on", "cedar")]), "")])
    >>> print(rows.mentions.decode().replace("\t", "|"), rows.facts.decode().replace("\t", "|"), sep="")
    7|0|nas|The NAS|\N|\N
    7|1|cedar|cedar|\N|\N
    7|0|nas|runs on|cedar|1.0|\N|\N
    <BLANKLINE>
    """
    memories: list[tuple[int, str, str | None, str]] = []
    mentions: list[tuple[int, int, str, str, str | None, str | None]] = []
    facts: list[tuple[int, int, str, str, str, float, datetime | None, datetime | None]] = []
    for memory_id, extraction, digest in extractions:
        memories.append((memory_id, extraction.state.value, extraction.reason or None, digest))
        names: dict[str, tuple[str, str | None]] = {}
        for name, kind in names_used(extraction):
            normal = normalise(name)
            if is_name(name, normal):
                spelling, first = names.get(normal, (name, None))
                names[normal] = (spelling, first or kind)
        for place, (normal, (spelling, kind)) in enumerate(names.items()):
            mentions.append((memory_id, place, normal, spelling, kind, initials(normal) or None))
        for place, fact in enumerate((*extraction.facts, *extraction.tentative)):
            subject, object_ = normalise(fact.subject), normalise(fact.object)
            start, end = moment(fact.valid_from), moment(fact.valid_to)
            if subject in names and object_ in names and fact.relation.strip() and not backwards(start, end):
                relation = fact.relation[:MAX_NAME]
                facts.append((memory_id, place, subject, relation, object_, fact.confidence, start, end))
    return ExtractedRows(copy_lines(memories), copy_lines(mentions), copy_lines(facts))


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
