"""What a query's walk visits most: memories and concepts with their share of the walks, and the lines between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.pagerank import pagerank
from hopgate.graph.walk.walk_graph import top_k
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
    concept_id: int | None = None


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

    def steps(self) -> dict[str, int]:
        """How many steps each node is from where a walk starts: a seed concept, or a memory that the base found."""
        return steps_from_seeds(self.nodes, self.lines)

    def memory_scores(self, *, damping: float = 0.8, degree_correction: float = 0.0) -> NDArray[np.floating]:
        """Score every memory of the graph by walks from the same start, with another damping or correction."""
        scores = pagerank(self.graph, self.start, damping=damping) * self.graph.divisor**-degree_correction
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
    label = _labels(connection, matrix, [at for at in top if mass[at] > 0])
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
        name: VisitedNode(
            float(mass[at]), at < split, at in seeds, None if at < split else int(matrix.concept_ids[at - split])
        )
        for at, name in label.items()
        if name in joined
    }
    return QueryWalk(query, nodes, tuple(sorted(lines)), graph, start.vector)


def steps_from_seeds(nodes: Mapping[str, VisitedNode], lines: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Count the steps from the nearest seed; where none leads to a node, from the heaviest memory that does.

    Examples
    --------
    >>> seed, memory = VisitedNode(0.5, False, True), VisitedNode(0.2, True, False)
    >>> steps_from_seeds({"Ada": seed, "m1": memory, "m2": memory}, [("Ada", "m1")])
    {'Ada': 0, 'm1': 1, 'm2': 0}
    """
    beside: dict[str, list[str]] = {name: [] for name in nodes}
    for one, other in lines:
        beside[one].append(other)
        beside[other].append(one)
    steps: dict[str, int] = {}
    starts = [name for name, node in nodes.items() if node.is_seed]
    # The heaviest first, memories before concepts.
    others = sorted(nodes, key=lambda name: (not nodes[name].is_memory, -nodes[name].mass, name))
    for start in [starts, *([name] for name in others)]:
        ring = [name for name in start if name not in steps]
        depth = 0
        while ring:
            steps |= dict.fromkeys(ring, depth)
            ring = sorted({other for name in ring for other in beside[name]} - steps.keys())
            depth += 1
    return {name: steps[name] for name in nodes}


def _labels(connection: Connection[Any], matrix: GraphMatrix, nodes: list[int]) -> dict[int, str]:
    """Each node's external id or name."""
    split = matrix.graph.memories
    of_memory = {at: int(matrix.memory_ids[at]) for at in nodes if at < split}
    of_concept = {at: int(matrix.concept_ids[at - split]) for at in nodes if at >= split}
    ids = memory_rows.external_ids(connection, list(of_memory.values()))
    names = concept_rows.names(connection, list(of_concept.values()))
    return {at: ids[key] for at, key in of_memory.items()} | {at: names[key] for at, key in of_concept.items()}
