"""Walks near the seeds against whole solutions, with the loop as it is written and as it is compiled."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hopgate.graph.walk import pagerank as module
from hopgate.graph.walk.config import Walk
from hopgate.graph.walk.pagerank import near_walks, pagerank, push_stage, warm
from hopgate.graph.walk.rank import source_walks
from hopgate.graph.walk.seeds import NearFact, starts
from hopgate.graph.walk.walk_graph import Pairs, WalkGraph, mention_graph, top_k


@pytest.fixture(params=["plain", "compiled"])
def stage(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.setattr(module, "PUSH_ARCS", 0)
    if request.param == "plain":
        monkeypatch.setattr(module, "_compiled", [push_stage])
    else:
        pytest.importorskip("numba")
        assert warm()
    return module._compiled[0]


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


def test_the_first_memories_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    assert warm()
    monkeypatch.setattr(module, "PUSH_ARCS", 0)
    graph = some_graph(20_000, 10_000, 60_000)
    rng = np.random.default_rng(2)
    restarts = np.zeros((graph.nodes, 10))
    for column in restarts.T:
        column[rng.choice(np.flatnonzero(~graph.dangling), 4, replace=False)] = 0.25
    columns = [column for column in near_walks(graph, restarts, damping=0.5, top=50) if column is not None]
    assert len(columns) == 10
    near = np.stack(columns, axis=1)
    exact = pagerank(graph, restarts, damping=0.5, tolerance=1e-8)
    firsts = [[set(top_k(column[:20_000], 50).tolist()) for column in scores.T] for scores in (near, exact)]
    shares = [len(one & other) / 50 for one, other in zip(*firsts, strict=True)]
    assert np.mean(shares) >= 0.99 and min(shares) >= 0.96


def test_one_stage_keeps_its_promises(stage: Callable[..., Any]) -> None:
    """Mass is conserved, scores are never exceeded, and no node lacks more than epsilon times its strength."""
    graph, damping, epsilon = some_graph(100, 200, 600), 0.5, 1e-4
    restart = np.zeros(graph.nodes)
    restart[np.flatnonzero(~graph.dangling)[-3:]] = 1 / 3
    settled, walking = np.zeros(graph.nodes, np.float32), restart.astype(np.float32)
    reached = np.zeros(graph.nodes, np.int64)
    reached[:3] = np.flatnonzero(restart)
    arrays = graph.indptr, graph.indices, graph.weights, graph.divisor.astype(np.float32)
    count, walked = stage(arrays, (settled, walking, reached), 3, np.float32(damping), np.float32(epsilon), 10**9)
    touched = reached[:count].tolist()
    assert walked > 0 and len(touched) == len(set(touched))
    assert settled.sum() + walking.sum() == pytest.approx(1, abs=1e-4)
    assert (walking <= epsilon * graph.divisor * 1.001).all()
    lacking = pagerank(graph, restart, damping=damping, tolerance=1e-10) - settled
    assert (lacking >= -1e-6).all() and (lacking <= epsilon * graph.divisor + 1e-6).all()
    assert set(np.flatnonzero(settled + walking)) <= set(touched)


def test_the_leg_walks_the_same_near_and_whole(stage: Callable[..., Any]) -> None:
    graph = some_graph(400, 600, 1500)
    begun = starts(graph, memories={0: 0.4, 3: 0.3}, names=[1, 5], facts=[NearFact(2, 3, 0.8), NearFact(7, 9, 0.7)])
    for walk in (Walk(depth=5), Walk(depth=5, degree_correction=0.5)):
        whole = source_walks(graph, begun, walk)
        assert np.abs(source_walks(graph, begun, walk, near=True) - whole).max() <= 1e-2


def test_a_small_graph_and_a_far_walk_are_left_to_the_solver(
    stage: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = some_graph(40, 60, 150)
    restarts = np.eye(graph.nodes, 2)
    assert near_walks(graph, restarts, damping=0.99, top=30) == [None, None]
    monkeypatch.setattr(module, "PUSH_ARCS", graph.arcs + 1)
    assert near_walks(graph, restarts, damping=0.1, top=1) == [None, None]


def test_a_process_that_walks_again_and_again_compiles_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []
    monkeypatch.setattr(module, "PUSH_ARCS", 0)
    monkeypatch.setattr(module, "_compiled", [])
    monkeypatch.setattr(module, "_asked", [])
    with monkeypatch.context() as patched:
        patched.setattr(module, "warm", lambda: called.append(threading.current_thread().name))
        graph = some_graph(40, 60, 150)
        for walks in range(1, 6):
            assert near_walks(graph, np.eye(graph.nodes, 2), damping=0.8, top=1) == [None, None]
            for thread in threading.enumerate():
                if thread.name == "hopgate-compile":
                    thread.join()
            assert called == ["hopgate-compile"] * (walks > module.WARM_AFTER)
    monkeypatch.setitem(sys.modules, "numba", None)
    assert not warm() and module._compiled == []
