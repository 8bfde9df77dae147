"""Which notes the tagger is asked about, and what it makes doubtful of what the rules read in them."""

from __future__ import annotations

from dataclasses import replace

from hopgate.extract.extraction import DOUBTED, Extraction
from hopgate.extract.rules.fact_patterns import SINGLE_VALUED
from hopgate.extract.rules.reading import Reading
from hopgate.extract.rules.role_table import ROLE_RELATIONS
from hopgate.extract.rules.stated_parts import AMOUNT, WHEN
from hopgate.extract.rules.stated_values import LITERAL, MOST_CHARACTERS, MOST_TOKENS
from hopgate.extract.tagger.change_tagger import Tagged
from hopgate.extract.tagger.likely_words import may_tell_change
from hopgate.extract.tagger.tagged_values import value_of

# Measured on sets of notes by authors whom the model had not seen: docs/research/extraction.md.
_IS_NONE = 0.001
MAY_CHANGE = 0.98
"""A note that is likelier to tell of a change is read together with earlier ones."""
_LITERAL = LITERAL | {WHEN, AMOUNT}
_OF_PATTERNS = frozenset((*SINGLE_VALUED, *ROLE_RELATIONS))


def worth_tagging(text: str, reading: Reading, extraction: Extraction) -> bool:
    """Say whether a short note may tell of a change: by what the rules read in it, or by its words.

    Examples
    --------
    >>> from hopgate.extract.extraction import Source
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> texts = "Bought lemons", "Backups go to Wasabi from now on"
    >>> [worth_tagging(text, read(Source("m1", Cleared(text))), Extraction()) for text in texts]
    [False, True]
    """
    if len(reading.tokens) > MOST_TOKENS or len(text) > MOST_CHARACTERS:
        return False
    return _tells_change(extraction) or may_tell_change(text)


def _tells_change(extraction: Extraction) -> bool:
    dated = any(fact.valid_from or fact.valid_to for fact in extraction.facts)
    return dated or bool(extraction.tentative) or any(one.is_change for one in extraction.stated)


def with_doubts(extraction: Extraction, seen: Tagged, reading: Reading) -> Extraction:
    """What the rules read, where the tagger sees no change: of what it marks no word of they tell none either."""
    if seen.change >= _IS_NONE:
        return extraction
    marked = {
        word for span in seen.spans for text in (span.text, value_of(span.text, reading)[0]) for word in _words(text)
    }

    def is_unmarked(relation: str, value: str) -> bool:
        # Days and amounts it often leaves unmarked.
        return relation not in _LITERAL and marked.isdisjoint(_words(value))

    facts = tuple(
        replace(fact, confidence=min(fact.confidence, DOUBTED))
        if fact.relation in _OF_PATTERNS and is_unmarked(fact.relation, fact.object)
        else fact
        for fact in extraction.facts
    )
    stated = tuple(one for one in extraction.stated if not (one.is_change and is_unmarked(one.relation, one.value)))
    maybe = tuple(fact for fact in extraction.tentative if not is_unmarked(fact.relation, fact.object))
    return replace(extraction, facts=facts, stated=stated, tentative=maybe)


def _words(text: str) -> set[str]:
    return {word.removesuffix("'s").removesuffix("’s") for word in text.casefold().split()}
