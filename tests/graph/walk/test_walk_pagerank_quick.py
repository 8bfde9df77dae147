"""The walk that recall makes, over the whole graph and near the seeds, against whole solutions."""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np
import pytest

from hopgate.graph.walk.pagerank import compiled, pagerank, quick, quick_walks, warm
from hopgate.graph.walk.pagerank.kernels import push_stage, sweep
from hopgate.graph.walk.pagerank.push import push
from hopgate.graph.walk.rank import Walk, source_walks
from hopgate.graph.walk.seeds import NearFact, starts
from hopgate.graph.walk.top_k import top_k
from hopgate.graph.walk.walk_graph import WalkGraph, edge_graph, mention_graph

PLAIN = compiled.Kernels(sweep, push_stage)


@pytest.fixture(params=["plain", "compiled"])
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> compiled.Kernels:
    """The kernels as they are written, and as they are compiled."""
    if request.param == "plain":
        monkeypatch.setattr(compiled, "_ready", [PLAIN])
    else:
        pytest.importorskip("numba")
        assert warm()
    found = compiled.kernels()
    assert found is not None
    return found


def some_graph(memories: int, concepts: int, mentions: int, *, neighbours: bool = False) -> WalkGraph:
    """Hubs, weights, edges between concepts and, if asked for, arcs between memories."""
    rng = np.random.default_rng(0)
    concept = np.minimum((rng.pareto(1.2, mentions) * 50).astype(int), concepts - 1)
    return mention_graph(
        memories,
        concepts,
        rng.integers(0, memories - 9, mentions),
        concept,
        rng.random(mentions) + 0.5,
        source=rng.integers(0, concepts, concepts),
        target=rng.integers(0, concepts, concepts),
        first=np.arange(memories - 10) if neighbours else (),
        second=np.arange(1, memories - 9) if neighbours else (),
    )


def some_restarts(graph: WalkGraph) -> list[dict[int, float]]:
    nodes = np.flatnonzero(~graph.dangling)
    rng = np.random.default_rng(1)
    drawn = [rng.choice(nodes, count, replace=False).tolist() for count in (9, 1, 4)]
    return [dict.fromkeys(seeds, 1 / len(seeds)) for seeds in drawn]


def whole(graph: WalkGraph, restarts: list[dict[int, float]], damping: float) -> np.ndarray[Any, Any]:
    return np.stack([pagerank(graph, one, damping=damping, tolerance=1e-10) for one in restarts], axis=1)


@pytest.mark.parametrize("neighbours", [False, True])
@pytest.mark.parametrize("damping", [0.0, 0.5, 0.8])
def test_three_walks_at_once_keep_the_tolerance(kernels: object, damping: float, neighbours: bool) -> None:
    graph = some_graph(40, 60, 150, neighbours=neighbours)
    assert graph.apart[0] is not neighbours
    restarts = some_restarts(graph)
    for some in (restarts, restarts[:1], [restarts[0], {}]):
        found = quick_walks(graph, some, damping=damping, tolerance=1e-4)
        assert found is not None and found.shape == (graph.nodes, len(some))
        expected = whole(graph, [one for one in some if one], damping)
        assert np.abs(found[:, : expected.shape[1]] - expected).sum(axis=0).max() <= 1e-4
        assert not found[:, expected.shape[1] :].any()


def test_a_hub_of_ten_thousand_keeps_the_tolerance(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    assert warm()
    star = edge_graph(30_001, np.zeros(30_000, int), np.arange(1, 30_001), np.random.default_rng(0).random(30_000))
    restarts = [{1: 1.0}, {0: 0.5, 7: 0.5}]
    found = quick_walks(star, restarts, damping=0.8, tolerance=1e-4)
    assert found is not None
    assert np.abs(found - whole(star, restarts, 0.8)).sum(axis=0).max() <= 1e-4


def test_near_the_seeds_the_first_memories_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    assert warm()
    monkeypatch.setattr(quick, "PUSH_ARCS", 0)
    monkeypatch.setattr(quick, "PUSH_BUDGET", 1000)
    graph = some_graph(3_000, 4_000, 30_000)
    rng = np.random.default_rng(2)
    shares = []
    for _ in range(10):
        seeds = rng.choice(np.flatnonzero(~graph.dangling[3000:]) + 3000, 10, replace=False)
        restart = dict.fromkeys(seeds.tolist(), 0.1)
        near = quick_walks(graph, [restart], damping=0.8, tolerance=1e-4, top=50)
        assert near is not None
        exact = whole(graph, [restart], 0.8)
        first, second = (set(top_k(scores[:3000, 0], 50).tolist()) for scores in (near, exact))
        shares.append(len(first & second) / 50)
    assert np.mean(shares) >= 0.99 and min(shares) >= 0.96


def test_one_stage_keeps_its_promises(kernels: compiled.Kernels) -> None:
    """Mass is conserved, scores are never exceeded, and no node lacks more than epsilon times its strength."""
    graph, damping, epsilon = some_graph(100, 200, 600), 0.5, 1e-4
    seeds = np.flatnonzero(~graph.dangling)[-3:]
    settled, walking = np.zeros(graph.nodes, np.float32), np.zeros(graph.nodes, np.float32)
    walking[seeds] = 1 / 3
    reached = np.zeros(graph.nodes, np.int64)
    reached[:3] = seeds
    arrays = (graph.indptr, graph.indices, graph.weights, graph.light_divisor, settled, walking, reached)
    count, walked = kernels.push_stage(*arrays, 3, np.float32(damping), np.float32(epsilon), 10**9)
    touched = reached[:count].tolist()
    assert walked > 0 and len(touched) == len(set(touched))
    assert settled.sum() + walking.sum() == pytest.approx(1, abs=1e-4)
    assert (walking <= epsilon * graph.divisor * 1.001).all()
    lacking = pagerank(graph, dict.fromkeys(seeds.tolist(), 1.0), damping=damping, tolerance=1e-10) - settled
    assert (lacking >= -1e-6).all() and (lacking <= epsilon * graph.divisor + 1e-6).all()
    assert set(np.flatnonzero(settled + walking)) <= set(touched)


def test_a_small_component_is_solved_wholly(kernels: compiled.Kernels) -> None:
    graph = edge_graph(8, [0, 1, 4], [1, 2, 5], memories=8)
    scores = push(graph, np.array([0]), np.array([1], np.float32), 0.5, 100, stage=kernels.push_stage, budget=10**6)
    assert scores is not None
    assert np.allclose(scores, pagerank(graph, {0: 1}), atol=1e-5)


def test_a_push_over_its_budget_is_a_whole_solution(kernels: compiled.Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = some_graph(40, 60, 150)
    mass = np.array([1], np.float32)
    seed = np.flatnonzero(~graph.dangling)[:1]
    assert push(graph, seed, mass, 0.8, 10, stage=kernels.push_stage, budget=10) is None
    monkeypatch.setattr(quick, "PUSH_ARCS", 0)
    monkeypatch.setattr(quick, "PUSH_BUDGET", 0)
    restarts = some_restarts(graph)
    found = quick_walks(graph, restarts, damping=0.8, tolerance=1e-4, top=10)
    assert found is not None
    assert np.abs(found - whole(graph, restarts, 0.8)).sum(axis=0).max() <= 1e-4


def test_the_leg_walks_the_same_quickly_and_exactly(kernels: object, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = some_graph(40, 60, 150, neighbours=True)
    begun = starts(graph, memories={0: 0.4, 3: 0.3}, names=[1, 5], facts=[NearFact(2, 3, 0.8), NearFact(7, 9, 0.7)])
    exact = source_walks(graph, begun, Walk(tolerance=1e-8), exact=True)
    assert np.abs(source_walks(graph, begun) - exact).max() <= 1e-4
    corrected = Walk(degree_correction=0.5)
    assert (
        np.abs(source_walks(graph, begun, corrected) - source_walks(graph, begun, corrected, exact=True)).max() < 1e-4
    )
    monkeypatch.setattr(quick, "PUSH_ARCS", 0)
    monkeypatch.setattr(quick, "PUSH_BUDGET", 10**6)
    assert np.abs(source_walks(graph, begun, Walk(depth=5)) - exact).max() <= 1e-2
    assert np.abs(source_walks(graph, begun, Walk(depth=5), all_memories=True) - exact).max() <= 1e-4


def test_what_the_kernels_cannot_do_is_left_to_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "_ready", [PLAIN])
    directed = edge_graph(3, [0, 1], [1, 2], directed=True)
    assert quick_walks(directed, [{0: 1.0}], damping=0.8, tolerance=1e-4) is None
    graph = edge_graph(3, [0, 1], [1, 2])
    assert quick_walks(graph, [{0: 1.0}], damping=0.8, tolerance=1e-9) is None
    assert quick_walks(graph, [{0: 1.0}] * 5, damping=0.8, tolerance=1e-4) is None


@pytest.mark.parametrize("damping", [0.0, 0.8])
def test_a_first_walk_does_without_scipy(damping: float, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = some_graph(40, 60, 150, neighbours=True)
    restarts = some_restarts(graph)
    expected = whole(graph, restarts, damping)
    monkeypatch.setattr(quick, "kernels", lambda: None)
    assert quick_walks(graph, restarts, damping=damping, tolerance=1e-4) is None, "it is here, and quicker"
    monkeypatch.delitem(sys.modules, "scipy.sparse")
    found = quick_walks(graph, restarts, damping=damping, tolerance=1e-4)
    assert found is not None and "scipy.sparse" not in sys.modules
    assert np.abs(found - expected).sum(axis=0).max() <= 1e-4
    monkeypatch.setattr(quick, "FIRST_ARCS", graph.arcs - 1)
    assert quick_walks(graph, restarts, damping=damping, tolerance=1e-4) is None


def test_a_process_that_walks_again_and_again_compiles_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []
    monkeypatch.setattr(compiled, "warm", lambda: called.append(threading.current_thread().name))
    monkeypatch.setattr(compiled, "_ready", [])
    monkeypatch.setattr(compiled, "_walks", [])
    monkeypatch.setattr(compiled, "_started", threading.Event())
    monkeypatch.setattr(compiled, "WARM_AFTER", 2)
    for walks in range(5):
        assert compiled.kernels() is None
        for thread in threading.enumerate():
            if thread.name == "hopgate-compile":
                thread.join()
        assert called == ["hopgate-compile"] * (walks >= 2)


def test_without_numba_warm_says_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "_ready", [])
    monkeypatch.setitem(sys.modules, "numba", None)
    assert not warm()
    assert compiled._ready == []


def test_a_cache_that_cannot_be_written_is_no_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    numba = pytest.importorskip("numba")

    def refusing(cache: bool = False, **options: object) -> object:
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        # Compiling is not what this is about.
        return lambda function: function

    monkeypatch.setattr(compiled, "_ready", [])
    monkeypatch.setattr(numba, "njit", refusing)
    assert warm()
    assert compiled._ready == [PLAIN]
