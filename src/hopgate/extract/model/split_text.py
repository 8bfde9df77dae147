"""Asking a model with less text when its answer ran into the length limit."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from hopgate.extract.extraction import Extraction, Source, State
from hopgate.extract.model.answer import merged
from hopgate.memory import Cleared

_END = re.compile(r"(?<=[.!?])\s+|\n+")
MAX_SPLITS = 2
"""A text is halved at most twice: into four parts."""
MIN_CHARACTERS = 200
"""Characters below which a text is not what made the answer long: the model rambles, and halves would not help."""


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
    for pattern in (_END, re.compile(r"\s+")):
        cuts = [match for match in pattern.finditer(text.rstrip()) if text[: match.start()].strip()]
        if cuts:
            cut = min(cuts, key=lambda match: (abs(match.start() - middle), match.start()))
            return Cleared(text[: cut.start()]), Cleared(text[cut.end() :])
    return None


def extract_in_parts(source: Source, ask: Callable[[Source], Extraction], depth: int = MAX_SPLITS) -> Extraction:
    """Ask about a source; when the answer is truncated, ask about its halves and join what they say.

    The tokens of the truncated attempt stay on the account. What it found stays too, where the halves do no better.
    """
    whole = ask(source)
    helps = whole.state is State.TRUNCATED and depth and len(source.text) >= MIN_CHARACTERS
    parts = split_in_two(source.text) if helps else None
    if parts is None:
        return whole
    joined = merged(extract_in_parts(replace(source, text=part), ask, depth - 1) for part in parts)
    better = joined if joined.state.done else merged((joined, whole)).spent(-whole.prompt_tokens, -whole.answer_tokens)
    return better.spent(whole.prompt_tokens, whole.answer_tokens)
