"""Choosing a configuration on development queries: the one-standard-error rule, in favour of the better leg."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.eval.arms.fused_runs import fused_run
from hopgate.eval.arms.grid import graph_share
from hopgate.eval.data.runs import Qrels, Run
from hopgate.eval.gate.evidence import Tuning
from hopgate.eval.measures import Recall, score_all
from hopgate.recall.fuse import AnyFuser
from hopgate.recall.reach import on_lists

# Within one standard error of the best, paired by query, a configuration counts as being as good (Breiman et al.,
# "Classification and regression trees", 1984): with some fifty development queries the best of many is partly luck.
STANDARD_ERRORS = 1.0


@dataclass(frozen=True)
class Choice:
    """The configuration chosen, and the record of the tuning that the audit looks at."""

    fuser: AnyFuser
    tuning: Tuning


def choose(
    fusers: Sequence[AnyFuser], legs: Mapping[str, Run], qrels: Qrels, k: int = 10, *, prefer_graph: bool = False
) -> Choice:
    """Try every configuration on the development queries; what counts is the mean of recall@5 and recall@k.

    Recall at two depths, because a configuration that wins one place in ten and loses the first five is no gain. Of
    the configurations as good as the best, the one with the smallest share of the graph is taken. With `prefer_graph`
    it is the one with the largest: where the graph is the better leg alone, fusion should not drag it down. What still
    ties goes by score, then to the configuration named first.

    Examples
    --------
    >>> from hopgate.recall.fuse import RRF
    >>> legs = {"dense": {"q": [("x", 0.9), ("a", 0.8)]}, "graph": {"q": [("a", 0.5)]}}
    >>> choose([RRF(k=1, graph=5), RRF(k=1, graph=2)], legs, {"q": {"a": 1}}).fuser
    RRF(k=1, lexical=1, dense=1, graph=2)
    """
    if not fusers:
        raise HopgateError("there is no configuration to choose from: none lets the graph leg reach the top k")
    tried = {fuser: _values(fused_run(fuser, legs, qrels), qrels, k) for fuser in dict.fromkeys(fusers)}
    best = max(tried, key=lambda fuser: (float(tried[fuser].mean()), -graph_share(fuser)))
    order = {fuser: place for place, fuser in enumerate(tried)}
    good = [fuser for fuser in tried if _as_good(tried[fuser], tried[best])]
    sign = -1 if prefer_graph else 1
    chosen = min(good, key=lambda fuser: (sign * graph_share(fuser), -float(tried[fuser].mean()), order[fuser]))
    scores = {repr(fuser): float(values.mean()) for fuser, values in tried.items()}
    return Choice(chosen, Tuning(frozenset(qrels), scores))


def reachable_fusers(
    fusers: Iterable[AnyFuser], legs: Mapping[str, Run], queries: Iterable[str], *, k: int = 10, share: float = 0.5
) -> list[AnyFuser]:
    """Keep the configurations in which a graph-only memory could enter the top k on this share of the queries.

    Tuning a challenger over others would let it choose not to be tested.
    """
    lists = {query: {leg: list(run.get(query, ())) for leg, run in legs.items()} for query in queries}
    return [fuser for fuser in fusers if on_lists(fuser, lists, k=k).entering >= max(1, share * len(lists))]


def development_score(run: Run, qrels: Qrels, k: int = 10) -> float:
    """Score one run by the measure of the choice: the mean of recall@5 and recall@k."""
    return float(_values(run, qrels, k).mean()) if qrels else 0.0


def _values(run: Run, qrels: Qrels, k: int) -> NDArray[np.float64]:
    """Score each query, in the order of their ids."""
    scored = score_all(run, qrels, (Recall(5), Recall(k)))
    return np.array([sum(values[query] for values in scored.values()) / len(scored) for query in sorted(qrels)])


def _as_good(values: NDArray[np.float64], best: NDArray[np.float64]) -> bool:
    behind = best - values
    error = float(behind.std(ddof=1)) / float(np.sqrt(len(behind))) if len(behind) > 1 else 0.0
    return float(behind.mean()) <= STANDARD_ERRORS * error + 1e-12
