"""PageRank against closed forms, against plain power iteration and against igraph's PRPACK."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import igraph
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.graph.walk.pagerank import pagerank
from hopgate.graph.walk.walk_graph import Pairs, WalkGraph, edge_graph, mention_graph

DAMPINGS = (0.5, 0.85)


def power_iteration(graph: WalkGraph, restart: np.ndarray, damping: float) -> np.ndarray:
    """The oracle: a walk's steps added up, until what still walks is nothing."""
    start = np.asarray(restart, float) / np.sum(restart)
    walking, total = (1 - damping) * start, np.zeros(graph.nodes)
    while walking.sum() > 1e-14:
        total += walking
        stuck = walking[graph.dangling].sum()
        walking = damping * (graph.matrix.astype(float) @ (walking / graph.divisor) + stuck * start)
    return total


def prpack(graph: WalkGraph, restart: np.ndarray, damping: float) -> np.ndarray:
    matrix = graph.matrix.tocoo()
    peer = igraph.Graph(n=graph.nodes, edges=list(zip(*map(list, matrix.coords), strict=True)), directed=True)
    return np.array(
        peer.personalized_pagerank(
            reset=restart.tolist(), damping=damping, weights=matrix.data.tolist(), implementation="prpack"
        )
    )


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


@pytest.mark.parametrize("damping", [0.0, 0.1, *DAMPINGS, 0.99])
@pytest.mark.parametrize("joined", ["nothing", "concepts", "memories", "both"])
def test_agrees_with_power_iteration_whichever_half_is_eliminated(joined: str, damping: float) -> None:
    for seed in range(3):
        graph = random_graph(seed, joined)
        restart = restart_for(graph, seed)
        exact = power_iteration(graph, restart, damping)
        for tolerance in (1e-3, 1e-4, 1e-5, 1e-9):
            assert np.abs(pagerank(graph, restart, damping=damping, tolerance=tolerance) - exact).sum() <= tolerance


@pytest.mark.parametrize("damping", DAMPINGS)
@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_prpack(seed: int, damping: float) -> None:
    graph = random_graph(seed)
    assert graph.dangling.any()
    restart = restart_for(graph, seed)
    # PRPACK itself stops at 1e-10 a node.
    assert np.abs(pagerank(graph, restart, damping=damping) - prpack(graph, restart, damping)).sum() <= 1e-5 + 1e-8


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


@pytest.mark.parametrize("damping", DAMPINGS)
@pytest.mark.parametrize(("leaves", "kind"), [(10_000, np.float32), (10_001, np.float64)])
def test_a_loose_tolerance_is_kept_in_single_precision_but_for_wide_hubs(leaves: int, kind, damping: float) -> None:
    star = edge_graph(leaves + 1, np.zeros(leaves, int), np.arange(1, leaves + 1))
    restart = np.random.default_rng(0).random(leaves + 1)
    scores = pagerank(star, restart, damping=damping, tolerance=1e-4)
    assert scores.dtype == kind
    assert np.abs(scores - pagerank(star, restart, damping=damping, tolerance=1e-10)).sum() <= 1e-4


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
def test_a_cycle_is_uniform_when_started_everywhere(damping: float) -> None:
    cycle = edge_graph(50, np.arange(50), (np.arange(50) + 1) % 50)
    assert np.allclose(pagerank(cycle, np.ones(50), damping=damping), 1 / 50, atol=1e-6)


@pytest.mark.parametrize("damping", DAMPINGS)
@pytest.mark.parametrize("leaves", [1, 7, 10_000])
def test_a_stars_centre_is_known(leaves: int, damping: float) -> None:
    """Every other step is at the centre: from it, it holds 1 / (1 + damping). 10,000 leaves make it a hub."""
    star = edge_graph(leaves + 1, np.zeros(leaves, int), np.arange(1, leaves + 1))
    at = np.eye(leaves + 1, 2)
    scores = pagerank(star, at, damping=damping)
    assert scores[0] == pytest.approx([1 / (1 + damping), damping / (1 + damping)], abs=1e-5)
    assert np.allclose(scores[1:, 0], damping / (1 + damping) / leaves, atol=1e-5 / leaves)


def test_walks_without_arcs_stay_where_they_start() -> None:
    assert np.allclose(pagerank(edge_graph(4, [], []), [0, 1, 0, 3]), [0, 0.25, 0, 0.75])
    assert pagerank(edge_graph(0, [], []), np.zeros(0)).shape == (0,)
    graph = mention_graph(3, 2, Pairs([0, 1], [0, 0]))
    assert np.allclose(pagerank(graph, [0, 0, 0, 0, 1]), [0, 0, 0, 0, 1])
    both = pagerank(graph, [0, 0, 0, 1, 1])
    assert both.sum() == pytest.approx(1)
    assert both[4] == pytest.approx(0.5 * 0.5 / 0.75)


def test_nothing_seeds() -> None:
    assert not pagerank(edge_graph(3, [0], [1]), [0, 0, 0]).any()
    assert pagerank(edge_graph(3, [0], [1]), np.zeros((3, 0))).shape == (3, 0)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"restarts": [1, 0]}, "has 3 entries"),
        ({"restarts": [1, 0, -1]}, "not negative"),
        ({"restarts": [1, 0, np.nan]}, "finite"),
        ({"restarts": [1, 0, np.inf]}, "finite"),
        ({"damping": 1.0}, "below 1"),
        ({"damping": np.nan}, "below 1"),
        ({"tolerance": 0.0}, "above 0"),
    ],
)
def test_wrong_arguments_are_refused(arguments, reason: str) -> None:
    with pytest.raises(HopgateError, match=reason):
        pagerank(edge_graph(3, [0, 1], [1, 2], [0.1, 0.7]), **{"restarts": [1, 0, 0], **arguments})


def test_graphs_change_while_a_thousand_queries_run() -> None:
    """A rebuild replaces the graph; each query sees one graph or the other, whole."""

    def version(size: int) -> WalkGraph:
        return edge_graph(size, np.arange(size), (np.arange(size) + 1) % size)

    def scores(graph: WalkGraph, tolerance: float = 1e-5) -> np.ndarray:
        return pagerank(graph, np.eye(1, graph.nodes)[0], tolerance=tolerance)

    expected = {size: scores(version(size), 1e-10) for size in (50, 60, 70)}
    current = [version(50)]

    def query(number: int) -> bool:
        if number % 10 == 0:
            current[0] = version((50, 60, 70)[number // 10 % 3])
        graph = current[0]
        return bool(np.abs(scores(graph) - expected[graph.nodes]).sum() <= 1e-5)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(query, range(1000)))
