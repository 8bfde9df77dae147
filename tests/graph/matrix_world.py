"""Graphs in memory, as a walk sees them: mentions and typed edges in, a matrix out."""

from __future__ import annotations

import numpy as np

from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.walk_graph import Pairs, mention_graph
from hopgate.store.graph.arrays import Stamp
from hopgate.store.graph.edge_rows import NAME_INSIDE

RELATIONS = ("owns", "likes", NAME_INSIDE)
# A mention of this weight is the link of a memory to the concept that its title names; the shuffle keeps those.
TITLE = 3.0
STAMP = Stamp(1, 0, (1, 0))
Mentions = dict[tuple[int, int], float]
Edges = list[tuple[int, int, int]]


def matrix_of(mentions: Mentions, edges: Edges, *, memories: int = 7, concepts: int = 6) -> GraphMatrix:
    """A graph in memory: mentions by (memory, concept), edges by (source, target, relation)."""
    source, target, relation = (np.array([edge[i] for edge in edges], np.int32) for i in range(3))
    weight = np.linspace(0.5, 1.0, len(edges), dtype=np.float32)
    memory, concept = ([pair[i] for pair in mentions] for i in range(2))
    titles = [pair for pair, weight in mentions.items() if weight == TITLE]
    mentioned = Pairs(np.array(memory, int), np.array(concept, int), list(mentions.values()))
    return GraphMatrix(
        stamp=STAMP,
        graph=mention_graph(memories, concepts, mentioned, edges=Pairs(source, target, weight)),
        memory_ids=np.arange(memories),
        concept_ids=np.arange(concepts),
        title_memory=np.array([pair[0] for pair in titles], np.int32),
        title_concept=np.array([pair[1] for pair in titles], np.int32),
        relations=RELATIONS,
        edge_source=source,
        edge_target=target,
        edge_relation=relation,
        edge_weight=weight,
        edge_id=np.arange(len(edges)),
        memory_scope=np.zeros(memories, np.int32),
        arc_source=np.zeros(0, np.int32),
        arc_target=np.zeros(0, np.int32),
        arc_weight=np.zeros(0, np.float32),
        arc_kind=np.zeros(0, np.int32),
        scopes=("",),
        namesake_id=np.zeros(0, np.int64),
        namesake_of=np.zeros(0, np.int64),
    )  # fmt: skip
