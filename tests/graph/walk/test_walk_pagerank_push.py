"""Local push, with NumPy and compiled, against whole solutions."""

from __future__ import annotations

import numpy as np
import pytest

from hopgate.graph.walk.pagerank import compiled, pagerank, solve, warm
from hopgate.graph.walk.pagerank.push import numpy_stage, push
from hopgate.graph.walk.walk_graph import WalkGraph, edge_graph, mention_graph

NUMPY, NUMBA = "numpy", "numba"


@pytest.fixture(params=[NUMPY, NUMBA])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == NUMPY:
        monkeypatch.setattr(compiled, "_ready", [])
    else:
        pytest.importorskip("numba")
        assert warm()
    return str(request.param)


@pytest.fixture(scope="module")
def graph() -> WalkGraph:
    rng = np.random.default_rng(0)
    concept = np.minimum((rng.pareto(1.2, 30_000) * 50).astype(int), 3_999)
    return mention_graph(
        3_000,
        4_000,
        rng.integers(0, 2_900, 30_000),
        concept,
        rng.random(30_000) + 0.5,
        source=rng.integers(0, 4_000, 5_000),
        target=rng.integers(0, 4_000, 5_000),
    )


@pytest.mark.parametrize("damping", [0.5, 0.85])
def test_top_of_the_ranking_is_right(graph, engine, damping, monkeypatch) -> None:
    monkeypatch.setattr(solve, "PUSH_NODES", 0)
    monkeypatch.setattr(solve, "PUSH_BUDGET", 1000)
    rng = np.random.default_rng(1)
    for correction in (0.0, 0.5):
        shares = []
        for _ in range(5):
            seeds = rng.choice(np.flatnonzero(~graph.dangling[3000:]) + 3000, 10, replace=False)
            restart = dict.fromkeys(seeds.tolist(), 1.0)
            options = {"damping": damping, "degree_correction": correction}
            exact = pagerank(graph, restart, **options)
            near = pagerank(graph, restart, top=100, **options)
            assert near.dtype == np.float32
            first, second = (set(np.argsort(-scores, kind="stable")[:100].tolist()) for scores in (exact, near))
            shares.append(len(first & second) / 100)
        assert np.mean(shares) >= 0.97


def test_one_stage_keeps_its_promises(graph, engine) -> None:
    """Mass is conserved, scores are never exceeded, and no node lacks more than epsilon times its strength."""
    stage = compiled.stage() or numpy_stage
    seeds = np.array([3001, 3005, 3100])
    settled, walking = np.zeros(graph.nodes, np.float32), np.zeros(graph.nodes, np.float32)
    walking[seeds] = 1 / 3
    epsilon = 1e-5
    touched, walked = stage(graph, settled, walking, seeds, 0.5, epsilon, 10**9)
    exact = pagerank(graph, dict.fromkeys(seeds.tolist(), 1.0), tolerance=1e-10)
    assert walked > 0
    assert settled.sum() + walking.sum() == pytest.approx(1, abs=1e-4)
    assert (walking <= epsilon * graph.divisor * 1.001).all()
    lacking = exact - settled
    assert (lacking >= -1e-6).all()
    assert (lacking <= epsilon * graph.divisor + 1e-6).all()
    assert set(np.flatnonzero(settled + walking)) <= set(touched.tolist())
    assert len(touched) == len(set(touched.tolist()))


def test_a_small_component_is_solved_wholly(engine) -> None:
    graph = edge_graph(8, [0, 1, 4], [1, 2, 5])
    scores = push(graph, np.array([0]), np.array([1], np.float32), 0.5, 100)
    assert scores is not None
    assert np.allclose(scores, pagerank(graph, {0: 1}), atol=1e-5)


def test_a_budget_that_does_not_suffice_says_so(graph, engine) -> None:
    mass = np.array([1], np.float32)
    assert push(graph, np.array([3001]), mass, 0.5, 100, budget=10) is None


def test_a_hub_of_ten_thousand(engine, monkeypatch) -> None:
    monkeypatch.setattr(solve, "PUSH_NODES", 0)
    monkeypatch.setattr(solve, "PUSH_BUDGET", 1000)
    star = edge_graph(10_001, np.zeros(10_000, int), np.arange(1, 10_001))
    scores = pagerank(star, {1: 1.0}, top=2)
    assert np.argsort(-scores, kind="stable")[:2].tolist() == [1, 0]
    # From a leaf: (1 - d) and its even returns through the hub.
    assert scores[1] == pytest.approx(0.5, abs=1e-3)


def test_batches_are_pushed_column_by_column(graph, engine, monkeypatch) -> None:
    monkeypatch.setattr(solve, "PUSH_NODES", 0)
    monkeypatch.setattr(solve, "PUSH_BUDGET", 1000)
    restart = np.zeros((graph.nodes, 2))
    restart[3001, 0] = restart[3100, 1] = 1
    assert pagerank(graph, restart[:, :0], top=20).shape == (graph.nodes, 0)
    assert pagerank(graph, restart[:, :1], top=20).shape == (graph.nodes, 1)
    together = pagerank(graph, restart, top=20)
    assert together.shape == restart.shape
    assert together.dtype == np.float32
    for column in range(2):
        assert np.array_equal(together[:, column], pagerank(graph, restart[:, column], top=20))


def test_without_numba_warm_says_no(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setattr(compiled, "_ready", [])
    monkeypatch.setitem(sys.modules, "numba", None)
    assert not warm()
    assert compiled.stage() is None


def test_a_cache_that_cannot_be_written_is_no_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    numba = pytest.importorskip("numba")
    plain = numba.njit

    def refusing(*arguments, cache: bool = False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return plain(*arguments, **options)

    monkeypatch.setattr(compiled, "_ready", [])
    monkeypatch.setattr(numba, "njit", refusing)
    assert warm()
    assert compiled.stage() is not None
