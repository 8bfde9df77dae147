"""The evidence that two names are one concept, for many pairs: a column for each kind of evidence, in 0..1."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hopgate.graph.canonicalise.blocking import pair_code
from hopgate.graph.canonicalise.overlap import weighted_jaccard
from hopgate.graph.canonicalise.parallel import ParallelTasks
from hopgate.graph.canonicalise.short_names import expansion_shares, short_form_score
from hopgate.graph.canonicalise.spelling import spelling
from hopgate.graph.canonicalise.units import FloatArray, IntArray, Units, numbered
from hopgate.graph.names.normal import tokens

KINDS = ("same name", "shared tokens", "expansion", "spelling", "initials", "embedding", "context", "same expansion")

# Pairs whose spellings one task compares: a second of its time.
PAIRS_A_TASK = 20_000


def evidence(
    units: Units,
    i: IntArray,
    j: IntArray,
    longer: Mapping[int, list[int]],
    spelt: Mapping[int, list[int]],
    near: FloatArray,
    fit: Callable[[FloatArray], FloatArray],
    tasks: ParallelTasks | None = None,
) -> tuple[FloatArray, dict[int, int]]:
    """Measure each kind of evidence for the pairs, and find each short name's strongest expansion.

    `near` is the pairs' closeness by embedding in 0..1, NaN where a vector is missing, and `fit` says how well that
    suits an expansion. A pair that is no expansion has NaN in that column; a rival of the strongest expansion has 0.
    `tasks` compare spellings, where it is not this process.
    """
    held = [tokens(name) for name in units.names]
    sets = [frozenset(one) for one in held]
    # Only expansions and acronyms are asked for by their names; the pairs are in order.
    named = (longer, spelt)
    asked = sorted({pair_code(short, long) for group in named for short, longs in group.items() for long in longs})
    row_of: dict[int, int] = dict(
        zip(asked, np.searchsorted(i << 32 | j, np.array(asked, np.int64)).tolist(), strict=True)
    )
    fits = fit(near).tolist()

    short_forms = {
        (short, long): short_form_score(units.spellings[short], units.spellings[long])
        for short, longs in longer.items()
        for long in longs
    }

    def row(short: int, long: int) -> int:
        return row_of[pair_code(short, long)]

    def suits(short: int, long: int) -> float:
        return float(fits[row(short, long)] * short_forms[short, long])

    columns = np.zeros((len(i), len(KINDS)), dtype=np.float32)
    joined = numbered(name.replace(" ", "") for name in units.names)
    columns[:, 0] = joined[i] == joined[j]
    columns[:, 1] = weighted_jaccard(sets, i, j)
    columns[:, 2] = np.nan
    expansion, strongest = expansion_shares(longer, sets, units.counts, suits)
    for (short, long), share in expansion.items():
        columns[row(short, long), 2] = share * short_forms[short, long]
    # Tokens that begin with other letters are other words: few pairs are left to be compared letter by letter.
    letters = numbered("".join(sorted([token[0] for token in one])) for one in held)
    alike = np.flatnonzero((letters[i] == letters[j]) & (columns[:, 1] < 1))
    columns[alike, 3] = _spellings(held, i[alike], j[alike], tasks)
    for (short, long), share in expansion_shares(spelt, sets, units.counts, lambda a, b: fits[row(a, b)])[0].items():
        columns[row(short, long), 4] = share * _credible(units.spellings[short])
    columns[:, 5] = near
    columns[:, 6] = weighted_jaccard(units.contexts, i, j, smooth=1.0, smaller=True)
    return columns, strongest


def _spellings(held: Sequence[tuple[str, ...]], i: IntArray, j: IntArray, tasks: ParallelTasks | None) -> list[float]:
    """How far the names of each pair are the same but for their spelling."""
    if tasks is None or not len(i):
        return _spelt_alike(held, (i, j))
    parts = range(0, len(i), PAIRS_A_TASK)
    ranges = [(i[start : start + PAIRS_A_TASK], j[start : start + PAIRS_A_TASK]) for start in parts]
    return [score for part in tasks.each(_spelt_alike, held, ranges) for score in part]


def _spelt_alike(held: Sequence[tuple[str, ...]], pairs: tuple[IntArray, IntArray]) -> list[float]:
    return [spelling(held[a], held[b]) for a, b in zip(pairs[0].tolist(), pairs[1].tolist(), strict=True)]


def _credible(acronym: str) -> float:
    """Halve the evidence of two lower-case letters, which are the initials of many names."""
    return 1.0 if len(acronym) > 2 or acronym.isupper() else 0.5
