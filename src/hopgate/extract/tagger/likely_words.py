"""Which notes may state something of a thing, or tell of a change, by their words alone: so that few are tagged.

Two linear models of words and pairs of words, trained on the same notes as the tagger (`tools/tagger`).
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import NamedTuple

_WORD = re.compile(r"[^\W\d_]+|->|→|=>")
# Of sets that they were not trained on, 96 in a hundred changes are above and 12 other notes; 91 statements and 12
# other notes.
_LEAST = {"change": -1.0, "statement": 0.0}


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
    return _is_likely(text, "change")


def may_state(text: str) -> bool:
    """Say whether a note may state something of a thing, or tell of a change.

    Examples
    --------
    >>> may_state("The spare key is at Bea's"), may_state("Bought two lemons.")
    (True, False)
    """
    return _is_likely(text, "statement")


def _is_likely(text: str, what: str) -> bool:
    base, by_words = _weights()[what]
    words = _WORD.findall(text.lower())
    seen = {*words, *map(" ".join, pairwise(words))}
    return base + sum(by_words.get(word, 0.0) for word in seen) > _LEAST[what]


@cache
def _weights() -> dict[str, _Weights]:
    stored = resources.files("hopgate.extract.tagger").joinpath("weights", "likely_words.json").read_text("utf-8")
    return {what: _Weights(**weights) for what, weights in json.loads(stored).items()}
