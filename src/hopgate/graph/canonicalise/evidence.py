"""The evidence that two names are one concept, for many pairs: a column for each kind of evidence, in 0..1."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.canonicalise.blocks import FloatArray, IntArray, Units, pair_codes
from hopgate.graph.names import normalise, tokens

KINDS = ("same name", "shared tokens", "expansion", "spelling", "initials", "embedding", "context", "same expansion")


def evidence(
    units: Units, i: IntArray, j: IntArray, near: FloatArray, fit: Callable[[FloatArray], FloatArray]
) -> tuple[FloatArray, dict[int, int]]:
    """Measure each kind of evidence for the pairs, which are in order, and find each short name's strongest expansion.

    `near` is the pairs' closeness by embedding in 0..1, NaN where a vector is missing, and `fit` says how well that
    suits an expansion. A pair that is no expansion has NaN in that column; a rival of the strongest expansion has 0.
    Pairs of a short name and its expansion, and of an acronym and what it stands for, must be among the pairs.
    """
    named = [(a, b) for longer in (units.expansions, units.acronyms) for a, others in longer.items() for b in others]
    codes = pair_codes(named)
    rows = dict(zip(named, np.searchsorted(i << 32 | j, codes).tolist(), strict=True))
    sets = [frozenset(own) for own in units.tokens]
    fits = fit(near).tolist()
    short_forms = {
        (short, long): short_form_score(units.spellings[short], units.spellings[long])
        for short, others in units.expansions.items()
        for long in others
    }

    columns = np.zeros((len(i), len(KINDS)), dtype=np.float32)
    joined = numbered(name.replace(" ", "") for name in units.names)
    columns[:, 0] = joined[i] == joined[j]
    columns[:, 1] = weighted_overlap(sets, i, j)
    columns[:, 2] = np.nan
    expansion, strongest = expansion_shares(
        units.expansions, sets, units.counts, lambda short, long: fits[rows[short, long]] * short_forms[short, long]
    )
    for pair, share in expansion.items():
        columns[rows[pair], 2] = share * short_forms[pair]
    # Tokens that begin with other letters are other words: few pairs are left to be compared letter by letter.
    letters = numbered("".join(sorted([token[0] for token in own])) for own in units.tokens)
    for row in np.flatnonzero((letters[i] == letters[j]) & (columns[:, 1] < 1)).tolist():
        columns[row, 3] = spelling(units.tokens[i[row]], units.tokens[j[row]])
    initial, _ = expansion_shares(units.acronyms, sets, units.counts, lambda short, long: fits[rows[short, long]])
    for (short, long), share in initial.items():
        # Two letters in lower case are the initials of many names.
        acronym = units.spellings[short]
        columns[rows[short, long], 4] = share * (1.0 if len(acronym) > 2 or acronym.isupper() else 0.5)
    columns[:, 5] = near
    columns[:, 6] = weighted_overlap(units.contexts, i, j, smooth=1.0, smaller=True)
    return columns, strongest


def numbered(texts: Iterable[str]) -> IntArray:
    """Give equal texts equal numbers, the empty one 0: pairs of numbers are compared a hundred times as fast.

    Examples
    --------
    >>> numbered(["b", "", "a", "b"]).tolist()
    [1, 0, 2, 1]
    """
    known = {"": 0}
    return np.array([known.setdefault(text, len(known)) for text in texts], dtype=np.int64)


def weighted_overlap(
    bags: Sequence[Iterable[Hashable]], i: IntArray, j: IntArray, smooth: float = 0.0, smaller: bool = False
) -> NDArray[np.float64]:
    """Overlap of two bags over their union, each item weighing 1 / ln(1 + number of bags that hold it).

    The IDF token overlap of Galárraga et al. (CIKM 2014), as CESI uses it. With `smaller` the overlap is divided by the
    smaller bag instead of the union; `smooth` is added below, so that one shared item of few is not certainty.

    Examples
    --------
    >>> weighted_overlap([["a", "b"], ["a"], ["c"]], np.array([0, 0]), np.array([1, 2])).round(2).tolist()
    [0.39, 0.0]
    """
    sets = [frozenset(bag) for bag in bags]
    weight = {item: 1 / math.log1p(count) for item, count in Counter(item for bag in sets for item in bag).items()}
    # fsum: the order in which a set gives its items must not show in the last digit.
    totals = [math.fsum(map(weight.__getitem__, bag)) for bag in sets]
    overlaps = np.zeros(len(i))
    for row, (first, second) in enumerate(zip(i.tolist(), j.tolist(), strict=True)):
        if shared := sets[first] & sets[second]:
            both = math.fsum(map(weight.__getitem__, shared))
            below = min(totals[first], totals[second]) if smaller else totals[first] + totals[second] - both
            overlaps[row] = both / (below + smooth)
    return overlaps


# Short names: how well one abbreviates a longer name, and which of several longer names it belongs to. All four numbers
# were chosen by eye on the names of two extracted graphs; the labelled sets move by less than 0.01.

# A long name may have this many times the tokens of its short form before the score falls (Alfred Russel Wallace).
COVERING = 2.5
# The factor where the short name is in lower case and the long one is not (research center, Pew Research Center);
COMMON_NOUN = 0.5
# where it is only in the long name's complement, not in its head (Melbourne, nurse in Melbourne);
COMPLEMENT = 0.45
# and where it is one of several that the long name lists (Alonzo Smith, Alonzo Smith and Anna).
LISTED = 0.45

_AFTER_HEAD = re.compile(
    r"[,(:]|(?<=\s)(?:of|in|on|at|for|to|by|from|with|about|across|between|during|into|near|under|over)(?=\s)",
    re.IGNORECASE,
)
_AND = re.compile(r"\s(?:and|&)\s", re.IGNORECASE)


def short_form_score(short: str, long: str) -> float:
    """Score in 0..1 how well `short`, as written, abbreviates `long`, as written, by the longer one's grammar.

    Examples
    --------
    >>> [short_form_score(short, long) for short, long in [
    ...     ("Monroe", "Marilyn Monroe"), ("research center", "Pew Research Center"),
    ...     ("Melbourne", "nurse in Melbourne"), ("Anna", "Alonzo Smith and Anna")]]
    [1.0, 0.5, 0.45, 0.375]
    """
    own, whole = token_set(short), token_set(long)
    score = min(1.0, COVERING * len(own) / len(whole))
    if short.islower() and not long.islower():
        score *= COMMON_NOUN
    if own.isdisjoint(token_set(_AFTER_HEAD.split(long, maxsplit=1)[0] or long)):
        score *= COMPLEMENT
    parts = [token_set(part) for part in _AND.split(long) if part.strip()]
    if any(map(own.isdisjoint, parts)):
        score *= LISTED
    return score


@lru_cache(maxsize=1 << 16)
def token_set(name: str) -> frozenset[str]:
    """The tokens of a name as written."""
    return frozenset(tokens(normalise(name)))


# A name with more expansions than this is a generic word: its shares are small with or without allies, and finding
# allies costs the square.
MAX_ALLIED = 200


def expansion_shares(
    longer: Mapping[int, list[int]],
    sets: Sequence[frozenset[str]],
    counts: NDArray[np.float64],
    fit: Callable[[int, int], float] = lambda _short, _long: 1.0,
) -> tuple[dict[tuple[int, int], float], dict[int, int]]:
    """Give for each (short, long) the share of the long name and its allies, 0 for rivals; and each short's strongest.

    "Monroe" may be short for Marilyn or for James: an expansion's share is its part of all mentions of expansions, and
    names that expand one another (Barack Obama, Barack Hussein Obama) are allies and count together. `fit` weighs an
    expansion's mentions by how well it suits the short name.

    Examples
    --------
    >>> sets = [frozenset(name.split()) for name in ("monroe", "marilyn monroe", "james monroe", "james earl monroe")]
    >>> shares, strongest = expansion_shares({0: [1, 2, 3]}, sets, np.array([9.0, 5, 3, 2]))
    >>> {pair: round(share, 2) for pair, share in shares.items()}, strongest
    ({(0, 1): 0.5, (0, 2): 0.0, (0, 3): 0.0}, {0: 1})
    """
    shares: dict[tuple[int, int], float] = {}
    strongest: dict[int, int] = {}
    for short, others in longer.items():
        mass = counts[others] * [fit(short, long) for long in others]
        part, allied = mass / mass.sum(), None
        if len(others) <= MAX_ALLIED:
            own = [sets[unit] for unit in others]
            allied = np.array([[a <= b or b <= a for b in own] for a in own])
            part = allied @ mass / mass.sum()
        # Ties: more mentions of its own, then the shorter name, then the first.
        best = max(range(len(others)), key=lambda at: (part[at], mass[at], -len(sets[others[at]]), -at))
        strongest[short] = others[best]
        for at, long in enumerate(others):
            joins = at == best if allied is None else allied[at, best]
            shares[short, long] = float(part[at]) if joins else 0.0
    return shares, strongest


# Names that are the same but for the spelling of some tokens.

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
    left = sorted([token for token in first if token not in second])
    right = sorted([token for token in second if token not in first])
    credits = []
    for pair in zip(left, right, strict=True):
        # Most pairs of names differ in their first token already.
        if not (credit := _token_credit(*pair)):
            return 0.0
        credits.append(credit)
    shared = len({token for token in first if token in second})
    if shared:
        return (shared + sum(credits)) / len(first)
    whole_words = all(len(token) > 1 for token in left + right)
    return (min(credits, default=1.0) - MIN_TOKEN_RATIO) / (1 - MIN_TOKEN_RATIO) if whole_words else 0.0


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
