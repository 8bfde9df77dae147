"""Every path against closed forms and against igraph's PRPACK."""

from __future__ import annotations

import igraph
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.graph.walk.pagerank import pagerank
from hopgate.graph.walk.pagerank.conjugate_gradients import solve_undirected
from hopgate.graph.walk.pagerank.power_iteration import power_iteration
from hopgate.graph.walk.walk_graph import WalkGraph, edge_graph, mention_graph

DAMPINGS = (0.5, 0.85)


def prpack(graph: WalkGraph, restart: np.ndarray, damping: float) -> np.ndarray:
    matrix = graph.matrix.tocoo()
    peer = igraph.Graph(n=graph.nodes, edges=list(zip(*map(list, matrix.coords), strict=True)), directed=True)
    return np.array(
        peer.personalized_pagerank(
            reset=restart.tolist(), damping=damping, weights=matrix.data.tolist(), implementation="prpack"
        )
    )


def random_graph(seed: int, *, directed: bool = False, mentions_only: bool = False) -> WalkGraph:
    """Hubs, self-loops, isolated (undirected) or dangling (directed) nodes, parallel edges, several components."""
    rng = np.random.default_rng(seed)
    memories, concepts = 60, 90
    memory, concept = rng.integers(0, memories - 5, 200), np.minimum(rng.pareto(1.0, 200) * 3, concepts - 6).astype(int)
    weight = rng.random(200) + 0.1
    if mentions_only:
        return mention_graph(memories, concepts, memory, concept, weight)
    source, target = rng.integers(0, concepts - 5, 80), rng.integers(0, concepts - 5, 80)
    target[:3] = source[:3]
    if not directed:
        return mention_graph(memories, concepts, memory, concept, weight, source=source, target=target)
    ends = np.concatenate([memory, source + memories]), np.concatenate([concept + memories, target + memories])
    return edge_graph(memories + concepts, *ends, memories=memories, directed=True)


def restart_for(graph: WalkGraph, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed + 1000)
    restart = np.zeros(graph.nodes)
    restart[rng.choice(graph.nodes, 10, replace=False)] = rng.random(10) + 0.01
    return restart


@pytest.mark.parametrize("damping", DAMPINGS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("tolerance", [1e-5, 1e-9])
@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_prpack(seed: int, tolerance: float, directed: bool, damping: float) -> None:
    graph = random_graph(seed, directed=directed)
    assert graph.any_dangling
    restart = restart_for(graph, seed)
    scores = pagerank(graph, restart, damping=damping, tolerance=tolerance)
    # PRPACK itself stops at 1e-10 a node.
    assert np.abs(scores - prpack(graph, restart, damping)).sum() <= tolerance + 1e-8


@pytest.mark.parametrize("damping", [0.0, 0.1, 0.5, 0.85, 0.99])
@pytest.mark.parametrize("kind", ["memories apart", "both apart", "neither apart"])
def test_conjugate_gradients_agree_with_power_iteration(kind: str, damping: float) -> None:
    graph = random_graph(3, mentions_only=kind == "both apart")
    if kind == "neither apart":
        matrix = graph.matrix.tocoo()
        first, second = (np.append(ends, end) for ends, end in zip(matrix.coords, (0, 1), strict=True))
        graph = edge_graph(graph.nodes, first, second, memories=graph.memories)
    assert graph.apart == (kind != "neither apart", kind == "both apart")
    restart = restart_for(graph, 3) / restart_for(graph, 3).sum()
    exact = power_iteration(graph, restart, damping, 1e-12)
    for tolerance in (1e-3, 1e-5, 1e-9):
        scores = solve_undirected(graph, restart, damping, tolerance)
        assert scores is not None
        assert np.abs(scores - exact).sum() <= tolerance


@pytest.mark.parametrize("damping", [*DAMPINGS, 0.95])
@pytest.mark.parametrize("seed", range(4))
def test_single_precision_keeps_a_loose_tolerance(seed: int, damping: float) -> None:
    graph = random_graph(seed)
    connected = np.flatnonzero(~graph.dangling)
    restart = np.zeros(graph.nodes)
    restart[np.random.default_rng(seed).choice(connected, 10, replace=False)] = 1
    scores = pagerank(graph, restart, damping=damping, tolerance=1e-4)
    assert scores.dtype == np.float32
    assert np.abs(scores - pagerank(graph, restart, damping=damping, tolerance=1e-10)).sum() <= 1e-4


@pytest.mark.parametrize("damping", DAMPINGS)
@pytest.mark.parametrize(("leaves", "kind"), [(10_000, np.float32), (10_001, np.float64)])
def test_a_hub_too_wide_for_single_precision_gets_double(leaves: int, kind: type, damping: float) -> None:
    star = edge_graph(leaves + 1, np.zeros(leaves, int), np.arange(1, leaves + 1))
    restart = np.random.default_rng(0).random(leaves + 1)
    scores = pagerank(star, restart, damping=damping, tolerance=1e-4)
    assert scores.dtype == kind
    assert np.abs(scores - pagerank(star, restart, damping=damping, tolerance=1e-10)).sum() <= 1e-4


@pytest.mark.parametrize("directed", [False, True])
def test_a_batch_is_its_columns(directed: bool) -> None:
    graph = random_graph(7, directed=directed)
    restart = np.stack([restart_for(graph, seed) for seed in range(40)], axis=1)
    restart[:, 5] = 0
    together = pagerank(graph, restart)
    assert together.shape == restart.shape
    assert not together[:, 5].any()
    alone = np.stack([pagerank(graph, column) for column in restart.T], axis=1)
    assert np.abs(together - alone).sum(axis=0).max() <= 2e-5


@pytest.mark.parametrize("damping", DAMPINGS)
def test_cycle_is_uniform_when_started_everywhere(damping: float) -> None:
    n = 50
    for directed in (False, True):
        cycle = edge_graph(n, np.arange(n), (np.arange(n) + 1) % n, directed=directed)
        assert np.allclose(pagerank(cycle, np.ones(n), damping=damping), 1 / n, atol=1e-6)


def test_directed_cycle_from_one_seed_decays_by_the_damping() -> None:
    n, damping = 12, 0.7
    cycle = edge_graph(n, np.arange(n), (np.arange(n) + 1) % n, directed=True)
    expected = (1 - damping) * damping ** np.arange(n) / (1 - damping**n)
    assert np.allclose(pagerank(cycle, {0: 1}, damping=damping, tolerance=1e-10), expected, atol=1e-10)


@pytest.mark.parametrize("damping", DAMPINGS)
@pytest.mark.parametrize("leaves", [1, 7, 10_000])
def test_star_centre_is_known(leaves: int, damping: float) -> None:
    """Every other step is at the centre: from it, it holds 1 / (1 + damping). 10,000 leaves make it a hub."""
    star = edge_graph(leaves + 1, np.zeros(leaves, int), np.arange(1, leaves + 1))
    scores = pagerank(star, {0: 1}, damping=damping)
    assert scores[0] == pytest.approx(1 / (1 + damping), abs=1e-5)
    assert np.allclose(scores[1:], damping / (1 + damping) / leaves, atol=1e-5 / leaves)
    from_leaf = pagerank(star, {1: 1}, damping=damping)
    assert from_leaf[0] == pytest.approx(damping / (1 + damping), abs=1e-5)


@settings(max_examples=40, deadline=None)
@given(
    edges=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 5)), max_size=30),
    restart=st.lists(st.floats(0, 10), min_size=10, max_size=10).filter(lambda r: sum(r) > 1e-3),
    damping=st.sampled_from([0.2, 0.5, 0.85]),
    directed=st.booleans(),
    memories=st.integers(0, 10),
)
def test_any_graph_sums_to_one_and_satisfies_the_equation(edges, restart, damping, directed, memories) -> None:
    source, target, weight = zip(*edges, strict=True) if edges else ((), (), ())
    graph = edge_graph(10, source, target, weight, directed=directed, memories=memories)
    dense = graph.matrix.toarray().astype(float)
    start = np.array(restart) / np.sum(restart)
    dense[graph.dangling] = start
    transition = dense / dense.sum(axis=1, keepdims=True)
    exact = np.linalg.solve(np.eye(10) - damping * transition.T, (1 - damping) * start)
    assert np.abs(pagerank(graph, restart, damping=damping) - exact).sum() <= 1e-5
