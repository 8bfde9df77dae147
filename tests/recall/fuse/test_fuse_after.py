"""What comes after fusion: the importance prior, the orders, the exact-match bonus."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.recall.fuse import RRF, TM2C2, ExactMatch, Importance, StretchedRRF, is_exact, order, quoted, total

LEGS = {"lexical": [("a", 3.0), ("b", 2.0), ("c", 1.0)], "dense": [("c", 0.9), ("d", 0.5)]}
UNIT = st.floats(0, 1)
IMPORTANCE = st.dictionaries(st.sampled_from("abcd"), UNIT)


def ids(hits):
    return [hit.id for hit in hits]


@given(IMPORTANCE, UNIT)
def test_final_is_fused_times_the_prior(importance, floor):
    hits = order(RRF().fuse(LEGS), importance=importance, prior=Importance(floor))
    assert sorted(ids(hits)) == ["a", "b", "c", "d"]
    for hit in hits:
        assert hit.prior == floor + (1 - floor) * importance.get(hit.id, 0.5)
        assert hit.score == total(hit.contributions.values()) * hit.prior
    assert [(-hit.score, hit.id) for hit in hits] == sorted((-hit.score, hit.id) for hit in hits)


@given(UNIT, st.sampled_from([RRF(), TM2C2(), StretchedRRF(dense=2)]))
def test_equal_importance_changes_no_order(importance, fuser):
    hits = fuser.fuse(LEGS)
    assert ids(order(hits, importance=dict.fromkeys("abcd", importance))) == ids(hits)


@given(st.permutations("abcd"), UNIT)
def test_equal_importance_keeps_a_leg_alone_in_its_own_order_though_scores_tie(permuted, importance):
    hits = TM2C2().fuse({"dense": [(id, 0.5) for id in permuted]})
    assert ids(order(hits, importance=dict.fromkeys("abcd", importance))) == list(permuted)


def test_floor_one_switches_the_prior_off():
    hits = RRF().fuse(LEGS)
    assert order(hits, importance={"d": 1.0}, prior=Importance(1)) == order(hits, prior=None) == hits


def test_sort_by_importance_is_the_fused_order_with_importance_for_ties():
    hits = RRF().fuse(LEGS)
    importance = {"a": 0.2, "b": 0.9, "c": 0.1, "d": 0.8}
    assert ids(order(hits, sort_by="importance", importance=importance)) == ids(order(hits, prior=None))
    tied = RRF().fuse({"lexical": [("a", 2.0), ("b", 1.0)], "dense": [("b", 2.0), ("a", 1.0)]})
    assert ids(order(tied, sort_by="importance", importance=importance)) == ["b", "a"]
    assert ids(order(tied, sort_by="importance", importance={"a": 0.9})) == ["a", "b"]


def test_sort_by_recency_is_plain_time_unknown_last_naive_is_utc():
    noon = datetime(2026, 5, 1, 12, tzinfo=UTC)
    east = timezone(timedelta(hours=2))
    times = {"a": noon, "b": datetime(2026, 5, 1, 12, 30), "c": datetime(2026, 5, 1, 14, tzinfo=east), "d": None}
    assert ids(order(RRF().fuse(LEGS), sort_by="recency", created_at=times)) == ["b", "a", "c", "d"]
    assert ids(order(RRF().fuse(LEGS), sort_by="recency")) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("importance", [float("nan"), -0.1, 1.1])
def test_an_importance_outside_its_range_is_refused(importance):
    with pytest.raises(HopgateError, match="importance must be between 0 and 1"):
        order(RRF().fuse(LEGS), importance={"a": importance})


def test_an_unknown_order_is_refused():
    with pytest.raises(HopgateError, match="sort_by is one of relevance, importance, recency, not 'date'"):
        order([], sort_by="date")


@given(st.sets(st.sampled_from("abcdz")), st.floats(0, 5), st.sampled_from([RRF(), TM2C2(), StretchedRRF(k=10)]))
def test_the_bonus_counts_like_a_leg_that_puts_every_match_first(matched, bonus, fuser):
    hits = fuser.fuse(LEGS)
    boosted = {hit.id: hit for hit in ExactMatch(bonus).apply(hits, matched, fuser)}
    for hit in hits:
        assert boosted[hit.id].score == hit.score + (fuser.top(bonus) if hit.id in matched else 0.0)
        assert boosted[hit.id].contributions == hit.contributions
    assert boosted.keys() == set("abcd")


def test_bonus_then_prior_and_prior_then_bonus_agree():
    fuser, bonus, prior = RRF(), ExactMatch(0.5), Importance()
    hits = fuser.fuse(LEGS)
    one = prior.apply(bonus.apply(hits, {"d"}, fuser), {"d": 0.2})
    other = bonus.apply(prior.apply(hits, {"d": 0.2}), {"d"}, fuser)
    assert ids(one) == ids(other)
    assert [hit.score for hit in one] == pytest.approx([hit.score for hit in other])


@pytest.mark.parametrize(
    ("query", "content", "rare", "exact"),
    [
        ('"red team" plan', "the RED\n team met", (), True),
        ('"red team" plan', "the red teams met", (), False),
        ('"red" "blue"', "red only", (), False),
        ("“red team”", "red team", (), True),
        ("error E4012", "saw e4012!", ("E4012",), True),
        ("error E4012", "saw E40127", ("E4012",), False),
        ("error E4012 C++", "C++ gave E4012", ("E4012", "C++"), True),
        ("no rare token", "no rare token", (), False),
        ('""', "anything", (), False),
        ('" "', "anything", (), False),
    ],
)
def test_exact_matching(query, content, rare, exact):
    assert is_exact(query, content, rare) is exact


def test_quoted_phrases():
    assert quoted('a "b c" d “e” "') == ("b c", "e")
