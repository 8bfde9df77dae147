"""The parts of a graph, from free to dear, and a graph with some of them alone."""

from collections.abc import Collection
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.config import PARTS
from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.walk_graph import Pairs, mention_graph

_CUT: WeakKeyDictionary[GraphMatrix, dict[tuple[str, ...], GraphMatrix]] = WeakKeyDictionary()


def cut_to(matrix: GraphMatrix, parts: Collection[str]) -> GraphMatrix:
    """Give the graph with these parts alone, made once; itself where they are all that a graph of concepts has."""
    wanted = tuple(part for part in PARTS if part in parts and part != "statements")
    if len(wanted) == len(PARTS) - 1:
        return matrix
    made = _CUT.setdefault(matrix, {})
    if wanted not in made:
        made[wanted] = with_parts(matrix, wanted)
    return made[wanted]


def parts_of(matrix: GraphMatrix) -> dict[str, int]:
    """Count what a graph has of each part: arcs between memories, mentions of titles, other mentions, typed edges."""
    of_title = np.isin(_mentions(matrix)[1], matrix.titles.target)
    return {
        "threads": len(matrix.arcs.source),
        "titles": int(of_title.sum()),
        "names": int((~of_title).sum()),
        "facts": len(matrix.edges.source),
    }


def with_parts(matrix: GraphMatrix, parts: Collection[str]) -> GraphMatrix:
    """Give the graph with these parts alone; nodes stay, so that a query's seeds keep their places.

    A memory names another's title where both mention the concept of that title: such mentions are titles, all other
    mentions are names. Facts near a query go with the edges that they are.
    """
    memory, concept, weight = _mentions(matrix)
    kept = np.where(np.isin(concept, matrix.titles.target), "titles" in parts, "names" in parts)
    arcs, titles, edges = (
        links.where(np.full(len(links.source), part in parts))
        for links, part in ((matrix.arcs, "threads"), (matrix.titles, "titles"), (matrix.edges, "facts"))
    )
    mentioned = Pairs(memory[kept], concept[kept], weight[kept])
    graph = mention_graph(matrix.graph.memories, matrix.graph.concepts, mentioned, edges=edges, neighbours=arcs)
    return replace(matrix, graph=graph, titles=titles, edges=edges, arcs=arcs)


def _mentions(matrix: GraphMatrix) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """The links of memories and concepts: a memory's number, a concept's, and the weight that is walked."""
    graph, last = matrix.graph, matrix.graph.indptr[matrix.graph.memories]
    memory = np.repeat(np.arange(graph.memories), graph.degree[: graph.memories])
    other = graph.indices[:last].astype(np.int64)
    of_concept = other >= graph.memories
    return memory[of_concept], other[of_concept] - graph.memories, graph.weights[:last][of_concept]
