"""Which notes may tell of a change, by their words alone: so that few are tagged.

A linear model of words and pairs of words, trained on the same notes as the tagger (`tools/tagger`).
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import NamedTuple

from hopgate.extract.rules.kept_patterns import compiled

_WORD = compiled(r"[^\W\d_]+|->|→|=>")
# Of sets that it was not trained on, 96 in a hundred changes are above, and 12 other notes.
_LEAST = -1.0


class _Weights(NamedTuple):
    base: float
    by_words: dict[str, float]


def may_tell_change(text: str) -> bool:
    """Say whether a note may tell of a change.

    Examples
    --------
    >>> may_tell_change("Backups go to Wasabi from now on"), may_tell_change("Bought two lemons.")
    (True, False)
    """
    base, by_words = _weights()
    words = _WORD.findall(text.lower())
    seen = {*words, *map(" ".join, pairwise(words))}
    return base + sum(by_words.get(word, 0.0) for word in seen) > _LEAST


@cache
def _weights() -> _Weights:
    stored = resources.files("hopgate.extract.tagger").joinpath("weights", "likely_words.json").read_text("utf-8")
    return _Weights(**json.loads(stored))
