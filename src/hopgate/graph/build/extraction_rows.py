"""The names and facts of an extraction that become rows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from hopgate.extract.extraction import Extraction
from hopgate.extract.rules.role_table import ROLE_RELATIONS

# A name of more characters is a sentence that a model mistook for one; an index entry could not hold it.
MAX_NAME = 200


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
