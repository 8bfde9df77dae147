"""How alike two names are: one score made of the evidence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.canonicalise.clashing import clashing, torn
from hopgate.graph.canonicalise.features import KINDS
from hopgate.graph.canonicalise.units import FloatArray, IntArray, Units, numbered
from hopgate.graph.canonicalise.word_order import misordered

# A short name and its expansion this close by embedding fit fully: the median of true pairs is above it, that of
# false ones below.
FITTING = 0.5
# Whoever says "I" in memories that name no owner; in a scope the name says in which: "I (home)".
_WHO_WRITES = re.compile(r"I(?: \(.*\))?")


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
    numbers or words like "new" that differ leave `other_number`, as does what belongs to something ("car keys" are no
    "car") or to somebody (Mike's Bikes), and an order of three names that is another's (Maria Anna Keller). Half of
    what a hyphen joins is another name (Karl, Karl-Heinz; Pi, Pi-hole): that leaves `siblings`, too. Those who say "I"
    in two scopes are two.

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
        score = np.where(clashing(units, i, j), score * self.other_number, score)
        alike = (same < 1) & (contained | (shared == 1) | (spelt > 0))
        score = np.where(misordered(units, i, j, alike), score * self.other_number, score)
        score = np.where((same < 1) & torn(units, i, j), score * self.siblings, score)
        combined: FloatArray = np.where(_two_who_write(units, i, j), 0, score).astype(np.float32)
        return combined


def _two_who_write(units: Units, i: IntArray, j: IntArray) -> NDArray[np.bool_]:
    """Which pairs are "I" of two scopes: names that share all but the scope's, and are two people's."""
    writes = np.array([name[:1] == "I" and bool(_WHO_WRITES.fullmatch(name)) for name in units.spellings], dtype=bool)
    both: NDArray[np.bool_] = writes[i] & writes[j]
    return both


def with_same_expansion(scored: Scored, strongest: Mapping[int, int]) -> Scored:
    """Add the pairs of short names of one long name (Bill, Gates): as alike as both are to it, multiplied."""
    codes = scored.i << 32 | scored.j

    def row_of(a: int, b: int) -> int | None:
        # The pairs are in order.
        row = int(np.searchsorted(codes, a << 32 | b))
        return row if row < len(codes) and codes[row] == a << 32 | b else None

    shorts: dict[int, list[tuple[int, float]]] = {}
    for short, long in strongest.items():
        row = row_of(min(short, long), max(short, long))
        assert row is not None
        score = float(scored.score[row])
        shorts.setdefault(long, []).append((short, score))
    scores, columns = scored.score.copy(), scored.evidence.copy()
    added: list[tuple[int, int, float]] = []
    for group in shorts.values():
        for (a, first), (b, second) in combinations(sorted(group), 2):
            row = row_of(a, b)
            if row is None:
                added.append((a, b, first * second))
            elif first * second > scores[row] and np.isnan(columns[row, 2]):
                scores[row] = columns[row, -1] = first * second
    if not added:
        return Scored(scored.i, scored.j, scores, columns)
    more = np.zeros((len(added), len(KINDS)), dtype=np.float32)
    more[:, -1] = [score for _, _, score in added]
    return Scored(
        np.concatenate([scored.i, [a for a, _, _ in added]]),
        np.concatenate([scored.j, [b for _, b, _ in added]]),
        np.concatenate([scores, more[:, -1]]),
        np.concatenate([columns, more]),
    )
