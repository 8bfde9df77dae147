"""Parts of the graph to draw: a concept's neighbourhood, some concepts, the largest, or what a query's walk visits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.graph.walk.pagerank import pagerank
from hopgate.graph.walk.walk_graph import WalkGraph, top_k
from hopgate.store import memories as memory_rows
from hopgate.store.graph import concept_rows, edge_rows
from hopgate.store.graph.edge_rows import DrawnConcept, DrawnEdge
from hopgate.store.graph.visible import View

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.graph.walk.matrix import GraphMatrix
    from hopgate.graph.walk.seeds import Starts

TOGETHER = "mentioned together"
"""What joins two concepts of a picture that the same memories talk about and no edge joins."""

# In a larger picture such lines would hide the edges, and counting them would take longer than drawing.
TOGETHER_UP_TO = 400
# Of a larger picture the heaviest edges are drawn, so many for each concept: more would be a grey ground.
EDGES_EACH = 2
# Beside its edges a concept shows so many others that its memories talk about.
COMPANY = 8


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Concepts, what joins them, and how many more of both there were than could be let in."""

    concepts: tuple[DrawnConcept, ...]
    edges: tuple[DrawnEdge, ...]
    left_out: int
    edges_left_out: int = 0


def around(
    connection: Connection[Any], view: View, concept_id: int, *, depth: int = 1, limit: int = 100
) -> Neighbourhood:
    """Draw a concept with what its edges reach in `depth` steps, nearest and heaviest first, and its company."""
    concept_id = concept_rows.get(connection, concept_id, view).id
    drawn, ring, left_out = [concept_id], [concept_id], 0
    for step in range(depth):
        room = limit - len(drawn)
        if room <= 0 or not ring:
            break
        ring, there = edge_rows.joined(connection, view, ring, drawn, limit=room)
        left_out += there - len(ring)
        drawn += ring
        if step == 0 and _is_now(view) and len(drawn) < limit:
            drawn += edge_rows.beside(connection, view, concept_id, drawn, limit=min(COMPANY, limit - len(drawn)))
    return _drawn(connection, view, drawn, left_out)


def chosen(connection: Connection[Any], view: View, among: Sequence[int] | None, *, limit: int) -> Neighbourhood:
    """Draw the first of these concepts, or of all those that most memories talk about, and what joins them."""
    ids, there = edge_rows.chosen_concepts(connection, view, among, limit=limit)
    return _drawn(connection, view, ids, there - len(ids))


def _drawn(connection: Connection[Any], view: View, concept_ids: Sequence[int], left_out: int) -> Neighbourhood:
    concepts = edge_rows.drawn_concepts(connection, view, concept_ids)
    small = len(concepts) <= TOGETHER_UP_TO
    limit = None if small else EDGES_EACH * len(concepts)
    edges, there = edge_rows.drawn_edges(connection, view, concept_ids, limit=limit)
    left = there - len(edges)
    if small and _is_now(view):
        known = {frozenset((edge.source, edge.target)) for edge in edges}
        company = edge_rows.together(connection, concept_ids, TOGETHER, limit=3 * len(concepts))
        edges += [line for line in company if frozenset((line.source, line.target)) not in known]
    return Neighbourhood(tuple(concepts), tuple(edges), left_out, left)


def _is_now(view: View) -> bool:
    return view.as_of is None and view.known_at is None


def check_limits(depth: int, limit: int) -> None:
    """Refuse a picture that no browser would draw."""
    if not 1 <= depth <= 4 or not 1 <= limit <= 20_000:
        raise HopgateError("a neighbourhood has a depth of 1 to 4 and at most 20,000 concepts: ask for less")


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
    start: Starts,
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
    for first, second in lines:
        beside[first].append(second)
        beside[second].append(first)
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
