"""The shuffled control: which degrees and links it keeps exactly, and that the structure is lost."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.graph.inspect.shuffle import shuffled
from hopgate.graph.walk.matrix import GraphMatrix, MatrixConfig
from hopgate.graph.walk.walk_graph import mention_graph
from hopgate.store.graph.arrays import Stamp

RELATIONS = ("owns", "likes", "named in")
# A mention of this weight is the link of a memory to the concept that its title names; the shuffle keeps those.
TITLE = 3.0
STAMP = Stamp("test", 1, 0)
Mentions = dict[tuple[int, int], float]
Edges = list[tuple[int, int, int]]

memories, concepts = st.integers(0, 6), st.integers(0, 5)
mentions = st.dictionaries(st.tuples(memories, concepts), st.sampled_from([0.5, 1.0, TITLE]), max_size=30)
edges = st.lists(st.tuples(concepts, concepts, st.integers(0, len(RELATIONS) - 1)), max_size=30)


def matrix_of(mentions: Mentions, edges: Edges, *, memories: int = 7, concepts: int = 6) -> GraphMatrix:
    """A graph in memory: mentions by (memory, concept), edges by (source, target, relation)."""
    source, target, relation = (np.array([edge[i] for edge in edges], np.int32) for i in range(3))
    weight = np.linspace(0.5, 1.0, len(edges), dtype=np.float32)
    memory, concept = ([pair[i] for pair in mentions] for i in range(2))
    titles = [pair for pair, weight in mentions.items() if weight == TITLE]
    return GraphMatrix(
        stamp=STAMP,
        config=MatrixConfig(),
        graph=mention_graph(
            memories, concepts, np.array(memory, int), np.array(concept, int), list(mentions.values()),
            source=source, target=target, edge_weight=weight,
        ),
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
    )  # fmt: skip


def mentions_of(matrix: GraphMatrix) -> Mentions:
    """The mentions of a graph, by (memory, concept)."""
    part = matrix.graph.matrix[: matrix.graph.memories, matrix.graph.memories :].tocoo()
    return {(int(m), int(c)): float(w) for m, c, w in zip(part.row, part.col, part.data, strict=True)}


def degrees(pairs: Mentions, side: int) -> Counter[int]:
    return Counter(pair[side] for pair in pairs)


@settings(deadline=None)
@given(mentions, edges, st.integers(0, 3))
def test_any_graph_keeps_its_edges_degrees_and_what_follows_from_names(
    mentions: Mentions, edges: Edges, seed: int
) -> None:
    matrix = matrix_of(mentions, edges)
    control = shuffled(matrix, seed, kept_relations=frozenset({"named in"}))
    again = shuffled(matrix, seed, kept_relations=frozenset({"named in"}))
    assert (control.graph.matrix != again.graph.matrix).nnz == 0
    assert control.edge_target.tolist() == again.edge_target.tolist()
    # Every edge keeps its source, relation and weight; every concept keeps how many edges reach it.
    assert control.edge_source is matrix.edge_source
    assert control.edge_relation is matrix.edge_relation
    assert control.edge_weight is matrix.edge_weight
    assert Counter(control.edge_target.tolist()) == Counter(matrix.edge_target.tolist())
    kept = matrix.edge_relation == RELATIONS.index("named in")
    assert control.edge_target[kept].tolist() == matrix.edge_target[kept].tolist()
    # A memory stays linked to the concept that its title names; no memory and no concept gains a mention.
    before, after = mentions_of(matrix), mentions_of(control)
    assert {pair for pair, weight in before.items() if weight > 1} <= after.keys()
    for side in (0, 1):
        assert degrees(after, side) <= degrees(before, side)


@pytest.mark.parametrize("seed", range(3))
def test_a_sparse_graph_keeps_every_degree_and_loses_its_structure(seed: int) -> None:
    rng = np.random.default_rng(seed)
    drawn = {
        (memory, int(concept))
        for memory in range(150)
        for concept in rng.choice(300, rng.integers(2, 12), replace=False)
    }
    mentions = dict.fromkeys(sorted(drawn), 1.0)
    edges = [(int(one), int(two), int(relation)) for one, two, relation in rng.integers(0, [300, 300, 2], (400, 3))]
    matrix = matrix_of(mentions, edges, memories=150, concepts=300)
    control = shuffled(matrix, seed)
    before, after = mentions_of(matrix), mentions_of(control)
    for side in (0, 1):
        assert degrees(after, side) == degrees(before, side)
    assert len(before.keys() & after.keys()) < 0.05 * len(before)
    pairs = [set(zip(each.edge_source.tolist(), each.edge_target.tolist(), strict=True)) for each in (matrix, control)]
    assert len(pairs[0] & pairs[1]) < 0.05 * len(pairs[0])
    assert len(pairs[1]) == pytest.approx(len(pairs[0]), rel=0.05)
    for side in ("edge_source", "edge_target"):
        assert Counter(getattr(matrix, side).tolist()) == Counter(getattr(control, side).tolist())


def test_another_seed_is_another_shuffle() -> None:
    rng = np.random.default_rng(0)
    mentions = {(memory, int(concept)): 1.0 for memory in range(7) for concept in rng.choice(6, 2, replace=False)}
    edges = [(int(one), int(two), 0) for one, two in rng.integers(0, 6, (20, 2))]
    matrix = matrix_of(mentions, edges)
    assert shuffled(matrix, 1).edge_target.tolist() != shuffled(matrix, 2).edge_target.tolist()
    assert mentions_of(shuffled(matrix, 1)) != mentions_of(shuffled(matrix, 2))
