"""The names and facts of an extraction that become rows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from hopgate.extract.extraction import Extraction

# A name of more characters is a sentence that a model mistook for one; an index entry could not hold it.
MAX_NAME = 200


def names_used(extraction: Extraction) -> Iterator[tuple[str, str | None]]:
    """The names that an extraction uses, with their kinds: whoever states a fact mentions its ends."""
    for mention in extraction.mentions:
        yield mention.name, mention.kind or None
    for fact in extraction.facts:
        yield fact.subject, None
        yield fact.object, None


def is_name(name: str, normal: str) -> bool:
    """Whether a text can stand for a concept."""
    return bool(normal) and len(normal) <= MAX_NAME and len(name) <= 2 * MAX_NAME


def backwards(start: datetime | None, end: datetime | None) -> bool:
    """Whether an interval ends before it begins."""
    return start is not None and end is not None and end < start
