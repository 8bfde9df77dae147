"""How alike two names are: one score made of the evidence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.canonicalise.blocks import FloatArray, IntArray, Units
from hopgate.graph.canonicalise.evidence import KINDS, numbered, token_set
from hopgate.graph.names import clash, markers, numbers

# A short name and its expansion this close by embedding fit fully: the median of true pairs is above it, that of
# false ones below.
FITTING = 0.5


@dataclass(frozen=True)
class Scored:
    """Scored pairs of units: `i[k] < j[k]`, a score in 0..1, and the evidence behind it, a column a kind."""

    i: IntArray = field(repr=False)
    j: IntArray = field(repr=False)
    score: FloatArray = field(repr=False)
    evidence: FloatArray = field(repr=False)

    def __len__(self) -> int:
        return len(self.i)


@dataclass(frozen=True)
class Scoring:
    """How evidence becomes a score.

    Names are alike by the strongest of their string evidence. A short name and its expansion lose up to `unfit` of that
    where their embeddings are far apart (Iraq, Iraq War). Names that share tokens while each has its own are mostly
    siblings (January 1842, March 1842): that leaves `siblings` of the overlap. Embeddings that are close add: alone
    where the names share no token (NYC, New York City), half where they do, for then closeness repeats the tokens.
    Shared context adds up to `context` of what is missing. Kinds that differ leave `other_kind` of the score, and
    names that clash (see `clashing`) leave `other_number`.

    The defaults sit on a plateau: each moved by half changes no figure on ReVerb Base and Ambiguous by more than 0.02.

    Examples
    --------
    >>> Scoring(context=0)
    Scoring(unfit=0.3, siblings=0.7, context=0, other_kind=0.85, other_number=0.3)
    """

    unfit: float = 0.3
    siblings: float = 0.7
    context: float = 0.2
    other_kind: float = 0.85
    other_number: float = 0.3

    def fit(self, near: FloatArray) -> FloatArray:
        """How well an expansion suits its short name, by their closeness; 1 where that is unknown."""
        return np.where(np.isnan(near), 1, 1 - self.unfit * (1 - np.minimum(near / FITTING, 1))).astype(np.float32)

    def combine(self, columns: FloatArray, units: Units, i: IntArray, j: IntArray) -> FloatArray:
        """Turn the columns of evidence into one score a pair."""
        same, shared, share, spelt, acronym, near, context = columns[:, :7].T
        contained = ~np.isnan(share)
        tokens_agree = np.where(contained, np.nan_to_num(share), np.where(shared < 1, self.siblings * shared, 1))
        strings = np.maximum.reduce([tokens_agree, spelt, acronym])
        strings = np.where(contained, strings * self.fit(near), strings)
        close = np.nan_to_num(near)
        score = np.maximum(strings, np.where(contained | (shared > 0), (strings + close) / 2, close))
        # Initials and closeness are independent evidence: the chance that both are wrong is the product.
        score = np.where(acronym > 0, 1 - (1 - acronym) * (1 - close), score)
        score = np.maximum(same, score)  # the same name scores 1 whatever its vectors
        score = 1 - (1 - score) * (1 - self.context * context)
        kinds = numbered(kind or "" for kind in units.kinds)
        score = np.where((kinds[i] != kinds[j]) & (kinds[i] > 0) & (kinds[j] > 0), score * self.other_kind, score)
        combined: FloatArray = np.where(clashing(units, i, j), score * self.other_number, score).astype(np.float32)
        return combined


# What is in a place is not the place, however alike their names.
LOCATED = frozenset(("located in", "is located in", "in"))
_OWNED = re.compile(r"(.+?)['’]s .+")
_HYPHENED = re.compile(r"\w+(?:[-\u2010\u2011]\w+)+")
# Whoever says "I" in memories that name no owner; in a scope the name says in which: "I (home)".
_WHO_WRITES = re.compile(r"I(?: \(.*\))?")


def clashing(units: Units, i: IntArray, j: IntArray) -> NDArray[np.bool_]:
    """Which pairs are two things however alike their words.

    They differ by a number or by a word like "new"; one belongs to the other, or the two to others ("Mia's bike",
    "Noah's bike"); one has half of what a hyphen joins in the other (Bissau, Guinea-Bissau); one is where the other
    is (an airport, its county); or they are those who say "I" in two scopes.
    """
    tokens = [frozenset(own) for own in units.tokens]
    owners = [token_set(owned[1]) if (owned := _OWNED.fullmatch(name)) else frozenset() for name in units.spellings]
    joined = [[token_set(word) for word in _HYPHENED.findall(name)] for name in units.spellings]
    writers = [bool(_WHO_WRITES.fullmatch(name)) for name in units.spellings]
    places = [
        {name for relation, name in context if relation in LOCATED and name != units.names[unit]}
        for unit, context in enumerate(units.contexts)
    ]

    def differ(a: int, b: int) -> bool:
        """Whether what the first is called or said to be tells it from the second."""
        return bool(
            (owners[a] and (owners[a].isdisjoint(owners[b]) if owners[b] else owners[a] >= tokens[b]))
            or any(not word.isdisjoint(tokens[b]) and not word <= tokens[b] for word in joined[a])
            or units.names[b] in places[a]
        )

    marked = np.array(
        [
            bool(owners[unit] or joined[unit] or places[unit] or writers[unit] or markers(own) or numbers(own))
            for unit, own in enumerate(units.tokens)
        ],
        dtype=bool,
    )
    clashes = np.zeros(len(i), dtype=bool)
    for row in np.flatnonzero(marked[i] | marked[j]).tolist():
        a, b = int(i[row]), int(j[row])
        writing = writers[a] and writers[b] and units.names[a] != units.names[b]
        clashes[row] = writing or clash(units.tokens[a], units.tokens[b]) or differ(a, b) or differ(b, a)
    return clashes


def with_same_expansion(scored: Scored, strongest: Mapping[int, int]) -> Scored:
    """Add the pairs of short names of one long name (Bill, Gates): as alike as both are to it, multiplied."""
    rows = {pair: row for row, pair in enumerate(zip(scored.i.tolist(), scored.j.tolist(), strict=True))}
    shorts: dict[int, list[tuple[int, float]]] = {}
    for short, long in strongest.items():
        row = rows[min(short, long), max(short, long)]
        shorts.setdefault(long, []).append((short, float(scored.score[row])))
    scores, columns = scored.score.copy(), scored.evidence.copy()
    added: list[tuple[int, int, float]] = []
    for group in shorts.values():
        for (a, first), (b, second) in combinations(sorted(group), 2):
            row = rows.get((a, b), -1)
            if row < 0:
                added.append((a, b, first * second))
            elif first * second > scores[row] and np.isnan(columns[row, 2]):
                scores[row] = columns[row, -1] = first * second
    more = np.zeros((len(added), len(KINDS)), dtype=np.float32)
    more[:, -1] = [score for _, _, score in added]
    return Scored(
        np.concatenate([scored.i, np.array([a for a, _, _ in added], np.int64)]),
        np.concatenate([scored.j, np.array([b for _, b, _ in added], np.int64)]),
        np.concatenate([scores, more[:, -1]]),
        np.concatenate([columns, more]),
    )
