"""Graphs in memory, as a walk sees them: mentions and typed edges in, a matrix out."""

import numpy as np
from hypothesis import strategies as st

from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.walk_graph import Pairs, mention_graph
from hopgate.store.graph.arrays import Links, Stamp

RELATIONS = ("owns", "likes")
# A mention of this weight is the link of a memory to the concept that its title names; the shuffle keeps those.
TITLE = 3.0
STAMP = Stamp(1, 0, (1, 0))
Mentions = dict[tuple[int, int], float]
Edges = list[tuple[int, int, int]]
_memories, _concepts = st.integers(0, 6), st.integers(0, 5)
MENTIONS = st.dictionaries(st.tuples(_memories, _concepts), st.sampled_from([0.5, 1.0, TITLE]), max_size=30)
EDGES = st.lists(st.tuples(_concepts, _concepts, st.integers(0, len(RELATIONS) - 1)), max_size=30)


def links(ends, kinds=(), names=("",)):
    """Links of some kinds, each a little heavier than the one before."""
    source, target = np.array([*ends], np.int64).reshape(-1, 2).T
    weight = np.linspace(0.5, 1.0, len(source), dtype=np.float32)
    kind = np.array(kinds or [0] * len(source), np.int32)
    return Links(source, target, weight, kind, names, np.arange(len(source)))


def matrix_of(mentions: Mentions, edges: Edges, *, memories: int = 7, concepts: int = 6) -> GraphMatrix:
    """A graph in memory: mentions by (memory, concept), edges by (source, target, relation)."""
    typed = links([edge[:2] for edge in edges], [edge[2] for edge in edges], RELATIONS)
    memory, concept = np.array([*mentions], np.int64).reshape(-1, 2).T
    return GraphMatrix(
        stamp=STAMP,
        graph=mention_graph(memories, concepts, Pairs(memory, concept, list(mentions.values())), edges=typed),
        memory_ids=np.arange(memories),
        concept_ids=np.arange(concepts),
        memory_scope=np.zeros(memories, np.int32),
        scopes=("",),
        titles=links([pair for pair, weight in mentions.items() if weight == TITLE]),
        edges=typed,
        arcs=links([]),
        namesake_id=np.zeros(0, np.int64),
        namesake_of=np.zeros(0, np.int64),
    )


def mentions_of(matrix: GraphMatrix) -> Mentions:
    """The mentions of a graph, by (memory, concept)."""
    part = matrix.graph.matrix[: matrix.graph.memories, matrix.graph.memories :].tocoo()
    return {(int(m), int(c)): float(w) for m, c, w in zip(part.row, part.col, part.data, strict=True)}
