"""Agglomeration on sparse pairs: as scipy does it on dense ones, without chaining, cut anywhere."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage

from hopgate.graph.canonicalise.cluster import NEGLIGIBLE, agglomerate, cut
from hopgate.graph.canonicalise.score import Scored


def scored(matrix: np.ndarray) -> Scored:
    i, j = np.triu_indices(len(matrix), 1)
    return Scored(i, j, matrix[i, j].astype(np.float32), np.zeros((len(i), 8), np.float32))


def same_partition(first: np.ndarray, second: np.ndarray) -> bool:
    return (
        len(set(zip(first.tolist(), second.tolist(), strict=True)))
        == len(set(first.tolist()))
        == len(set(second.tolist()))
    )


@st.composite
def matrices(draw: st.DrawFn) -> np.ndarray:
    """Similarities that differ pairwise, as do their averages, so that no tie may be broken either way."""
    size = draw(st.integers(2, 9))
    pairs = size * (size - 1) // 2
    order = draw(st.permutations(range(pairs)))
    matrix = np.zeros((size, size))
    matrix[np.triu_indices(size, 1)] = NEGLIGIBLE + (1 - NEGLIGIBLE) * ((np.array(order) + 0.5) / pairs) ** 1.37
    return matrix + matrix.T


@settings(max_examples=80, deadline=None)
@given(matrices(), st.sampled_from(["average", "complete"]), st.floats(0.25, 0.95))
def test_it_is_scipys_linkage_where_all_pairs_are_known(matrix: np.ndarray, method: str, threshold: float) -> None:
    i, j = np.triu_indices(len(matrix), 1)
    tree = linkage(1 - matrix[i, j].astype(np.float32).astype(float), method)
    if np.abs(tree[:, 2] - (1 - threshold)).min() < 1e-5:
        return  # the threshold is on a merge: rounding decides
    expected = fcluster(tree, 1 - threshold, "distance")
    merges = agglomerate(scored(matrix), np.ones(len(matrix)), method)  # type: ignore[arg-type]
    assert same_partition(cut(merges, len(matrix), threshold), expected)


@settings(max_examples=80, deadline=None)
@given(matrices(), st.lists(st.floats(0.5, 50), min_size=9, max_size=9))
def test_scores_never_rise_so_a_higher_cut_refines_a_lower(matrix: np.ndarray, weights: list[float]) -> None:
    merges = agglomerate(scored(matrix), np.array(weights[: len(matrix)]))
    heights = [merge.score for merge in merges]
    assert all(low <= high + 1e-9 for high, low in pairwise(heights))
    fine, coarse = (cut(merges, len(matrix), threshold) for threshold in (0.7, 0.4))
    assert len(set(zip(fine.tolist(), coarse.tolist(), strict=True))) == len(set(fine.tolist()))


@pytest.mark.parametrize("linkage_name", ["average", "complete"])
def test_a_chain_does_not_become_one_cluster(linkage_name: str) -> None:
    count = 50
    at = np.arange(count - 1)
    chain = Scored(at, at + 1, np.full(count - 1, 0.9, np.float32), np.zeros((count - 1, 8), np.float32))
    labels = cut(agglomerate(chain, np.ones(count), linkage_name), count, 0.5)  # type: ignore[arg-type]
    assert np.bincount(labels).max() <= 2


def test_no_cluster_is_larger_than_the_cap() -> None:
    matrix = np.ones((20, 20))
    labels = cut(agglomerate(scored(matrix), np.ones(20), max_size=6), 20, 0.5)
    assert np.bincount(labels).max() <= 6


def test_labels_are_numbered_by_first_unit() -> None:
    assert cut([], 3, 0.5).tolist() == [0, 1, 2]


@settings(max_examples=60, deadline=None)
@given(matrices(), st.sampled_from(["average", "complete"]), st.floats(0.2, 0.95))
def test_what_is_joined_above_a_floor_does_not_depend_on_it(matrix: np.ndarray, method: str, floor: float) -> None:
    sparse = matrix * (matrix > 0.4)
    all_of_it = agglomerate(scored(sparse), np.ones(len(matrix)), method)  # type: ignore[arg-type]
    high = agglomerate(scored(sparse), np.ones(len(matrix)), method, floor)  # type: ignore[arg-type]
    assert high == [merge for merge in all_of_it if merge.score >= floor]
