"""A graph without one of its parts: what is lost by that is what the part was worth."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.walk_graph import Pairs, mention_graph

Part = Literal["names", "typed edges", "neighbours"]
PARTS: tuple[Part, ...] = get_args(Part)


def without(matrix: GraphMatrix, part: Part) -> GraphMatrix:
    """Leave out the links between memories and concepts, the edges between concepts, or the arcs between memories.

    Nodes stay, so that a query's seeds keep their places; facts near a query go with the edges that they are.
    """
    graph = matrix.graph
    first = np.repeat(np.arange(graph.memories), np.diff(graph.indptr[: graph.memories + 1]))
    ends = int(graph.indptr[graph.memories])
    second = graph.indices[:ends].astype(np.int64)
    mentions = (second >= graph.memories) & (part != "names")
    titled, edges, arcs = (slice(0) if part == name else slice(None) for name in PARTS)
    return replace(
        matrix,
        graph=mention_graph(
            graph.memories,
            graph.concepts,
            Pairs(first[mentions], second[mentions] - graph.memories, graph.weights[:ends][mentions]),
            edges=Pairs(matrix.edge_source[edges], matrix.edge_target[edges], matrix.edge_weight[edges]),
            neighbours=Pairs(matrix.arc_source[arcs], matrix.arc_target[arcs], matrix.arc_weight[arcs]),
        ),
        title_memory=matrix.title_memory[titled],
        title_concept=matrix.title_concept[titled],
        edge_source=matrix.edge_source[edges],
        edge_target=matrix.edge_target[edges],
        edge_relation=matrix.edge_relation[edges],
        edge_weight=matrix.edge_weight[edges],
        edge_id=matrix.edge_id[edges],
        arc_source=matrix.arc_source[arcs],
        arc_target=matrix.arc_target[arcs],
        arc_weight=matrix.arc_weight[arcs],
        arc_kind=matrix.arc_kind[arcs],
    )
