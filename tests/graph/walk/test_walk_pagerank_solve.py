"""The checks of `pagerank`, its edge cases, its dangling policies, and threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from hopgate.errors import HopgateError
from hopgate.graph.walk.pagerank import pagerank
from hopgate.graph.walk.walk_graph import WalkGraph, edge_graph, mention_graph


def test_no_edges_at_all() -> None:
    for directed in (False, True):
        empty = edge_graph(4, [], [], directed=directed)
        assert np.allclose(pagerank(empty, [0, 1, 0, 3]), [0, 0.25, 0, 0.75])


def test_no_nodes_at_all() -> None:
    assert pagerank(edge_graph(0, [], []), np.zeros(0)).shape == (0,)


def test_a_seed_with_no_edges_keeps_its_mass() -> None:
    graph = mention_graph(3, 2, memory=[0, 1], concept=[0, 0])
    assert np.allclose(pagerank(graph, {4: 1.0}), [0, 0, 0, 0, 1])
    both = pagerank(graph, {4: 1.0, 3: 1.0})
    assert both.sum() == pytest.approx(1)
    assert both[4] == pytest.approx(0.5 * 0.5 / 0.75)


def test_nothing_seeds() -> None:
    assert not pagerank(edge_graph(3, [0], [1]), [0, 0, 0]).any()
    assert not pagerank(edge_graph(3, [0], [1], directed=True), {}).any()
    assert pagerank(edge_graph(3, [0], [1]), np.zeros((3, 0))).shape == (3, 0)


def test_dangling_policies_have_closed_forms() -> None:
    """One arc 0 → 1: a walk from 0 reaches 1 and is stuck there."""
    arc, damping = edge_graph(2, [0], [1], directed=True), 0.5
    stay = pagerank(arc, {0: 1}, damping=damping, dangling="stay", tolerance=1e-10)
    assert np.allclose(stay, [1 - damping, damping])
    restart = pagerank(arc, {0: 1}, damping=damping, dangling="restart", tolerance=1e-10)
    assert np.allclose(restart, [1 / (1 + damping), damping / (1 + damping)])
    # x0 = (1 - d) + d x1 / 2 and x1 = d x0 + d x1 / 2
    uniform = pagerank(arc, {0: 1}, damping=damping, dangling="uniform", tolerance=1e-10)
    assert np.allclose(uniform, [0.6, 0.4])


def test_dangling_policies_match_a_dense_solution() -> None:
    rng = np.random.default_rng(4)
    graph = edge_graph(30, rng.integers(0, 20, 60), rng.integers(0, 30, 60), directed=True)
    restart = rng.random((30, 3))
    start = restart / restart.sum(axis=0)
    for dangling in ("restart", "stay", "uniform"):
        scores = pagerank(graph, restart, damping=0.7, tolerance=1e-9, dangling=dangling)
        for column, expected in zip(scores.T, start.T, strict=True):
            dense = graph.matrix.toarray().astype(float)
            away = {"restart": expected, "stay": np.eye(30), "uniform": np.full(30, 1 / 30)}[dangling]
            dense[graph.dangling] = away[graph.dangling] if dangling == "stay" else away
            transition = dense / dense.sum(axis=1, keepdims=True)
            exact = np.linalg.solve(np.eye(30) - 0.7 * transition.T, 0.3 * expected)
            assert np.abs(column - exact).sum() <= 1e-9


def test_degree_correction_divides_by_a_power_of_strength() -> None:
    graph = edge_graph(4, [0, 0, 1], [1, 2, 2], [1, 2, 3])
    plain = pagerank(graph, {0: 1})
    assert np.allclose(pagerank(graph, {0: 1}, degree_correction=0.5), plain / graph.divisor**0.5)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"restart": [1, 0]}, "has 3 entries"),
        ({"restart": [1, 0, -1]}, "not negative"),
        ({"restart": [1, 0, np.nan]}, "finite"),
        ({"restart": [1, 0, np.inf]}, "finite"),
        ({"restart": {3: 1.0}}, "outside the graph's 3 nodes"),
        ({"damping": 1.0}, "below 1"),
        ({"damping": np.nan}, "below 1"),
        ({"tolerance": 0.0}, "above 0"),
        ({"dangling": "lost"}, "one of restart, stay, uniform"),
    ],
)
def test_wrong_arguments_are_refused(arguments, reason: str) -> None:
    with pytest.raises(HopgateError, match=reason):
        pagerank(edge_graph(3, [0], [1]), **{"restart": [1, 0, 0], **arguments})


def test_graphs_change_while_a_thousand_queries_run() -> None:
    """A rebuild replaces the graph; each query sees one graph or the other, whole."""

    def version(size: int) -> WalkGraph:
        return edge_graph(size, np.arange(size), (np.arange(size) + 1) % size)

    versions = [version(size) for size in (50, 60, 70)]
    expected = {graph.nodes: pagerank(graph, {0: 1}, tolerance=1e-10) for graph in map(version, (50, 60, 70))}
    current = [versions[0]]

    def query(number: int) -> bool:
        if number % 10 == 0:
            current[0] = version((50, 60, 70)[number // 10 % 3])
        graph = current[0]
        return bool(np.abs(pagerank(graph, {0: 1}) - expected[graph.nodes]).sum() <= 1e-5)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(query, range(1000)))
