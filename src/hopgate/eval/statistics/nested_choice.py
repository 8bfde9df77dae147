"""The rule of choice on development queries, and whether they carry it: nested cross-validation against a default.

All functions take a table of values, one row a development query and one column a configuration, the configurations in
order from the plainest; the first column is the declared default.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

# With fewer development queries nothing is chosen: four a fold. On real lists the rule below does no harm with fewer
# (docs/research/verdicts.md), but gains little, and what it chooses changes from fold to fold.
FEWEST = 20
FOLDS, ROUNDS = 5, 10


@dataclass(frozen=True)
class Carried:
    """Whether development queries carry a choice.

    Parameters
    ----------
    chosen : int
        The configuration to use: the rule's where the queries carry it, else the default, 0.
    carries : bool
    gain, error : float
        What choosing brought on queries it had not seen, over the default, and its standard error.
    agreement : float
        The share of folds in which the rule chose what it chooses on all queries.
    """

    chosen: int
    carries: bool
    gain: float
    error: float
    agreement: float


def one_error(values: ArrayLike) -> int:
    """Choose the plainest configuration that is as good as the best, to one standard error, paired by query.

    Breiman et al., "Classification and regression trees", 1984.

    Examples
    --------
    >>> one_error([[0.5, 0.6], [0.5, 0.4], [0.5, 0.6]]), one_error([[0.0, 1.0]] * 9 + [[1.0, 1.0]])
    (0, 1)
    """
    table = np.asarray(values, dtype=np.float64)
    best = int(table.mean(axis=0).argmax())
    behind = table[:, [best]] - table
    error = behind.std(axis=0, ddof=1) / np.sqrt(len(table)) if len(table) > 1 else np.zeros(table.shape[1])
    return int(np.flatnonzero(behind.mean(axis=0) <= error + 1e-12)[0])


def nested(values: ArrayLike, *, folds: int = FOLDS, rounds: int = ROUNDS, seed: int = 0) -> tuple[Floats, float]:
    """Score the rule on queries it has not seen: choose without a fold, score on it, over the default.

    Returns
    -------
    tuple of array and float
        The gain over the default, one a query, mean over the rounds; and how often the choice was the one on all.
    """
    table = np.asarray(values, dtype=np.float64)
    n, everywhere = len(table), one_error(table)
    rng = np.random.default_rng(seed)
    gained, same = np.zeros(n), 0
    for _ in range(rounds):
        fold = rng.permutation(n) % folds
        for number in range(folds):
            out = fold == number
            chosen = one_error(table[~out])
            gained[out] += table[out, chosen] - table[out, 0]
            same += chosen == everywhere
    return gained / rounds, same / (rounds * folds)


def carried(values: ArrayLike, *, fewest: int = FEWEST, seed: int = 0) -> Carried:
    """Choose where the development queries carry the choice, else take the default.

    They carry it where there are enough of them and choosing, scored on queries that it has not seen, is not behind the
    default. No test is made of it: either answer is safe, and neither is a claim.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.integers(0, 2, (40, 1)) * 1.0
    >>> carried(np.hstack([noise * 0.5, noise])).chosen, carried(np.hstack([noise * 0.5, noise])[:9]).carries
    (1, False)
    """
    table = np.asarray(values, dtype=np.float64)
    if len(table) < fewest:
        return Carried(0, False, 0.0, 0.0, 0.0)
    gained, agreement = nested(table, seed=seed)
    gain, error = float(gained.mean()), float(gained.std(ddof=1) / np.sqrt(len(gained)))
    carries = gain >= -1e-12
    return Carried(one_error(table) if carries else 0, carries, gain, error, agreement)
