"""The parts of a graph, from free to dear, and a graph with some of them alone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.config import PARTS
from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.walk_graph import Pairs, mention_graph
from hopgate.store.graph.edge_rows import NAME_INSIDE

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

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
    of_title, inside = _of_title(matrix, mentions(matrix)), of_names(matrix)
    return {
        "threads": len(matrix.arcs.source),
        "titles": int(of_title.sum()),
        "names": int((~of_title).sum() + inside.sum()),
        "facts": int((~inside).sum()),
    }


def with_parts(matrix: GraphMatrix, parts: Collection[str]) -> GraphMatrix:
    """Give the graph with these parts alone; nodes stay, so that a query's seeds keep their places.

    A memory names another's title where both mention the concept of that title: such mentions are titles, all other
    mentions are names, and so are edges that say that a name is inside another. Facts near a query go with the edges
    that they are.
    """
    mentioned, inside = mentions(matrix), of_names(matrix)
    of_title = _of_title(matrix, mentioned)
    kept = np.where(of_title, "titles" in parts, "names" in parts)
    edges = matrix.edges.where(np.where(inside, "names" in parts, "facts" in parts))
    arcs = matrix.arcs.where(np.full(len(matrix.arcs.source), "threads" in parts))
    graph = mention_graph(
        matrix.graph.memories,
        matrix.graph.concepts,
        Pairs(*(column[kept] for column in mentioned)),
        edges=edges,
        neighbours=arcs,
    )
    titles = matrix.titles.where(np.full(len(matrix.titles.source), "titles" in parts))
    return replace(matrix, graph=graph, titles=titles, edges=edges, arcs=arcs)


def mentions(matrix: GraphMatrix) -> tuple[Ints, Ints, NDArray[np.float32]]:
    """The links of memories and concepts: a memory's number, a concept's, and the weight that is walked."""
    graph = matrix.graph
    ends = int(graph.indptr[graph.memories])
    memory = np.repeat(np.arange(graph.memories), np.diff(graph.indptr[: graph.memories + 1]))
    other = graph.indices[:ends].astype(np.int64)
    shown = other >= graph.memories
    return memory[shown], other[shown] - graph.memories, graph.weights[:ends][shown]


def _of_title(matrix: GraphMatrix, mentioned: tuple[Ints, Ints, NDArray[np.float32]]) -> Mask:
    return np.isin(mentioned[1], matrix.titles.target)


def of_names(matrix: GraphMatrix) -> Mask:
    """Which edges say only that a name is inside another."""
    inside = np.array([relation == NAME_INSIDE for relation in matrix.edges.kinds] or [False])
    return np.asarray(inside[matrix.edges.kind])
