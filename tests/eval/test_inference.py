"""Inference by cluster: against textbooks' formulas, and as properties."""

import math
from itertools import takewhile

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from hopgate.eval.inference import Differences, holm, pooled, spent

gains = st.sampled_from([-1.0, -0.5, -0.25, 0.0, 0.0, 0.0, 0.25, 0.5, 1.0])
queries = st.lists(st.tuples(gains, st.sampled_from("abcdefg")), min_size=2, max_size=40)


def of(pairs):
    return Differences.of([value for value, _ in pairs], [name for _, name in pairs])


def alone(values):
    return Differences.of(values, [str(number) for number in range(len(values))])


def by_matrices(values, names, icc):
    """CR2 and its degrees of freedom as the papers have them: residual makers, matrix roots and eigenvalues."""
    n, one = len(values), np.ones(len(values))
    residual = np.eye(n) - np.outer(one, one) / n
    members = [np.flatnonzero(names == name) for name in sorted(set(names))]
    sums, columns = [], []
    for member in members:
        block = residual[np.ix_(member, member)]
        roots, vectors = np.linalg.eigh(block)
        adjusted = vectors @ np.diag(roots**-0.5) @ vectors.T
        columns.append(residual[:, member] @ adjusted @ np.ones(len(member)) / n)
        sums.append(np.ones(len(member)) @ adjusted @ (values - values.mean())[member])
    working = np.where(names[:, None] == names[None, :], icc, 0.0) + (1 - icc) * np.eye(n)
    spread = np.array(columns) @ working @ np.array(columns).T
    return math.sqrt(sum(np.square(sums))) / n, np.trace(spread) ** 2 / np.trace(spread @ spread)


@given(queries)
def test_error_and_degrees_of_freedom_are_those_of_the_matrices(pairs):
    made = of(pairs)
    assume(made.groups > 1)
    error, df = by_matrices(made.values, np.array(made.clusters), made.icc)
    assert made.error == pytest.approx(error, abs=1e-9)
    assert made.df == pytest.approx(df, rel=1e-5)
    assert 0 < made.df <= made.groups - 1 + 1e-6


@given(st.lists(gains, min_size=2, max_size=30))
def test_one_query_a_cluster_is_the_paired_t_test(values):
    made = alone(values)
    assume(np.std(values) > 0)
    theirs = stats.ttest_1samp(values, 0.0, alternative="greater")
    assert made.df == len(values) - 1 and made.icc == 0.0 and made.design_effect == 1.0
    assert made.p_above(0.0) == pytest.approx(theirs.pvalue, abs=1e-12)
    assert made.lower(0.05) == pytest.approx(max(-1.0, theirs.confidence_interval(0.95).low), abs=1e-9)


@given(queries, st.integers(1, 5), st.randoms(use_true_random=False))
def test_neither_order_nor_names_matter_and_copies_within_a_cluster_narrow_nothing(pairs, times, random):
    names = dict(zip("abcdefg", random.sample("tuvwxyz", 7), strict=True))
    renamed = [(value, names[name]) for value, name in random.sample(pairs * times, len(pairs) * times)]
    once, often = of(pairs), of(renamed)
    assume(once.groups > 1)
    assert (often.mean, often.error) == pytest.approx((once.mean, once.error), abs=1e-9)
    assert often.df <= once.df + 1e-4 and (times > 1 or often.df == pytest.approx(once.df, abs=1e-4))
    assert often.lower(0.025) <= once.lower(0.025) + 1e-6
    assert often.upper(0.025, imagined=None) >= once.upper(0.025, imagined=None) - 1e-6
    assert often.randomised_p() == once.randomised_p()


@given(queries, st.floats(-0.5, 0.5), st.sampled_from([0.01, 0.025, 0.05]))
def test_a_limit_and_a_p_value_decide_alike(pairs, threshold, alpha):
    made = of(pairs)
    limit = made.lower(alpha)
    assume(abs(limit - threshold) > 1e-6)
    assert (made.p_above(threshold) < alpha) == (limit > threshold)
    assert made.lower(alpha) <= made.mean <= made.upper(alpha, imagined=None)
    assert made.lower(alpha) >= -1.0 and made.upper(alpha) <= 1.0


def test_one_cluster_says_nothing_in_general_and_ties_on_few_queries_exclude_nothing():
    for made in (Differences.of([0.5, 0.4, 0.6], "aaa"), Differences.of([0.0] * 200, ["a"] * 200)):
        assert made.interval(0.05) == (-1.0, 1.0) and made.p_above(0.0) == 1.0
    assert alone([0.0] * 30).upper(0.025) > 0.05 > 0.03 > alone([0.0] * 120).upper(0.025)
    assert alone([0.0] * 30).upper(0.025, imagined=None) == 0.0
    assert alone([0.0] * 30).p_above(0.0) == 1.0 and alone([0.1] * 30).p_above(0.0) == 0.0
    # Wins of a quarter on 8 %, losses of 1 on 2 %: without a loss among fifty a gain, as the docs say.
    few = alone([0.25] * 6 + [0.0] * 44)
    assert few.lower(0.025) > 0 and few.p_above() < 0.025
    assert few.imagining(-0.5).lower(0.025) < 0 and few.imagining(-0.5).p_above() > 0.025


def test_signs_are_flipped_by_cluster_and_counted_where_that_can_be_done():
    assert Differences.of([0.2] * 50, ["a", "b", "c", "d", "e"] * 10).randomised_p() == 1 / 2**5
    assert alone([0.0] * 40).randomised_p() == 1.0
    values = np.random.default_rng(1).normal(0.1, 0.3, 40)
    sampled = alone(values).randomised_p(seed=3, rounds=5_000)
    assert sampled == alone(values).randomised_p(seed=3, rounds=5_000)
    theirs = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", alternative="greater", n_resamples=5_000, rng=2
    )
    assert sampled == pytest.approx(theirs.pvalue, abs=0.015)


def test_what_is_needed_is_told_for_the_worthwhile_gain():
    rng = np.random.default_rng(2)
    lucky, unlucky = rng.normal(0.2, 0.25, 80), rng.normal(0.0, 0.25, 80)
    found = alone(lucky).needed(0.03, 0.025)
    assert found[0] == found[1] == pytest.approx(alone(unlucky).needed(0.03, 0.025)[0], rel=0.35)
    assert found[0] == pytest.approx(545, rel=0.35)  # ((1.96 + 0.84) · 0.25 / 0.03)²
    by_ten = Differences.of(np.repeat(unlucky, 10), [str(number) for number in range(80) for _ in range(10)])
    more, groups = by_ten.needed(0.03, 0.025)
    assert more == 10 * groups and groups == pytest.approx(alone(unlucky).needed(0.03, 0.025)[0], rel=0.25)
    # With what is needed, it is found four times in five.
    shown = sum(alone(rng.normal(0.1, 0.25, alone(unlucky).needed(0.1, 0.025)[0])).lower(0.025) > 0 for _ in range(300))
    assert 0.7 < shown / 300 < 0.95


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_rejects_step_by_step_and_looks_never_spend_more_than_there_is(ps):
    adjusted = holm(ps)
    assert all(after >= before for after, before in zip(adjusted, ps, strict=True))
    for alpha in (0.01, 0.05, 0.2):
        falls = (p * (len(ps) - step) <= alpha for step, p in enumerate(sorted(ps)))
        rejected = sum(takewhile(bool, falls))
        assert sorted(adjusted)[:rejected] == [p for p in sorted(adjusted) if p <= alpha]
    levels = [spent(0.05, look) for look in range(1, 403)]
    assert levels == sorted(levels, reverse=True)
    assert sum(levels) <= 0.05 + 1e-12 and levels[-1] < 1e-100


def test_sets_that_agree_are_a_weighted_mean_and_sets_that_do_not_are_spread():
    same = pooled([0.05] * 4, [0.01, 0.02, 0.02, 0.03], 0.05)
    assert same.difference == pytest.approx(0.05)
    assert same.error == pytest.approx(1 / math.sqrt(sum(1 / error**2 for error in (0.01, 0.02, 0.02, 0.03))))
    # Equal errors: tau² is the variance of the estimates less that of each.
    apart = pooled([0.0, 0.1, 0.2], [0.03] * 3, 0.2)
    assert apart.difference == pytest.approx(0.1)
    assert apart.error == pytest.approx(0.1 / math.sqrt(3))
    low, high = apart.next_set
    spread = (high - low) / 2 / stats.t.ppf(0.9, 1)
    assert spread**2 - apart.error**2 == pytest.approx(0.01 - 0.0009)
    assert low < apart.interval[0] and high > apart.interval[1]
    assert pooled([0.0, 0.1], [0.03] * 2, 0.05).next_set is None
    assert pooled([0.0, 1.0], [0.1] * 2, 0.05).interval == (-1, 1)
