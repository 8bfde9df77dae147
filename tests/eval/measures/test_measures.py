"""Measures: by hand, as values, and as properties."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.eval.data.runs import ordered
from hopgate.eval.measures import MAP, MRR, NDCG, Recall, Success, parse_measure, score_all

ALL = [Recall(3), NDCG(3), MRR(3), MAP(3), Success(3), Recall(), NDCG(), MRR(), MAP(), Success()]
ids = st.integers(0, 12).map(lambda i: f"d{i:02d}")
rankings = st.lists(st.tuples(ids, st.integers(0, 4).map(float)), max_size=12, unique_by=lambda pair: pair[0])
golds = st.dictionaries(ids, st.integers(1, 3), min_size=1, max_size=5)


def test_by_hand():
    ranked = ["a", "x", "b", "y", "c"]
    gold = {"a": 1, "b": 1, "c": 1, "d": 1}
    assert Recall(3).of(ranked, gold) == 2 / 4
    assert Success(1).of(ranked, gold) == 1.0
    assert MRR().of(ranked[1:], gold) == 1 / 2
    assert MAP().of(ranked, gold) == pytest.approx((1 / 1 + 2 / 3 + 3 / 5) / 4)
    dcg = 1 / math.log2(2) + 1 / math.log2(4)
    ideal = 1 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4)
    assert NDCG(3).of(ranked, gold) == pytest.approx(dcg / ideal)


def test_graded_gains_are_linear():
    assert NDCG(2).of(["b", "a"], {"a": 3, "b": 1}) == pytest.approx((1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)))


def test_grade_zero_is_not_relevant():
    assert Recall(1).of(["z"], {"z": 0, "a": 1}) == 0.0
    assert MRR().of(["z", "a"], {"z": 0, "a": 1}) == 0.5


def test_a_query_the_run_lacks_counts_zero():
    values = Recall(10).per_query({"q1": [("a", 1.0)]}, {"q1": {"a": 1}, "q2": {"b": 1}})
    assert values == {"q1": 1.0, "q2": 0.0}
    assert Recall(10).mean({"q1": [("a", 1.0)]}, {"q1": {"a": 1}, "q2": {"b": 1}}) == 0.5


def test_ties_are_broken_by_id_not_by_place():
    assert ordered([("b", 1.0), ("a", 1.0)]) == ["a", "b"]
    assert Recall(1).mean({"q": [("b", 1.0), ("a", 1.0)]}, {"q": {"a": 1}}) == 1.0


def test_a_score_that_is_not_a_number_is_refused():
    with pytest.raises(HopgateError, match="not a number"):
        ordered([("a", float("nan"))])


@pytest.mark.parametrize("measure", ALL, ids=repr)
def test_a_measure_prints_as_what_parses_back(measure):
    assert parse_measure(repr(measure)) == measure
    assert hash(parse_measure(str(measure).upper())) == hash(measure)


@pytest.mark.parametrize("text", ["", "recall@", "recall@-1", "recall@1.5", "precision@3", "@10", "recall@@1"])
def test_what_is_not_a_measure_is_refused(text):
    with pytest.raises(HopgateError, match="is not a measure"):
        parse_measure(text)


def test_measures_of_different_kinds_are_different_values():
    assert Recall(10) != Success(10)
    assert len({Recall(10), Recall(10), Recall(5)}) == 2


@given(rankings, golds)
def test_every_measure_is_in_0_1_and_blind_to_the_order_given(ranking, gold):
    for measure in ALL:
        value = measure.per_query({"q": ranking}, {"q": gold})["q"]
        assert 0.0 <= value <= 1.0 + 1e-12
        assert value == measure.per_query({"q": ranking[::-1]}, {"q": gold})["q"]


@given(rankings, golds)
def test_a_deeper_cut_never_finds_less(ranking, gold):
    ranked = ordered(ranking)
    for kind in (Recall, Success, MRR, MAP):
        values = [kind(k).of(ranked, gold) for k in range(1, 13)]
        assert values == sorted(values)


@given(golds)
def test_the_perfect_ranking_scores_one(gold):
    ranked = sorted(gold, key=lambda name: -gold[name])
    assert all(measure.of(ranked, gold) == pytest.approx(1.0) for measure in (Recall(), NDCG(), MRR(), MAP(), NDCG(2)))


@given(st.dictionaries(st.sampled_from("pqr"), rankings), st.dictionaries(st.sampled_from("pqr"), golds, min_size=1))
def test_scoring_all_at_once_is_scoring_one_by_one(run, qrels):
    assert score_all(run, qrels, ALL) == {measure: measure.per_query(run, qrels) for measure in ALL}
