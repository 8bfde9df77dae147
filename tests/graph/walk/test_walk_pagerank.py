"""PageRank against the equation, and walks near their seeds against whole ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.graph.walk import pagerank as module
from hopgate.graph.walk.pagerank import near_walks, pagerank
from hopgate.graph.walk.walk_graph import Pairs, WalkGraph, edge_graph, mention_graph, top_k


@settings(max_examples=40, deadline=None)
@given(
    edges=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 5)), max_size=30),
    restart=st.lists(st.floats(0, 10), min_size=10, max_size=10).filter(lambda r: sum(r) > 1e-3),
    damping=st.sampled_from([0.2, 0.5, 0.85]),
    memories=st.integers(0, 10),
)
def test_any_graph_sums_to_one_and_satisfies_the_equation(edges, restart, damping, memories):
    source, target, weight = zip(*edges, strict=True) if edges else ((), (), ())
    graph = edge_graph(10, source, target, weight, memories=memories)
    dense = graph.matrix.toarray().astype(float)
    start = np.array(restart) / np.sum(restart)
    dense[graph.dangling] = start
    transition = dense / dense.sum(axis=1, keepdims=True)
    exact = np.linalg.solve(np.eye(10) - damping * transition.T, (1 - damping) * start)
    assert np.abs(pagerank(graph, restart, damping=damping) - exact).sum() <= 1e-5
    with pytest.raises(ValueError, match="read-only"):
        graph.weights[:] = 1


def test_walks_without_arcs_stay_where_they_start_and_no_seed_is_no_walk():
    assert np.allclose(pagerank(edge_graph(4, [], []), [0, 1, 0, 3]), [0, 0.25, 0, 0.75])
    assert pagerank(edge_graph(0, [], []), np.zeros(0)).shape == (0,)
    both = pagerank(mention_graph(3, 2, Pairs([0, 1], [0, 0])), [0, 0, 0, 1, 1])
    assert both.sum() == pytest.approx(1) and both[4] == pytest.approx(0.5 * 0.5 / 0.75)
    assert not pagerank(edge_graph(3, [0], [1]), [0, 0, 0]).any()


@pytest.mark.parametrize(
    "arguments",
    [{"restart": wrong} for wrong in ([1, 0], [1, 0, -1], [1, 0, np.nan], [1, 0, np.inf])]
    + [{"damping": 1.0}, {"damping": np.nan}, {"tolerance": 0.0}],
)
def test_wrong_arguments_are_refused(arguments):
    with pytest.raises(HopgateError, match=r"finite|below 1"):
        pagerank(edge_graph(3, [0, 1], [1, 2], [0.1, 0.7]), **{"restart": [1, 0, 0], **arguments})


# Walks near the seeds against whole solutions.


def some_graph(memories: int, concepts: int, mentions: int) -> WalkGraph:
    """Hubs, weights, edges between concepts and arcs between memories."""
    rng = np.random.default_rng(0)
    return mention_graph(
        memories,
        concepts,
        Pairs(
            rng.integers(0, memories - 9, mentions),
            np.minimum((rng.pareto(1.2, mentions) * 50).astype(int), concepts - 1),
            rng.random(mentions) + 0.5,
        ),
        edges=Pairs(rng.integers(0, concepts, concepts), rng.integers(0, concepts, concepts)),
        neighbours=Pairs(np.arange(memories - 10), np.arange(1, memories - 9)),
    )


def test_the_first_memories_are_right_and_all_mass_is_somewhere(monkeypatch):
    monkeypatch.setattr(module, "PUSH_ARCS", 0)
    monkeypatch.setattr(module, "BUDGET", 10)
    graph = some_graph(20_000, 10_000, 60_000)
    rng = np.random.default_rng(2)
    restarts = np.zeros((graph.nodes, 10))
    for column in restarts.T:
        column[rng.choice(np.flatnonzero(~graph.dangling), 4, replace=False)] = 0.25
    columns = [near_walks(graph, column, damping=0.5, top=50) for column in restarts.T]
    exact = [pagerank(graph, column, damping=0.5, tolerance=1e-8) for column in restarts.T]
    shares = []
    for near, whole in zip(columns, exact, strict=True):
        assert near is not None and near.sum() == pytest.approx(1, abs=1e-4)
        first, right = (set(top_k(column[:20_000], 50).tolist()) for column in (near, whole))
        shares.append(len(first & right) / 50)
    assert np.mean(shares) >= 0.99 and min(shares) >= 0.96


def test_a_small_graph_and_a_far_walk_are_left_to_the_solver(monkeypatch):
    graph = some_graph(40, 60, 150)
    restart = np.eye(1, graph.nodes)[0]
    assert near_walks(graph, restart, damping=0.1, top=1) is None
    monkeypatch.setattr(module, "PUSH_ARCS", 0)
    assert near_walks(graph, restart, damping=0.99, top=30) is None
