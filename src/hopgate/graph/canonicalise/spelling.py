"""Names that are the same but for the spelling of some tokens."""

from __future__ import annotations

from difflib import SequenceMatcher
from functools import lru_cache

# Two tokens spelt less alike than this (difflib's ratio) are different words.
MIN_TOKEN_RATIO = 0.8
# What a name's first letter counts for its full form: J. Smith, John Smith.
INITIAL_CREDIT = 0.85


def spelling(first: tuple[str, ...], second: tuple[str, ...]) -> float:
    """Say how far two names are the same but for the spelling of some tokens, or initials for them.

    A misspelt name of one token is weak evidence (Austria, Australia); beside tokens that agree it is strong.

    Examples
    --------
    >>> round(spelling(("barack", "obama"), ("barak", "obama")), 2)
    0.95
    >>> round(spelling(("j", "smith"), ("john", "smith")), 2), round(spelling(("austria",), ("australia",)), 2)
    (0.93, 0.37)
    """
    if len(first) != len(second):
        return 0.0
    # Names have a few tokens: looking through them is quicker than making sets of them.
    left = sorted([token for token in first if token not in second])
    right = sorted([token for token in second if token not in first])
    credits = []
    for pair in zip(left, right, strict=True):
        # Most pairs of names differ in their first token already.
        if not (credit := _token_credit(*pair)):
            return 0.0
        credits.append(credit)
    shared = len({token for token in first if token in second})
    if not shared:
        weakest = min(credits, default=1.0)
        return (
            (weakest - MIN_TOKEN_RATIO) / (1 - MIN_TOKEN_RATIO)
            if all(len(token) > 1 for token in left + right)
            else 0.0
        )
    return (shared + sum(credits)) / len(first)


@lru_cache(maxsize=1 << 16)
def _token_credit(left: str, right: str) -> float:
    if left[0] != right[0] or not (left.isalpha() and right.isalpha()):
        return 0.0
    if min(len(left), len(right)) == 1:
        return INITIAL_CREDIT
    if min(len(left), len(right)) < 4 or abs(len(left) - len(right)) > 2:
        return 0.0
    ratio = SequenceMatcher(None, left, right, autojunk=False).ratio()
    return ratio if ratio >= MIN_TOKEN_RATIO else 0.0
