"""What comes after fusion: the importance prior, the orders, the exact-match bonus."""

import itertools
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recall_cases import CASES

from hopgate.errors import HopgateError
from hopgate.recall.fusers import RRF, TM2C2, MinMax
from hopgate.recall.fusion import Pool, fused
from hopgate.recall.lexical import is_exact, quoted
from hopgate.recall.order import ExactMatch, Importance, newest_first, placed, prior_of

LEGS = {"lexical": [("a", 3.0), ("b", 2.0), ("c", 1.0)], "dense": [("c", 0.9), ("d", 0.5)]}
UNIT = st.floats(0, 1)
FUSERS = st.sampled_from([RRF(), TM2C2(), MinMax()])


def ids(hits):
    return [hit.id for hit in hits]


@given(st.dictionaries(st.sampled_from("abcd"), UNIT), UNIT, st.sets(st.sampled_from("abcdz")), st.floats(0, 5), FUSERS)
def test_final_is_fused_and_bonus_times_the_prior(importance, floor, matched, bonus, fuser):
    ranking = fused(Pool.of(LEGS), fuser)
    hits = placed(ranking, importance, Importance(floor), ExactMatch(bonus), matched)
    scores = dict(ranking.top())
    assert sorted(ids(hits)) == sorted(scores)
    for hit in hits:
        assert hit.prior == floor + (1 - floor) * importance.get(hit.id, 0.5)
        # The bonus is worth what a further leg of this weight gives to its first.
        assert hit.bonus == (fuser.top(bonus) if hit.id in matched else 0.0)
        assert hit.score == pytest.approx((scores[hit.id] + hit.bonus) * hit.prior)
    assert all(one.score >= two.score * (1 - 1e-9) for one, two in itertools.pairwise(hits))


@given(st.permutations("abcd"), UNIT)
def test_equal_importance_changes_no_order_though_scores_tie(permuted, importance):
    ranking = fused(Pool.of({"dense": [(id, 0.5) for id in permuted]}), TM2C2())
    assert ids(placed(ranking, dict.fromkeys("abcd", importance), Importance())) == ranking.ids


def test_sorted_by_importance_what_matters_comes_before_what_matches_a_little_better():
    ranking = fused(Pool.of({"dense": [("a", 0.9), ("b", 0.8), ("c", 0.1)]}), MinMax())
    for prior, sort_by, of_a, order in (
        (0.7, "relevance", 0.2, "bac"),
        (0.7, "relevance", 0.6, "abc"),
        (1, "relevance", 0.2, "abc"),
        (0.7, "importance", 0.6, "bac"),
    ):
        hits = placed(ranking, {"a": of_a, "b": 0.9, "c": 1.0}, prior_of(prior, sort_by))
        assert "".join(ids(hits)) == order


def test_newest_first_is_plain_time_unknown_last_naive_is_utc():
    noon, east = datetime(2026, 5, 1, 12, tzinfo=UTC), timezone(timedelta(hours=2))
    times = [noon, datetime(2026, 5, 1, 12, 30), datetime(2026, 5, 1, 14, tzinfo=east), None]
    assert newest_first("abcd", times) == ["b", "a", "c", "d"]


@pytest.mark.parametrize("importance", [float("nan"), -0.1, 1.1])
def test_an_importance_outside_its_range_is_refused(importance):
    with pytest.raises(HopgateError, match="importance must be between 0 and 1"):
        Importance().factor(importance)
    for made in (lambda: Importance(1.1), lambda: ExactMatch(-1)):
        with pytest.raises(HopgateError):
            made()


@pytest.mark.parametrize(("query", "content", "rare", "exact"), CASES["exact"])
def test_exact_matching(query, content, rare, exact):
    assert is_exact(query, content, rare) is exact


def test_quoted_phrases():
    assert quoted('a "b c" d “e” "') == ("b c", "e")
