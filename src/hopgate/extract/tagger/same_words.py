"""Whether texts of two notes have words in common, and where one stands in the other."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.words import TITLES
from hopgate.extract.tagger.tagged_spans import TaggedSpan

_NAME_WORD = compiled(r"[^\W_]+")


def share_a_word(one: str, other: str) -> bool:
    """Whether two names have a word in common, or words that begin alike: "Paperless" and "paperless-ngx"."""
    firsts = ({word[:4] for word in _NAME_WORD.findall(name.casefold()) if word not in TITLES} for name in (one, other))
    return not next(firsts).isdisjoint(next(firsts))


def has_words(text: str, former: str) -> bool:
    """Whether a text has all words of what was: "Schach-AG aufgehört" is nothing new."""
    return set(_NAME_WORD.findall(former.casefold())) <= set(_NAME_WORD.findall(text.casefold()))


def found_in(text: str, spans: Sequence[TaggedSpan]) -> list[TaggedSpan]:
    """What a later note says is over, where an earlier one has it by the same name among whatever else it says."""
    found = ((span, re.search(rf"(?<!\w){re.escape(span.text)}(?!\w)", text, re.IGNORECASE)) for span in spans)
    return [span._replace(text=match[0], start=match.start()) for span, match in found if match]
