"""Communities are a partition, are connected, find what was planted, and are the same for the same seed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from hopgate.graph.communities.concept_weights import concept_weights
from hopgate.graph.communities.leiden import by_size, leiden, modularity
from hopgate.graph.communities.levels import MOST_LEVELS, agreement_of, find_levels
from hopgate.graph.communities.stable_ids import matched


@st.composite
def graphs(draw: st.DrawFn) -> csr_array:
    count = draw(st.integers(1, 14))
    pairs = draw(
        st.lists(
            st.tuples(st.integers(0, count - 1), st.integers(0, count - 1), st.sampled_from([0.25, 1.0, 1.0, 3.0])),
            max_size=40,
        )
    )
    found = np.zeros((count, count))
    for one, other, weight in pairs:
        if one != other:
            found[one, other] = found[other, one] = weight
    return csr_array(found)


def planted(groups: int, size: int, *, inside: float = 0.6, between: float = 0.02, seed: int = 0) -> csr_array:
    """A graph with known groups: pairs inside one are joined more often than pairs between two."""
    random = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups), size)
    chance = np.where(group[:, None] == group[None, :], inside, between)
    joined = np.triu(random.random(chance.shape) < chance, 1).astype(float)
    return csr_array(joined + joined.T)


@settings(max_examples=150, deadline=None)
@given(graphs(), st.sampled_from([0.3, 1.0, 2.5]), st.integers(0, 3))
def test_every_node_is_in_one_connected_community(weights: csr_array, resolution: float, seed: int) -> None:
    labels = leiden(weights, resolution=resolution, seed=seed)
    assert labels.shape == (weights.shape[0],)
    sizes = np.bincount(labels)
    assert sizes.sum() == weights.shape[0] and (sizes > 0).all()
    assert (np.diff(sizes) <= 0).all()
    for community in range(len(sizes)):
        members = np.flatnonzero(labels == community)
        assert connected_components(weights[members][:, members], directed=False)[0] == 1


@settings(max_examples=100, deadline=None)
@given(graphs(), st.integers(0, 3))
def test_it_is_deterministic_and_no_worse_than_all_alone_or_all_together(weights: csr_array, seed: int) -> None:
    labels = leiden(weights, seed=seed)
    assert (labels == leiden(weights, seed=seed)).all()
    alone = np.arange(weights.shape[0])
    together = connected_components(weights, directed=False)[1].astype(np.int64)
    score = modularity(weights, labels)
    assert score >= modularity(weights, alone) - 1e-9
    assert score >= modularity(weights, np.zeros_like(alone)) - 1e-9
    # Components are never joined.
    assert len(set(zip(labels.tolist(), together.tolist(), strict=True))) == len(set(labels.tolist()))


@pytest.mark.parametrize("seed", range(3))
def test_planted_groups_are_found(seed: int) -> None:
    weights = planted(6, 20, seed=seed)
    (level, *_) = find_levels(weights)
    assert agreement_of(level.labels, np.repeat(np.arange(6), 20)) == 1.0
    assert level.stability == 1.0
    assert level.modularity > 0.6


def test_two_cliques_with_a_bridge_have_the_modularity_of_the_book() -> None:
    """Two triangles joined by an edge: Q = 6/7 - 1/2 (Newman, Networks, 2010)."""
    found = np.zeros((6, 6))
    for one, other in ((0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3)):
        found[one, other] = found[other, one] = 1
    weights = csr_array(found)
    labels = leiden(weights)
    assert labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert modularity(weights, labels) == pytest.approx(6 / 7 - 1 / 2)


def test_levels_are_nested_and_a_higher_resolution_gives_more() -> None:
    """Groups of groups: the outer ones first, the inner ones one level down."""
    random = np.random.default_rng(1)
    inner = np.repeat(np.arange(16), 14)
    outer = inner // 4
    chance = np.where(inner[:, None] == inner[None, :], 0.8, np.where(outer[:, None] == outer[None, :], 0.25, 0.004))
    joined = np.triu(random.random(chance.shape) < chance, 1).astype(float)
    weights = csr_array(joined + joined.T)
    levels = find_levels(weights)
    assert agreement_of(levels[0].labels, outer) == 1.0
    assert agreement_of(levels[1].labels, inner) > 0.95
    assert 2 <= len(levels) <= MOST_LEVELS
    for above, below in itertools.pairwise(levels):
        pairs = set(zip(below.labels.tolist(), above.labels.tolist(), strict=True))
        assert len(pairs) == len(set(below.labels.tolist()))
    assert find_levels(weights, resolution=8)[0].labels.max() > levels[0].labels.max()


def test_no_graph_is_every_node_alone() -> None:
    (level,) = find_levels(csr_array((3, 3)))
    assert level.labels.tolist() == [0, 1, 2] and level.modularity == 0 and level.stability == 1
    (nothing,) = find_levels(csr_array((0, 0)))
    assert nothing.labels.tolist() == []


def test_a_long_memory_weighs_as_much_as_a_short_one() -> None:
    none = np.array([], int)
    memory, concept = np.array([1, 1, 2, 2, 2]), np.array([0, 1, 2, 3, 4])
    weights = concept_weights(5, memory, concept, none, none, np.array([])).toarray()
    assert weights.sum(axis=1).tolist() == [1, 1, 1, 1, 1]
    edges = concept_weights(2, none, none, np.array([0, 1, 1]), np.array([1, 0, 1]), np.array([2.0, 1.0, 9.0]))
    assert edges.toarray().tolist() == [[0, 3], [3, 0]]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=20))
def test_numbers_by_size_keep_the_partition(labels: list[int]) -> None:
    found = by_size(np.array(labels))
    assert agreement_of(found, np.array(labels)) == 1.0
    assert (np.diff(np.bincount(found)) <= 0).all()


@given(st.lists(st.sets(st.integers(0, 30), min_size=1), max_size=6), st.randoms())
def test_what_did_not_change_keeps_its_id(groups: list[set[int]], random: object) -> None:
    seen: set[int] = set()
    apart = [own for group in groups if (own := group - seen) and not seen.update(group)]
    before = {10 + at: own for at, own in enumerate(apart)}
    shuffled = list(before.items())
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert matched(before, [own for _, own in shuffled]) == [key for key, _ in shuffled]


def test_a_split_keeps_the_id_in_its_larger_half_and_strangers_get_none() -> None:
    before = {1: {1, 2, 3, 4, 5}, 2: {6, 7}}
    assert matched(before, [{1, 2}, {3, 4, 5}, {6, 7, 8}, {9}]) == [None, 1, 2, None]
    assert matched(before, [{1, 6, *range(20, 40)}]) == [None]
