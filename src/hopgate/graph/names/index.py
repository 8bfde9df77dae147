"""Find the names of concepts in a text: longest match, left to right, no model."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from hopgate.extract.rules.words import DETERMINERS, STOP_WORDS
from hopgate.graph.names.normal import normalise

# Names of things have at most so many words; what is longer is a phrase that an extractor took for a name.
LONGEST = 8

_PLAIN = re.compile(r"(?<!\S)[A-Za-z]{4,}(?!\S)")
# Extractors give such words as the ends of facts ("it", "he"); in another text they name nothing.
_EMPTY = STOP_WORDS | DETERMINERS | {"the", "first", "second", "one", "two"}


class NameMatch(NamedTuple):
    """A concept's name found in a text: which concept, at which token, how many tokens long."""

    concept: int
    start: int
    length: int


@dataclass(frozen=True, eq=False, repr=False)
class NameIndex:
    """The names and aliases of concepts, ready to be found in texts.

    Build it with `name_index`.

    Examples
    --------
    >>> index = name_index([("New York", 0), ("York", 1), ("the Yankees", 2)])
    >>> index
    NameIndex(names=3)
    >>> [match.concept for match in index.find("Who plays for the Yankees in New York?")]
    [2, 0]
    >>> index.exact("NEW YORK"), index.exact("Boston")
    (0, None)
    """

    names: dict[tuple[str, ...], int]
    longest: dict[str, int]

    def __repr__(self) -> str:
        return f"NameIndex(names={len(self.names)})"

    def exact(self, text: str) -> int | None:
        """Give the concept whose name the whole text is."""
        # Each plain word is one of a name, unless it is an article: a sentence need not be normalised to be none.
        return self.names.get(tuple(words(text))) if len(_PLAIN.findall(text)) <= LONGEST else None

    def find(self, text: str, *, within: bool = False) -> list[NameMatch]:
        """Find names from left to right, the longest first, never two over the same word.

        Parameters
        ----------
        within : bool
            Leave out the name that is the whole text: what remains are the names inside a name.
        """
        tokens = words(text)
        found: list[NameMatch] = []
        at = 0
        while at < len(tokens):
            longest = min(self.longest.get(tokens[at], 0), len(tokens) - at)
            for length in range(longest, 0, -1):
                concept = self.names.get(tuple(tokens[at : at + length]))
                if concept is not None and not (within and length == len(tokens)):
                    found.append(NameMatch(concept, at, length))
                    at += length
                    break
            else:
                at += 1
        return found


def name_index(names: Iterable[tuple[str, int]]) -> NameIndex:
    """Index names, each with its concept; where two concepts share a name the smaller number has it.

    Names of more than eight words are left out, and names that are no more than pronouns, articles or single letters.

    Examples
    --------
    >>> name_index([("it", 0), ("Rust", 1), ("rust", 2)]).names
    {('rust',): 1}
    """
    index: dict[tuple[str, ...], int] = {}
    longest: dict[str, int] = {}
    for name, concept in names:
        key = tuple(words(name))
        if not 0 < len(key) <= LONGEST or all(word in _EMPTY or len(word) < 2 for word in key):
            continue
        index[key] = min(concept, index.get(key, concept))
        longest[key[0]] = max(len(key), longest.get(key[0], 0))
    return NameIndex(index, longest)


def words(text: str) -> list[str]:
    """Split a text the way names are compared.

    Examples
    --------
    >>> words("The Café's owner")
    ['cafe', 'owner']
    """
    # Without the cache of `normalise`: it is meant for names, and whole memories and queries would push them out.
    return normalise.__wrapped__(text).split()
