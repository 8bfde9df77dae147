"""The frozen graph, and PageRank over it against closed forms, dense algebra and igraph's PRPACK."""

from __future__ import annotations

import igraph
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.graph.walk.pagerank import pagerank
from hopgate.graph.walk.walk_graph import Pairs, WalkGraph, edge_graph, mention_graph

DAMPINGS = (0.5, 0.85)


def random_graph(seed: int, joined: str = "concepts") -> WalkGraph:
    """Hubs, self-loops, isolated nodes, parallel edges, several components."""
    rng = np.random.default_rng(seed)
    memories, concepts = 60, 90
    memory, concept = rng.integers(0, memories - 5, 200), np.minimum(rng.pareto(1.0, 200) * 3, concepts - 6).astype(int)
    source, target = rng.integers(0, concepts - 5, 80), rng.integers(0, concepts - 5, 80)
    target[:3] = source[:3]
    edges = Pairs(source, target) if joined in ("concepts", "both") else Pairs()
    arcs = Pairs(np.arange(20), np.arange(1, 21)) if joined in ("memories", "both") else Pairs()
    # Eighths add up exactly in single precision, in whatever order.
    return mention_graph(memories, concepts, Pairs(memory, concept, rng.integers(1, 9, 200) / 8), edges, arcs)


def restart_for(graph: WalkGraph, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed + 1000)
    restart = np.zeros(graph.nodes)
    restart[rng.choice(graph.nodes, 10, replace=False)] = rng.random(10) + 0.01
    return restart


@pytest.mark.parametrize("damping", [0.0, *DAMPINGS, 0.99])
@pytest.mark.parametrize("joined", ["nothing", "concepts", "memories", "both"])
def test_agrees_with_prpack_within_any_tolerance(joined: str, damping: float) -> None:
    graph = random_graph(1, joined)
    assert graph.dangling.any()
    restart, matrix = restart_for(graph, 1), graph.matrix.tocoo()
    peer = igraph.Graph(n=graph.nodes, edges=list(zip(*map(list, matrix.coords), strict=True)), directed=True)
    reset, weights = restart.tolist(), matrix.data.tolist()
    exact = peer.personalized_pagerank(reset=reset, damping=damping, weights=weights, implementation="prpack")
    for tolerance in (1e-3, 1e-4, 1e-7):
        # PRPACK itself stops at 1e-10 a node.
        found = pagerank(graph, restart, damping=damping, tolerance=tolerance)
        assert np.abs(found - exact).sum() <= tolerance + 1e-8


@settings(max_examples=40, deadline=None)
@given(
    edges=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 5)), max_size=30),
    restart=st.lists(st.floats(0, 10), min_size=10, max_size=10).filter(lambda r: sum(r) > 1e-3),
    damping=st.sampled_from([0.2, 0.5, 0.85]),
    memories=st.integers(0, 10),
)
def test_any_graph_sums_to_one_and_satisfies_the_equation(edges, restart, damping, memories) -> None:
    source, target, weight = zip(*edges, strict=True) if edges else ((), (), ())
    graph = edge_graph(10, source, target, weight, memories=memories)
    dense = graph.matrix.toarray().astype(float)
    start = np.array(restart) / np.sum(restart)
    dense[graph.dangling] = start
    transition = dense / dense.sum(axis=1, keepdims=True)
    exact = np.linalg.solve(np.eye(10) - damping * transition.T, (1 - damping) * start)
    assert np.abs(pagerank(graph, restart, damping=damping) - exact).sum() <= 1e-5


@pytest.mark.parametrize("columns", [3, 40])
def test_columns_together_are_columns_alone(columns: int) -> None:
    graph = random_graph(7)
    restarts = np.stack([restart_for(graph, seed) for seed in range(columns)], axis=1)
    restarts[:, 1] = 0
    together = pagerank(graph, restarts)
    assert together.shape == restarts.shape and not together[:, 1].any()
    alone = np.stack([pagerank(graph, column) for column in restarts.T], axis=1)
    assert np.abs(together - alone).sum(axis=0).max() <= 2e-5


@pytest.mark.parametrize("damping", DAMPINGS)
@pytest.mark.parametrize("leaves", [1, 7, 3_000, 10_000])
def test_a_stars_centre_is_known(leaves: int, damping: float) -> None:
    """Every other step is at the centre: from it, it holds 1 / (1 + damping). Wide hubs need double precision."""
    star = edge_graph(leaves + 1, np.zeros(leaves, int), np.arange(1, leaves + 1))
    for tolerance in (1e-4, 1e-6):
        scores = pagerank(star, np.eye(leaves + 1, 2), damping=damping, tolerance=tolerance)
        assert scores[0] == pytest.approx([1 / (1 + damping), damping / (1 + damping)], abs=tolerance)
        assert np.abs(scores[1:, 0] - damping / (1 + damping) / leaves).sum() <= tolerance


def test_walks_without_arcs_stay_where_they_start_and_no_seed_is_no_walk() -> None:
    assert np.allclose(pagerank(edge_graph(4, [], []), [0, 1, 0, 3]), [0, 0.25, 0, 0.75])
    assert pagerank(edge_graph(0, [], []), np.zeros(0)).shape == (0,)
    both = pagerank(mention_graph(3, 2, Pairs([0, 1], [0, 0])), [0, 0, 0, 1, 1])
    assert both.sum() == pytest.approx(1) and both[4] == pytest.approx(0.5 * 0.5 / 0.75)
    assert not pagerank(edge_graph(3, [0], [1]), [0, 0, 0]).any()
    assert pagerank(edge_graph(3, [0], [1]), np.zeros((3, 0))).shape == (3, 0)


@pytest.mark.parametrize(
    "arguments",
    [{"restarts": wrong} for wrong in ([1, 0], [1, 0, -1], [1, 0, np.nan], [1, 0, np.inf])]
    + [{"damping": 1.0}, {"damping": np.nan}, {"tolerance": 0.0}],
)
def test_wrong_arguments_are_refused(arguments) -> None:
    with pytest.raises(HopgateError, match=r"finite|below 1"):
        pagerank(edge_graph(3, [0, 1], [1, 2], [0.1, 0.7]), **{"restarts": [1, 0, 0], **arguments})


EDGES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(0, 3)), max_size=25)


@settings(max_examples=50, deadline=None)
@given(EDGES)
def test_a_graph_of_edges_is_their_dense_sum_and_cannot_be_written(edges: list[tuple[int, int, int]]) -> None:
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
    with pytest.raises(ValueError, match="read-only"):
        graph.weights[:] = 1


def test_mentions_come_in_two_kinds_of_node() -> None:
    graph = mention_graph(3, 2, Pairs([0, 1], [0, 1], [0.5, 2.0]), edges=Pairs([0], [1], [4.0]))
    assert (graph.memories, graph.concepts, graph.nodes) == (3, 2, 5)
    assert (graph.matrix[0, 3], graph.matrix[4, 3]) == (0.5, 4.0)
    assert graph.dangling.tolist() == [False, False, True, False, False]
