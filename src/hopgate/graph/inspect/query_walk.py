"""What a query's walk visits most: memories and concepts with their share of the walks, and the lines between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.pagerank import pagerank
from hopgate.graph.walk.top_k import top_k
from hopgate.store import memories as memory_rows
from hopgate.store.graph import concept_rows

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.graph.walk.matrix import GraphMatrix
    from hopgate.graph.walk.seeds import Restart
    from hopgate.graph.walk.walk_graph import WalkGraph


@dataclass(frozen=True, slots=True)
class VisitedNode:
    """A memory or a concept, and the share of walks that are there."""

    mass: float
    is_memory: bool
    is_seed: bool


@dataclass(frozen=True)
class QueryWalk:
    """The part of the graph that a query's walk visits most, and the walk itself to compute with.

    Parameters
    ----------
    nodes : mapping of name to VisitedNode
        Memories by their external id, concepts by their name.
    lines : tuple of (str, str)
        Which of these nodes are joined.
    graph : WalkGraph
        The whole graph that was walked.
    start : array
        Where walks start: one number a node of `graph`.
    """

    query: str
    nodes: dict[str, VisitedNode]
    lines: tuple[tuple[str, str], ...]
    graph: WalkGraph
    start: NDArray[np.float64]

    def memory_scores(self, *, damping: float = 0.8, degree_correction: float = 0.0) -> NDArray[np.floating]:
        """Score every memory of the graph by walks from the same start, with another damping or correction."""
        scores = pagerank(self.graph, self.start, damping=damping, degree_correction=degree_correction)
        return scores[: self.graph.memories]


def query_walk(
    connection: Connection[Any],
    query: str,
    matrix: GraphMatrix,
    start: Restart,
    *,
    damping: float,
    memories: int = 8,
    concepts: int = 12,
) -> QueryWalk:
    """Walk from where the graph leg started, and keep the memories and concepts with most mass."""
    graph = matrix.graph
    mass = pagerank(graph, start.vector, damping=damping)
    split = graph.memories
    top = [*top_k(mass[:split], memories).tolist(), *(split + top_k(mass[split:], concepts)).tolist()]
    label = _labels(connection, matrix, top)
    seeds = {seed.node for seed in start.seeds if seed.reason != "memory"}
    lines = {
        (min(label[at], label[int(other)]), max(label[at], label[int(other)]))
        for at in label
        for other in graph.indices[graph.indptr[at] : graph.indptr[at + 1]]
        if int(other) in label and label[int(other)] != label[at]
    }
    joined = {name for line in lines for name in line}
    # A dense hit that no concept leads to has mass only because the walk may start there: it is left out.
    nodes = {
        name: VisitedNode(float(mass[at]), at < split, at in seeds) for at, name in label.items() if name in joined
    }
    return QueryWalk(query, nodes, tuple(sorted(lines)), graph, start.vector)


def _labels(connection: Connection[Any], matrix: GraphMatrix, nodes: list[int]) -> dict[int, str]:
    """Each node's external id or name."""
    split = matrix.graph.memories
    of_memory = {at: int(matrix.memory_ids[at]) for at in nodes if at < split}
    of_concept = {at: int(matrix.concept_ids[at - split]) for at in nodes if at >= split}
    ids = memory_rows.external_ids(connection, list(of_memory.values()))
    names = concept_rows.names(connection, list(of_concept.values()))
    return {at: ids[key] for at, key in of_memory.items()} | {at: names[key] for at, key in of_concept.items()}
