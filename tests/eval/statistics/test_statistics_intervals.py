"""Gaffke's limits against closed forms, simulation and exact enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, multinomial

from hopgate.eval.statistics import intervals
from hopgate.eval.statistics.intervals import above, below, chance_below, lower_limit, mean_interval, upper_limit


@pytest.mark.parametrize(("n", "wins"), [(1, 0), (3, 1), (10, 3), (15, 0), (50, 20), (300, 5), (300, 299)])
@pytest.mark.parametrize("level", [0.025, 0.0005])
def test_two_values_give_clopper_and_pearson(n, wins, level):
    values = [1.0] * wins + [0.0] * (n - wins)
    assert upper_limit(values, level) == pytest.approx(beta.ppf(1 - level, wins + 1, n - wins), abs=1e-6)
    assert lower_limit([-v for v in values], level) == pytest.approx(-beta.ppf(1 - level, wins + 1, n - wins), abs=1e-6)


def test_many_values_give_the_quantile_of_random_weights():
    rng = np.random.default_rng(0)
    values = rng.choice([0, 0.5, -0.5, 1, 1 / 3], p=[0.7, 0.15, 0.08, 0.04, 0.03], size=60)
    weights = rng.standard_exponential((100_000, 61))
    means = weights @ np.append(values, 1.0) / weights.sum(1)
    assert upper_limit(values, 0.025) == pytest.approx(np.quantile(means, 0.975), abs=0.002)
    for at in (-0.1, 0.1, 0.2):
        assert chance_below(values, at, imagined=1.0) == pytest.approx((means <= at).mean(), abs=0.006)


def test_the_numerics_do_not_depend_on_the_path(monkeypatch):
    rng = np.random.default_rng(1)
    cases = [rng.normal(0.02, 0.2, 200).clip(-1, 1), np.zeros(15), np.array([0.0, 1.0, 0.5]), np.array([0.3])]
    before = [upper_limit(case, level) for case in cases for level in (0.025, 0.0005)]
    nodes = np.arange(0.0, 28.0, 0.05)
    monkeypatch.setattr(intervals, "_SINH", np.sinh(nodes))
    monkeypatch.setattr(intervals, "_WEIGHTS", np.cosh(nodes) * 0.05 * np.where(nodes == 0, 0.5, 1.0))
    after = [upper_limit(case, level) for case in cases for level in (0.025, 0.0005)]
    assert before == pytest.approx(after, abs=2e-7)


@pytest.mark.parametrize("n", [1, 3, 10, 15, 50, 300])
@pytest.mark.parametrize("value", [0.0, 0.5, -1.0, 1.0])
def test_ties_are_never_a_point(n, value):
    low, high = mean_interval([value] * n)
    assert high - low > 1.0 / n or abs(value) == 1
    assert -1 <= low < high <= 1


def test_mirror_images_have_mirrored_limits():
    values = np.array([0.5, 0.0, 0.0, -1 / 3, 1.0, 0.0])
    low, high = mean_interval(values)
    assert mean_interval(-values) == pytest.approx((-high, -low))


def test_more_of_the_same_narrows_and_a_lower_level_widens():
    some = [0.5, 0.0, 0.0, -0.5, 0.0]
    assert upper_limit(some * 20, 0.025) < upper_limit(some * 5, 0.025) < upper_limit(some * 5, 0.001)


@pytest.mark.parametrize("level", [0.025, 0.001])
def test_decisions_are_those_of_the_limits(level):
    rng = np.random.default_rng(2)
    for _ in range(30):
        values = rng.choice([0, 0.5, -0.5, 1, 0.25], p=[0.6, 0.2, 0.05, 0.05, 0.1], size=rng.integers(3, 80))
        for at in (0.0, 0.03, -0.02):
            if abs(lower_limit(values, level) - at) > 1e-6:
                assert above(values, at, level) == (lower_limit(values, level) > at)
            if abs(upper_limit(values, level) - at) > 1e-6:
                assert below(values, at, level) == (upper_limit(values, level) < at)


def _outcomes(n, k):
    return [(n,)] if k == 1 else [(i, *rest) for i in range(n + 1) for rest in _outcomes(n - i, k - 1)]


@pytest.mark.parametrize(
    ("values", "shares"),
    [
        ([0, 1], [0.9, 0.1]),
        ([0, 0.5, 1], [0.9, 0.07, 0.03]),
        ([-1, 0, 0.25], [0.05, 0.75, 0.2]),
        ([-1, 0, 1], [0.02, 0.96, 0.02]),
    ],
)
def test_it_covers_by_exact_enumeration(values, shares):
    v, p, n, level = np.array(values, float), np.array(shares), 10, 0.025
    mean = float(p @ v)
    missed = {"low": 0.0, "high": 0.0}
    for counts in _outcomes(n, len(v)):
        c = np.array(counts)
        chance = float(multinomial.pmf(c, n, p))
        sample = np.repeat(v, c)
        missed["low"] += chance * above(sample, mean + 1e-9, level)
        missed["high"] += chance * below(sample, mean - 1e-9, level)
    assert max(missed.values()) <= level
