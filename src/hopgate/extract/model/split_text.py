"""Split a text whose answer ran into the length limit, and extract from the parts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from hopgate.extract.extraction import Extraction, Source, State
from hopgate.extract.model.answer import merged
from hopgate.memory import Cleared

_END = re.compile(r"(?<=[.!?])\s+|\n+")
MAX_SPLITS = 2
"""A text is split in two at most twice, which gives four parts."""
MIN_CHARACTERS = 200
"""A shorter text is not split: its answer is long because the model repeats itself, and two halves would be too."""


def split_in_two(text: Cleared) -> tuple[Cleared, Cleared] | None:
    """Cut a text at the sentence end (else the space) nearest its middle; None where there is nowhere to cut.

    Examples
    --------
    >>> split_in_two(Cleared("Ada moved. Bob stayed."))
    ('Ada moved.', 'Bob stayed.')
    >>> split_in_two(Cleared("word")) is None
    True
    """
    middle = len(text) // 2
    begins = len(text) - len(text.lstrip())
    for pattern in (_END, re.compile(r"\s+")):
        cuts = [match for match in pattern.finditer(text.rstrip()) if match.start() > begins]
        if cuts:
            cut = min(cuts, key=lambda match: (abs(match.start() - middle), match.start()))
            return Cleared(text[: cut.start()]), Cleared(text[cut.end() :])
    return None


def extract_in_parts(source: Source, ask: Callable[[Source], Extraction], depth: int = MAX_SPLITS) -> Extraction:
    """Extract from a source; where the answer is truncated, extract from its two halves and merge the results.

    The tokens of the truncated attempt are counted too. What it found is kept where a half is truncated again.
    """
    whole = ask(source)
    helps = whole.state is State.TRUNCATED and depth and len(source.text) >= MIN_CHARACTERS
    parts = split_in_two(source.text) if helps else None
    if parts is None:
        return whole
    joined = merged(extract_in_parts(replace(source, text=part), ask, depth - 1) for part in parts)
    better = joined if joined.state.done else merged((joined, whole)).spent(-whole.prompt_tokens, -whole.answer_tokens)
    return better.spent(whole.prompt_tokens, whole.answer_tokens)
