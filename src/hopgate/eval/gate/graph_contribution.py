"""What the graph adds to the pool: ids found by it alone, relevant ones among them, and the recall they allow."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from hopgate.eval.data.runs import Qrels, ordered, relevant
from hopgate.eval.gate.evidence import GRAPH, Arm


@dataclass(frozen=True)
class GraphContribution:
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


def graph_contribution(arm: Arm, qrels: Qrels, k: int) -> GraphContribution:
    """Count what an arm's graph leg found that its other legs did not.

    Examples
    --------
    >>> legs = {"dense": {"q": [("a", 1.0)]}, "graph": {"q": [("b", 0.5), ("a", 0.2), ("x", 0.1)]}}
    >>> arm = Arm("all", {"q": [("a", 2.0), ("b", 1.0)]}, legs=legs)
    >>> added = graph_contribution(arm, {"q": {"a": 1, "b": 1}}, k=1)
    >>> added.relevant_alone, added.reached, added.pool_recall, added.pool_recall_without
    (1, 0, 1.0, 0.5)
    """
    found_alone = helped = relevant_alone = reached = 0
    with_graph, without = [], []
    for query, gold in qrels.items():
        wanted = relevant(gold)
        base = arm.found_by_others(GRAPH, query)
        alone = arm.found_ids(GRAPH, query) - base
        good = alone & wanted
        found_alone += len(alone)
        relevant_alone += len(good)
        helped += bool(good)
        reached += len(good.intersection(ordered(arm.run.get(query, ()))[:k]))
        without.append(len(base & wanted) / len(wanted) if wanted else 0.0)
        with_graph.append(len((base | alone) & wanted) / len(wanted) if wanted else 0.0)
    n = len(qrels)
    return GraphContribution(
        queries=n,
        alone=found_alone / n if n else 0.0,
        relevant_alone=relevant_alone,
        queries_helped=helped,
        reached=reached,
        pool_recall=float(np.mean(with_graph)) if n else 0.0,
        pool_recall_without=float(np.mean(without)) if n else 0.0,
    )
