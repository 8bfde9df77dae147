"""Which notes may tell of a change, so that they are worth reading together with earlier ones."""

from __future__ import annotations

import re
from enum import Enum

from hopgate.extract.extraction import Extraction, Source
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.reading import Reading
from hopgate.extract.rules.stated_values import MOST_CHARACTERS, MOST_TOKENS
from hopgate.extract.tagger.change_tagger import tagged
from hopgate.extract.tagger.likely_words import may_tell_change
from hopgate.extract.tagger.sentence_pairs import sentences_of
from hopgate.extract.tagger.words_of_ending import may_tell_end

# Measured on sets of notes by authors whom the model had not seen: docs/research/extraction.md.
_TELLS_CHANGE, _MAY_TELL = 0.75, 0.02
# "New meeting point for the clean-ups: the pier", by whomever.
_NEW = compiled(r"(?:\w+: )?(?:new|neue[rns]?|nouveau|nouvelle|nuev[oa]|nuov[oa]|nieuwe?)\b", re.IGNORECASE)


class Likelihood(Enum):
    """Whether a note tells of a change; one that may is read with fewer others, and must be surer of an end."""

    NO = 0
    MAYBE = 1
    YES = 2


def worth_reading(text: str, reading: Reading, extraction: Extraction) -> bool:
    """Say whether a short note may tell of a change: by what the rules read in it, or by its words.

    Examples
    --------
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> texts = "Bought lemons", "Backups go to Wasabi from now on"
    >>> [worth_reading(text, read(Source("m1", Cleared(text))), Extraction()) for text in texts]
    [False, True]
    """
    if len(reading.tokens) > MOST_TOKENS or len(text) > MOST_CHARACTERS:
        return False
    return _has_change(extraction) or bool(_NEW.match(text)) or may_tell_end(text) or may_tell_change(text)


def _has_change(extraction: Extraction) -> bool:
    dated = any(fact.valid_from or fact.valid_to for fact in extraction.facts)
    return dated or bool(extraction.tentative) or any(one.is_change for one in extraction.stated)


def tells_change(source: Source) -> Likelihood:
    """Say whether the model takes a note for one that tells of a change.

    Examples
    --------
    >>> from hopgate.memory import Cleared
    >>> texts = "Bought lemons", "Backups go to Wasabi from now on"
    >>> [tells_change(Source("m1", Cleared(text))).name for text in texts]
    ['NO', 'YES']
    """
    # What else a note says may hide it.
    seen = max(tagged(part).change for part in dict.fromkeys((source.text, *sentences_of(source.text))))
    if seen >= _TELLS_CHANGE or may_tell_end(source.text):
        return Likelihood.YES
    return Likelihood.MAYBE if seen >= _MAY_TELL else Likelihood.NO
