"""How far a short name can stand for a longer one that holds all its tokens, by the longer one's grammar."""

from __future__ import annotations

import re
from functools import lru_cache

from hopgate.graph.names.normal import normalise, tokens

# A short name may be this much shorter than its expansion (Wallace, Alfred Russel Wallace) before it loses. This and
# the factors below were chosen by eye on the names of two extracted graphs; the labelled sets move by less than 0.01.
COVERING = 2.5
# What is left when the short name is written small and the long one is not (research center, Pew Research Center),
COMMON_NOUN = 0.5
# when it is not what the long name is about but what that is of, in or with (Melbourne, nurse in Melbourne),
COMPLEMENT = 0.45
# and when it is one of several that the long name lists (Alonzo Smith, Alonzo Smith and Anna).
LISTED = 0.45

_AFTER_HEAD = re.compile(
    r"[,(:]|(?<=\s)(?:of|in|on|at|for|to|by|from|with|about|across|between|during|into|near|under|over)(?=\s)",
    re.IGNORECASE,
)
_AND = re.compile(r"\s(?:and|&)\s", re.IGNORECASE)


def standing(short: str, long: str) -> float:
    """Say in 0..1 how far `short`, as written, can stand for `long`, as written.

    Examples
    --------
    >>> [standing(short, long) for short, long in [
    ...     ("Monroe", "Marilyn Monroe"), ("research center", "Pew Research Center"),
    ...     ("Melbourne", "nurse in Melbourne"), ("Anna", "Alonzo Smith and Anna")]]
    [1.0, 0.5, 0.45, 0.375]
    """
    held, whole = set(tokens(normalise(short))), set(tokens(normalise(long)))
    found = min(1.0, COVERING * len(held) / len(whole))
    if short.islower() and not long.islower():
        found *= COMMON_NOUN
    if not held & _head(long):
        found *= COMPLEMENT
    parts = _listed(long)
    if len(parts) > 1 and sum(bool(held & part) for part in parts) < len(parts):
        found *= LISTED
    return found


@lru_cache(maxsize=1 << 16)
def _head(name: str) -> frozenset[str]:
    return frozenset(tokens(normalise(_AFTER_HEAD.split(name, maxsplit=1)[0] or name)))


@lru_cache(maxsize=1 << 16)
def _listed(name: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(tokens(normalise(part))) for part in _AND.split(name) if part.strip())
