"""The frozen graph and its builders."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.graph.walk.walk_graph import Pairs, edge_graph, mention_graph

EDGES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(0, 3)), max_size=25)


@settings(max_examples=50, deadline=None)
@given(EDGES)
def test_edge_graph_is_the_dense_sum(edges: list[tuple[int, int, int]]) -> None:
    dense = np.zeros((8, 8))
    for source, target, weight in edges:
        dense[source, target] += weight
        if source != target:
            dense[target, source] += weight
    source, target, weight = zip(*edges, strict=True) if edges else ((), (), ())
    graph = edge_graph(8, source, target, weight)
    assert np.array_equal(graph.matrix.toarray(), dense)
    assert np.array_equal(graph.strength, dense.sum(axis=1))
    assert np.array_equal(graph.dangling, dense.sum(axis=1) == 0)
    assert np.array_equal(graph.degree, (dense > 0).sum(axis=1))
    assert graph.arcs == (dense > 0).sum()


def test_mentions_come_in_two_kinds_of_node() -> None:
    graph = mention_graph(3, 2, Pairs([0, 1], [0, 1], [0.5, 2.0]), edges=Pairs([0], [1], [4.0]))
    assert (graph.memories, graph.concepts, graph.nodes) == (3, 2, 5)
    assert graph.matrix[0, 3] == 0.5
    assert graph.matrix[4, 3] == 4.0
    assert graph.dangling.tolist() == [False, False, True, False, False]


def test_arrays_cannot_be_written() -> None:
    graph = edge_graph(3, [0, 1], [1, 2])
    for array in (graph.indptr, graph.indices, graph.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda: edge_graph(2, [0], [2]), "outside 2 and 2 nodes"),
        (lambda: edge_graph(2, [-1], [0]), "outside 2 and 2 nodes"),
        (lambda: edge_graph(2, [0, 1], [1]), "one source, one target"),
        (lambda: edge_graph(2, [0], [1], [-1.0]), "not negative"),
        (lambda: edge_graph(2, [0], [1], [np.nan]), "finite"),
        (lambda: edge_graph(2, [0], [1], memories=3), "cannot have 3 memories"),
        (lambda: mention_graph(2, 5, Pairs([3], [0])), "outside 2 and 5 nodes"),
    ],
)
def test_what_no_walk_can_use_is_refused(build, reason: str) -> None:
    with pytest.raises(HopgateError, match=reason):
        build()
