"""The words that tell a cluster from the others: frequent in it, rare elsewhere (class-based TF-IDF)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from functools import cache
from typing import TypeVar

Group = TypeVar("Group", bound=Hashable)

_WORD = re.compile(r"[^\W\d_][\w'’-]{1,28}\w")


def telling_words(texts: Mapping[Group, Iterable[str]], *, most: int = 5) -> dict[Group, tuple[str, ...]]:
    """Give each group the words that are more frequent in its texts than in the others', the most telling first.

    A word counts once a text, and a group's by its share of them, times ``log(1 + mean / everywhere)`` (Grootendorst,
    2022). Small words of every language that hopgate reads are left out.

    Examples
    --------
    >>> telling_words({1: ["the backup", "backup of a disk"], 2: ["the garden", "a disk in the garden"]}, most=1)
    {1: ('backup',), 2: ('garden',)}
    """
    counts = {group: Counter(word for text in own for word in set(words(text))) for group, own in texts.items()}
    everywhere: Counter[str] = Counter()
    for own in counts.values():
        everywhere.update(own)
    mean = sum(everywhere.values()) / max(len(counts), 1)
    found = {}
    for group, own in counts.items():
        total = max(sum(own.values()), 1)
        score = {word: count / total * math.log(1 + mean / everywhere[word]) for word, count in own.items()}
        found[group] = tuple(sorted(score, key=lambda word: (-score[word], word))[:most])
    return found


def words(text: str) -> list[str]:
    """Split a text into words in lower case, without the small ones."""
    return [word for word in _WORD.findall(text.lower()) if word not in _small_words()]


@cache
def _small_words() -> frozenset[str]:
    from hopgate.extract.rules.language_tables import LANGUAGES

    return frozenset(
        word
        for language in LANGUAGES.values()
        for word in (*language.function, *language.of_dates, *language.days, *language.openers)
    )
