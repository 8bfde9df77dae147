"""The likeness of PageRank and degree, and what the correction does to it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.graph.inspect.stats import degree_likeness
from hopgate.graph.walk.pagerank import pagerank
from hopgate.graph.walk.walk_graph import Pairs, WalkGraph, edge_graph, mention_graph, top_k


def hubs(seed: int = 0) -> WalkGraph:
    """Memories that differ a hundredfold in how much they mention."""
    rng = np.random.default_rng(seed)
    share = rng.pareto(1.0, 600) + 0.1
    memory = rng.choice(600, 12_000, p=share / share.sum())
    return mention_graph(600, 800, Pairs(memory, rng.integers(0, 800, 12_000)))


def test_correction_makes_unrelated_queries_less_alike() -> None:
    for damping in (0.5, 0.85):
        found = degree_likeness(hubs(), damping=damping, top=50)
        assert found.between_queries_corrected < found.between_queries
        assert found.with_degree_corrected < found.with_degree


def test_more_damping_is_more_like_degree() -> None:
    low, high = (degree_likeness(hubs(), damping=damping) for damping in (0.5, 0.85))
    assert low.between_queries < high.between_queries
    assert low.with_degree < high.with_degree


def test_full_correction_undoes_the_stationary_distribution() -> None:
    """Started in proportion to strength, the walk stays there, and dividing by strength leaves a constant."""
    graph = edge_graph(5, [0, 0, 0, 1], [1, 2, 3, 4], [1, 2, 3, 4])
    scores = pagerank(graph, graph.strength) / graph.strength
    assert np.allclose(scores, scores[0])


def test_is_seeded_and_prints_as_itself() -> None:
    first, second = degree_likeness(hubs()), degree_likeness(hubs())
    assert first == second
    assert repr(first).startswith("DegreeLikeness(damping=0.5, degree_correction=1.0, top=60")


def test_a_graph_without_edges_is_refused() -> None:
    with pytest.raises(HopgateError, match="two concepts"):
        degree_likeness(edge_graph(4, [], []))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3]), max_size=30), st.integers(1, 10))
def test_top_k_is_a_stable_sort(scores: list[float], top: int) -> None:
    expected = sorted((i for i, s in enumerate(scores) if s > 0), key=lambda i: (-scores[i], i))[:top]
    assert top_k(np.array(scores), top).tolist() == expected
