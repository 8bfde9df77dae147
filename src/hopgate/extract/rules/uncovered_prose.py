"""What encyclopaedic prose tells that notes have no pattern for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from hopgate.extract.extraction import Fact
from hopgate.extract.rules.fact_patterns import FACTS
from hopgate.extract.rules.reading import Reading
from hopgate.extract.rules.sentence_facts import PRONOUNS, facts
from hopgate.extract.rules.words import words

# Of whom patterns for notes tell.
_ROLES = words(
    """
    sister brother boyfriend girlfriend fiancé fiancée partner landlord dentist boss manager head son daughter wife
    husband employer lead
    """
)
_COVERED = FACTS.relations | {"works for", "owns", "manages", "child of", "moved from", "moved to", "also known as"}


def uncovered(reading: Reading) -> Iterator[Fact]:
    """Yield the relations of encyclopaedic prose that notes have no pattern for, between names alone.

    Examples
    --------
    >>> from hopgate.extract.extraction import Source
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> [fact.relation for fact in uncovered(read(Source("m1", Cleared("Immich depends on Redis."))))]
    ['depends on']
    """
    spans = [span for span in reading.spans if span.form not in ("amount", "han")]
    if len(spans) > 1 or (spans and not PRONOUNS.isdisjoint(reading.tokens)):
        for fact in facts(reading.tokens, reading.marks, spans, reading.topic, _COVERED):
            if _is_uncovered(fact.relation):
                yield fact


@lru_cache(maxsize=4096)
def _is_uncovered(relation: str) -> bool:
    return relation.removeprefix("formerly ") not in _COVERED and _ROLES.isdisjoint(relation.split())
