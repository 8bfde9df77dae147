"""Every configuration on every development query: one table, made quickly, because each shuffle is tuned too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hopgate.eval.arms.fused_runs import fused_run
from hopgate.eval.data.runs import Qrels, Run, relevant
from hopgate.eval.measures import Recall, score_all
from hopgate.recall.fuse import RRF, TM2C2, AnyFuser, active

# Fusers whose contribution of a leg is its weight times something that no weight changes: one fusion at weight 1 gives
# the scores at all weights by one product of matrices, 30 times as fast as fusing for each.
LINEAR: tuple[type[AnyFuser], ...] = (RRF, TM2C2)
SHALLOW = 5
"""Beside recall@k recall@5 counts: a configuration that wins one place in ten and loses the first five is no gain."""


def score_table(fusers: Sequence[AnyFuser], legs: Mapping[str, Run], qrels: Qrels, k: int) -> NDArray[np.float64]:
    """Score each configuration on each query by the mean of recall@5 and recall@k.

    Returns
    -------
    array of float
        One row a query, in the order of their ids, and one column a configuration.
    """
    queries = sorted(qrels)
    table = np.zeros((len(queries), len(fusers)))
    kinds: dict[AnyFuser, list[int]] = defaultdict(list)
    for column, fuser in enumerate(fusers):
        if isinstance(fuser, LINEAR):
            kinds[fuser.reweighed(**dict.fromkeys(fuser.weights, 1.0))].append(column)
        else:
            table[:, column] = run_values(fused_run(fuser, legs, queries), qrels, k)
    for kind, columns in kinds.items():
        names = [leg for leg in active(kind) if leg in legs]
        weights = np.array([[fusers[column].weights[leg] for leg in names] for column in columns])
        for row, query in enumerate(queries):
            table[row, columns] = _recalls(kind, weights, names, legs, query, relevant(qrels[query]), k)
    return table


def run_values(run: Run, qrels: Qrels, k: int) -> NDArray[np.float64]:
    """Score one run by the measure of the choice, query by query in the order of their ids."""
    scored = score_all(run, qrels, (Recall(SHALLOW), Recall(k)))
    return np.array([sum(values[query] for values in scored.values()) / len(scored) for query in sorted(qrels)])


def development_score(run: Run, qrels: Qrels, k: int = 10) -> float:
    """Score one run by the measure of the choice, in the mean."""
    return float(run_values(run, qrels, k).mean()) if qrels else 0.0


def _recalls(
    kind: AnyFuser,
    weights: NDArray[np.float64],
    names: Sequence[str],
    legs: Mapping[str, Run],
    query: str,
    gold: set[str],
    k: int,
) -> NDArray[np.float64]:
    """One query's value at each row of weights."""
    hits = sorted(kind.fuse({leg: legs[leg].get(query, ()) for leg in names}), key=lambda hit: hit.id)
    if not hits or not gold:
        return np.zeros(len(weights))
    parts = np.array([[hit.contributions.get(leg, 0.0) for hit in hits] for leg in names])
    found = np.array([[leg in hit.contributions for hit in hits] for leg in names])
    scores = np.round(weights @ parts, 12)
    # A memory that only legs of weight 0 found is not in the pool.
    scores[~((weights > 0) @ found)] = -1.0
    order = np.argsort(-scores, axis=1, kind="stable")[:, : max(k, SHALLOW)]
    good = np.array([hit.id in gold for hit in hits])[order] & (np.take_along_axis(scores, order, axis=1) >= 0)
    return np.asarray((good[:, :SHALLOW].sum(axis=1) + good[:, :k].sum(axis=1)) / (2 * len(gold)))
