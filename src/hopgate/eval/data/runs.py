"""Runs and qrels: the two shapes every figure is computed from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import TypeAlias

from hopgate.errors import HopgateError

Ranking: TypeAlias = Sequence[tuple[str, float]]
"""Ids with scores, for one query."""

Run: TypeAlias = Mapping[str, Ranking]
"""Query id → ranking."""

Qrels: TypeAlias = Mapping[str, Mapping[str, int]]
"""Query id → memory id → grade; a grade of 1 or more is relevant."""


def ordered(ranking: Ranking) -> list[str]:
    """Ids by score, best first; ties broken by id, an id given twice kept at its best place.

    Examples
    --------
    >>> ordered([("b", 1.0), ("a", 1.0), ("c", 2.0)])
    ['c', 'a', 'b']
    """
    if any(score != score for _, score in ranking):  # noqa: PLR0124 - the quickest test for NaN
        name = next(name for name, score in ranking if math.isnan(score))
        raise HopgateError(f"the score of {name!r} in a run is not a number: remove it or score it")
    # By name first: sorting keeps the order of equals, also from the end.
    by_score = sorted(sorted(ranking, key=itemgetter(0)), key=itemgetter(1), reverse=True)
    return list(dict.fromkeys(map(itemgetter(0), by_score)))


def relevant(gold: Mapping[str, int]) -> set[str]:
    """Ids with a grade of 1 or more.

    Examples
    --------
    >>> sorted(relevant({"a": 1, "b": 0, "c": 2}))
    ['a', 'c']
    """
    return {name for name, grade in gold.items() if grade >= 1}
