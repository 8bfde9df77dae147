"""Statistics against scipy, closed forms and simulated nulls."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopgate.eval.gate.compare import Harm, harm_state
from hopgate.eval.statistics import (
    ControlOutcome,
    among_shuffles,
    can_decide,
    carried,
    fewest_to_decide,
    holm,
    queries_needed,
    randomisation_p,
    rank_p,
    shared,
    smallest_effect,
    spread,
)
from hopgate.eval.statistics.nested_choice import nested, one_error


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


def test_queries_needed_is_the_inverse_of_the_smallest_effect():
    for sd in (0.1, 0.25, 0.4):
        for effect in (0.03, 0.1):
            n = queries_needed(sd, effect)
            assert smallest_effect(sd, n) <= effect + 1e-9 < smallest_effect(sd, n - 1) + 1e-6


def test_equal_differences_do_not_pretend_to_certainty():
    assert spread([0.0] * 50) > 0.1
    assert smallest_effect(spread([0.0] * 3), 3) == 1.0


def test_the_levels_add_up():
    for m in (0, 1, 7, 31):
        levels = shared(0.05, m)
        assert levels.claim + m * levels.harm <= 0.05 + 1e-12


def test_small_slices_take_no_level():
    sizes = [4, 6, 9, 12, 19, 22, 51]
    kept = can_decide(sizes, 0.05, 0.02)
    level = shared(0.05, sum(kept)).harm
    for size, keeps in zip(sizes, kept, strict=True):
        assert keeps == (harm_state(-np.ones(size), 0.02, level) is Harm.SHOWN)
    assert fewest_to_decide(level, 0.02) <= min(s for s, k in zip(sizes, kept, strict=True) if k)


def test_the_family_keeps_its_level_at_the_edge():
    """Every comparison loses exactly the margin: a harm that is shown is shown wrongly."""
    rng = np.random.default_rng(3)
    level, wrong = shared(0.05, 8), 0
    for _ in range(150):
        harms = rng.choice([0.0, -0.5, 0.5], p=[0.8, 0.12, 0.08], size=(8, 60))  # mean −.02
        wrong += any(harm_state(each, 0.02, level.harm) is Harm.SHOWN for each in harms)
    assert wrong / 150 <= 0.025 + 0.03


def test_randomisation_is_exact_where_few_differ():
    assert randomisation_p([1.0] * 5 + [0.0] * 10) == 2 / 32


def test_control_by_rank_and_by_query():
    rng = np.random.default_rng(4)
    base = rng.choice([0.5, 1.0], size=60)
    moves = [rng.choice([0, 0.5, -0.5], p=[0.9, 0.05, 0.05], size=60) for _ in range(21)]
    shuffles = np.array([np.clip(base + moved, 0, 1) for moved in moves])
    assert among_shuffles(np.ones(60), shuffles[:20]).outcome is ControlOutcome.PASSES
    assert among_shuffles(shuffles.mean(0), shuffles[:20]).outcome is not ControlOutcome.PASSES
    assert rank_p(0.5, [0.5] * 19) == 1.0
    assert min(rank_p(1.0, [0.5] * n) for n in (5, 10, 18)) > 0.05 > rank_p(1.0, [0.5] * 19 + [0.4])


def test_the_rule_stays_at_the_default_without_grounds_and_leaves_it_with():
    rng = np.random.default_rng(5)
    noise = rng.choice([0.0, 0.5, 1.0], size=(40, 30))
    assert carried(np.hstack([noise[:, :1]] * 5)).chosen == 0
    better = np.hstack([noise[:, :1] * 0.5, noise[:, :1]])
    assert carried(better).chosen == 1 == one_error(better)
    assert not carried(better[:9]).carries
    assert carried(better[:9]).chosen == 0
    worse = rng.choice([0.0, 1.0], size=(25, 99))  # pure luck: what was best is no better elsewhere
    gains, agreement = nested(worse)
    assert gains.mean() < 0.15
    assert agreement <= 1
