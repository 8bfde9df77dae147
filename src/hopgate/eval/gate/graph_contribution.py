"""What the graph brought: ids found by it alone, relevant ones among them, and what a perfect fusion could do."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from hopgate.eval.data.runs import Qrels, ordered, relevant
from hopgate.eval.gate.evidence import GRAPH, Arm


@dataclass(frozen=True)
class Brought:
    """What one arm's graph leg added to the pool.

    Parameters
    ----------
    queries : int
    alone : float
        Ids found by the graph alone, a query.
    relevant_alone, queries_helped : int
        Relevant ids found by the graph alone, and on how many queries.
    reached : int
        How many of those relevant ids made it into the top k.
    pool_recall, pool_recall_without : float
        Recall of the whole pool, which is what the best imaginable fusion could reach, with and without the graph.
    """

    queries: int
    alone: float
    relevant_alone: int
    queries_helped: int
    reached: int
    pool_recall: float
    pool_recall_without: float

    def to_dict(self) -> dict[str, float]:
        """Give it in the shape of the report."""
        return asdict(self)


def brought(arm: Arm, qrels: Qrels, k: int) -> Brought:
    """Count what an arm's graph leg found that its other legs did not.

    Examples
    --------
    >>> legs = {"dense": {"q": [("a", 1.0)]}, "graph": {"q": [("b", 0.5), ("a", 0.2), ("x", 0.1)]}}
    >>> found = brought(Arm("all", {"q": [("a", 2.0), ("b", 1.0)]}, legs=legs), {"q": {"a": 1, "b": 1}}, k=1)
    >>> found.relevant_alone, found.reached, found.pool_recall, found.pool_recall_without
    (1, 0, 1.0, 0.5)
    """
    others = [leg for leg in {*arm.legs, *arm.found} if leg != GRAPH]
    alone = helped = golden = reached = 0
    with_graph, without = [], []
    for query, gold in qrels.items():
        wanted = relevant(gold)
        base = set().union(*(arm.as_found(leg, query) for leg in others))
        only = arm.as_found(GRAPH, query) - base
        good = only & wanted
        alone += len(only)
        golden += len(good)
        helped += bool(good)
        reached += len(good.intersection(ordered(arm.run.get(query, ()))[:k]))
        without.append(len(base & wanted) / len(wanted) if wanted else 0.0)
        with_graph.append(len((base | only) & wanted) / len(wanted) if wanted else 0.0)
    n = len(qrels)
    return Brought(
        queries=n,
        alone=alone / n if n else 0.0,
        relevant_alone=golden,
        queries_helped=helped,
        reached=reached,
        pool_recall=float(np.mean(with_graph)) if n else 0.0,
        pool_recall_without=float(np.mean(without)) if n else 0.0,
    )
