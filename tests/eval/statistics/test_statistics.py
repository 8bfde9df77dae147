"""Statistics against scipy, closed forms and simulated nulls."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.eval.statistics import bca_interval, holm, queries_needed, randomisation_p, smallest_effect, spread


def differences(seed, n=40, shift=0.1):
    return np.random.default_rng(seed).normal(shift, 0.3, n)


@pytest.mark.parametrize("seed", range(4))
def test_randomisation_agrees_with_scipy(seed):
    from scipy import stats

    values = differences(seed)
    theirs = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(1)
    )
    assert randomisation_p(values, permutations=20_000) == pytest.approx(theirs.pvalue, abs=0.012)


def test_randomisation_agrees_with_full_enumeration():
    from scipy import stats

    values = differences(3, n=10)
    exact = stats.permutation_test((values,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
    assert randomisation_p(values, permutations=50_000) == pytest.approx(exact, abs=0.01)


def test_randomisation_is_seeded_never_zero_and_two_sided():
    values = np.full(60, 0.25)
    assert randomisation_p(values, permutations=999) == 1 / 1000
    assert randomisation_p(-values, permutations=999) == 1 / 1000
    noisy = differences(5)
    assert randomisation_p(noisy, seed=3) == randomisation_p(noisy, seed=3)
    assert randomisation_p(noisy, seed=3) != randomisation_p(noisy, seed=4)


def test_three_queries_can_never_be_significant():
    assert randomisation_p([1.0, 1.0, 1.0]) > 0.2


def test_equal_sums_added_in_another_order_still_count_as_extreme():
    # Every pattern with all signs alike gives the same |sum|: 2 of 2^6.
    assert randomisation_p([0.1, 0.2, 0.3, 0.4, 0.7, 1 / 3], permutations=40_000) == pytest.approx(2 / 64, abs=0.004)


@pytest.mark.parametrize("kind", ["normal", "recall-like"])
def test_the_false_positive_rate_is_what_it_says(kind):
    rng = np.random.default_rng(11)
    hits = 0
    trials = 400
    for trial in range(trials):
        # recall-like: most queries tie, the rest move by a half or a whole, as with two gold memories
        values = rng.normal(0, 0.3, 30) if kind == "normal" else rng.choice([-1, -0.5, 0, 0, 0, 0, 0.5, 1], 40)
        hits += randomisation_p(values, permutations=499, seed=trial) < 0.05
    # 400 trials at 0.05: mean 20, standard deviation 4.4.
    assert 6 <= hits <= 34


@pytest.mark.parametrize("seed", range(4))
def test_bca_agrees_with_scipy(seed):
    from scipy import stats

    values = np.random.default_rng(seed).exponential(0.2, 50) - 0.1
    theirs = stats.bootstrap(
        (values,), np.mean, method="BCa", n_resamples=20_000, rng=np.random.default_rng(1)
    ).confidence_interval
    assert bca_interval(values, resamples=20_000) == pytest.approx((theirs.low, theirs.high), abs=0.006)


def test_bca_covers_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(5)
    covered = 0
    for trial in range(300):
        low, high = bca_interval(rng.exponential(0.2, 60), resamples=600, seed=trial)
        covered += low <= 0.2 <= high
    # Nominal 285 of 300; skew at n = 60 costs a little, which BCa keeps small.
    assert 267 <= covered <= 297


def test_bca_of_degenerate_samples():
    assert bca_interval([]) == (-1.0, 1.0)
    assert bca_interval([0.0] * 9) == (0.0, 0.0)
    low, high = bca_interval([0.0] * 19 + [1.0])
    assert 0.0 <= low <= 0.05 <= high < 0.4


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=2, max_size=30), st.integers(0, 3))
def test_bca_holds_the_mean_and_mirrors_with_the_sign(values, seed):
    low, high = bca_interval(values, resamples=300, seed=seed)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
    mirrored = bca_interval([-value for value in values], resamples=300, seed=seed)
    assert mirrored == pytest.approx((-high, -low), abs=1e-9)


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_is_monotone_never_below_p_and_at_most_bonferroni(ps):
    adjusted = holm(ps)
    for p, q in zip(ps, adjusted, strict=True):
        assert p <= q <= min(1.0, len(ps) * p) + 1e-12 or q == max(adjusted)
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    assert [adjusted[i] for i in order] == sorted(adjusted)


def test_holm_by_hand():
    assert holm([0.005, 0.2, 0.01, 0.04]) == pytest.approx([0.02, 0.2, 0.03, 0.08])
    assert holm([]) == []


def test_smallest_effect_is_what_a_t_test_finds_four_times_in_five():
    rng = np.random.default_rng(2)
    effect = smallest_effect(0.3, 40)
    samples = rng.normal(effect, 0.3, (4000, 40))
    t = samples.mean(axis=1) / (samples.std(axis=1, ddof=1) / 40**0.5)
    assert np.mean(np.abs(t) > 2.0227) == pytest.approx(0.8, abs=0.02)


@given(st.floats(0.02, 0.6), st.floats(0.02, 0.5))
def test_queries_needed_is_the_smallest_that_suffices(sd, effect):
    n = queries_needed(sd, effect)
    assert smallest_effect(sd, n) <= effect
    assert n == 2 or smallest_effect(sd, n - 1) > effect


def test_equal_differences_do_not_pretend_to_certainty():
    assert spread([0.0] * 100) == pytest.approx(0.1)
    assert smallest_effect(spread([0.0] * 3), 3) > 1
