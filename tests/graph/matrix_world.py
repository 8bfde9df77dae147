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


def matrix_of(mentions: Mentions, edges: Edges, *, memories: int = 7, concepts: int = 6) -> GraphMatrix:
    """A graph in memory: mentions by (memory, concept), edges by (source, target, relation)."""
    source, target, relation = (np.array([edge[i] for edge in edges], np.int64) for i in range(3))
    weight = np.linspace(0.5, 1.0, len(edges), dtype=np.float32)
    typed = Links(source, target, weight, relation.astype(np.int32), RELATIONS, np.arange(len(edges)))
    none = typed.where(np.zeros(len(edges), bool))
    memory, concept = ([pair[i] for pair in mentions] for i in range(2))
    titles = [pair for pair, weight in mentions.items() if weight == TITLE]
    mentioned = Pairs(np.array(memory, int), np.array(concept, int), list(mentions.values()))
    return GraphMatrix(
        stamp=STAMP,
        graph=mention_graph(memories, concepts, mentioned, edges=typed),
        memory_ids=np.arange(memories),
        concept_ids=np.arange(concepts),
        memory_scope=np.zeros(memories, np.int32),
        scopes=("",),
        titles=Links(
            np.array([pair[0] for pair in titles], np.int64),
            np.array([pair[1] for pair in titles], np.int64),
            np.ones(len(titles), np.float32),
            np.zeros(len(titles), np.int32),
            ("titled",),
            np.zeros(0, np.int64),
        ),
        edges=typed,
        arcs=none,
        namesake_id=np.zeros(0, np.int64),
        namesake_of=np.zeros(0, np.int64),
    )


def mentions_of(matrix: GraphMatrix) -> Mentions:
    """The mentions of a graph, by (memory, concept)."""
    part = matrix.graph.matrix[: matrix.graph.memories, matrix.graph.memories :].tocoo()
    return {(int(m), int(c)): float(w) for m, c, w in zip(part.row, part.col, part.data, strict=True)}
