"""The choice on development queries: the one-standard-error rule, leaning to whichever leg is better on its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.eval.arms.grid import graph_share
from hopgate.eval.arms.tune import fused_run
from hopgate.eval.data.runs import Qrels, Run
from hopgate.eval.gate.evidence import Tuning
from hopgate.eval.measures import Recall, score_all
from hopgate.recall.fuse import AnyFuser

# Within one standard error of the best, paired by query, a configuration counts as being as good (Breiman et al.,
# "Classification and regression trees", 1984): with some fifty development queries the best of many is partly luck.
AS_GOOD = 1.0


@dataclass(frozen=True)
class Chosen:
    """A configuration, what it scored on each development query, and the record that the audit looks at."""

    fuser: AnyFuser
    tuning: Tuning


def choose(
    fusers: Sequence[AnyFuser], legs: Mapping[str, Run], qrels: Qrels, k: int = 10, *, lean_to_graph: bool = False
) -> Chosen:
    """Try every configuration on the development queries; what counts is the mean of recall@5 and recall@k.

    Recall at two depths, because a configuration that wins one place in ten and loses the first five is no gain. Of
    the configurations as good as the best, the one with the smallest share of the graph is taken, or with the largest
    where the graph is the better leg alone: fusion should not drag the better one down. What still ties goes by score,
    then to the configuration named first.

    Examples
    --------
    >>> from hopgate.recall.fuse import RRF
    >>> legs = {"dense": {"q": [("x", 0.9), ("a", 0.8)]}, "graph": {"q": [("a", 0.5)]}}
    >>> choose([RRF(k=1, graph=5), RRF(k=1, graph=2)], legs, {"q": {"a": 1}}).fuser
    RRF(k=1, lexical=1, dense=1, graph=2)
    """
    if not fusers:
        raise HopgateError("there is no configuration to choose from: none lets the graph leg be heard")
    tried = {fuser: _values(fuser, legs, qrels, k) for fuser in dict.fromkeys(fusers)}
    best = max(tried, key=lambda fuser: (float(tried[fuser].mean()), -graph_share(fuser)))
    order = {fuser: place for place, fuser in enumerate(tried)}
    good = [fuser for fuser in tried if _as_good(tried[fuser], tried[best])]
    sign = -1 if lean_to_graph else 1
    fuser = min(good, key=lambda one: (sign * graph_share(one), -float(tried[one].mean()), order[one]))
    return Chosen(fuser, Tuning(frozenset(qrels), {repr(one): float(values.mean()) for one, values in tried.items()}))


def alone(run: Run, qrels: Qrels, k: int = 10) -> float:
    """What one list scores by the measure of the choice."""
    scored = score_all(run, qrels, (Recall(5), Recall(k)))
    return sum(sum(values.values()) for values in scored.values()) / (len(scored) * max(1, len(qrels)))


def _values(fuser: AnyFuser, legs: Mapping[str, Run], qrels: Qrels, k: int) -> NDArray[np.float64]:
    run = fused_run(fuser, legs, qrels)
    scored = score_all(run, qrels, (Recall(5), Recall(k)))
    return np.array([sum(values[query] for values in scored.values()) / len(scored) for query in sorted(qrels)])


def _as_good(values: NDArray[np.float64], best: NDArray[np.float64]) -> bool:
    behind = best - values
    error = float(behind.std(ddof=1)) / float(np.sqrt(len(behind))) if len(behind) > 1 else 0.0
    return float(behind.mean()) <= AS_GOOD * error + 1e-12
