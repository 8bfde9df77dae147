"""The parts of a graph, from free to dear, and a graph with some of them alone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.config import PARTS
from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.walk_graph import Pairs, mention_graph
from hopgate.store.graph.edge_rows import NAME_INSIDE

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

# What a matrix holds of each title, edge and arc.
TITLE, EDGE = ("memory", "concept"), ("source", "target", "relation", "weight", "id")
ARC = ("source", "target", "weight", "kind")
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
    _, concept, _ = mentions(matrix)
    titled = int(np.isin(concept, matrix.title_concept).sum())
    inside = int(of_names(matrix).sum())
    return {
        "threads": len(matrix.arc_source),
        "titles": titled,
        "names": len(concept) - titled + inside,
        "facts": len(matrix.edge_id) - inside,
    }


def with_parts(matrix: GraphMatrix, parts: Collection[str]) -> GraphMatrix:
    """Give the graph with these parts alone; nodes stay, so that a query's seeds keep their places.

    A memory names another's title where both mention the concept of that title: such mentions are titles, all other
    mentions are names, and so are edges that say that a name is inside another. Facts near a query go with the edges
    that they are.
    """
    memory, concept, weight = mentions(matrix)
    of_title = np.isin(concept, matrix.title_concept)
    kept = (of_title & ("titles" in parts)) | (~of_title & ("names" in parts))
    inside = of_names(matrix)
    edges = (inside & ("names" in parts)) | (~inside & ("facts" in parts))
    arcs = np.full(len(matrix.arc_source), "threads" in parts)
    titles = np.full(len(matrix.title_memory), "titles" in parts)
    rows: dict[str, Any] = {
        f"{kind}_{column}": getattr(matrix, f"{kind}_{column}")[chosen]
        for kind, chosen, columns in (("title", titles, TITLE), ("edge", edges, EDGE), ("arc", arcs, ARC))
        for column in columns
    }
    return replace(
        matrix,
        graph=mention_graph(
            matrix.graph.memories,
            matrix.graph.concepts,
            Pairs(memory[kept], concept[kept], weight[kept]),
            edges=Pairs(matrix.edge_source[edges], matrix.edge_target[edges], matrix.edge_weight[edges]),
            neighbours=Pairs(matrix.arc_source[arcs], matrix.arc_target[arcs], matrix.arc_weight[arcs]),
        ),
        **rows,
    )


def mentions(matrix: GraphMatrix) -> tuple[Ints, Ints, NDArray[np.float32]]:
    """The links of memories and concepts: a memory's number, a concept's, and the weight that is walked."""
    graph = matrix.graph
    ends = int(graph.indptr[graph.memories])
    memory = np.repeat(np.arange(graph.memories), np.diff(graph.indptr[: graph.memories + 1]))
    other = graph.indices[:ends].astype(np.int64)
    shown = other >= graph.memories
    return memory[shown], other[shown] - graph.memories, graph.weights[:ends][shown]


def of_names(matrix: GraphMatrix) -> Mask:
    """Which edges say only that a name is inside another."""
    inside = np.array([relation == NAME_INSIDE for relation in matrix.relations] or [False])
    return np.asarray(inside[matrix.edge_relation])
