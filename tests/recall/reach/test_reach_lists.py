"""Reachability on actual lists against every list a leg could return."""

import json
import math
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.recall.fuse import RRF, TM2C2, ExactMatch, Importance, StretchedRRF, order
from hopgate.recall.reach import Reachability, bound, on_lists

OUTSIDER = 99  # the largest id: it loses every tie
IDS = range(5)
LOW = {"dense": -1.0}
WEIGHT = st.one_of(st.just(0.0), st.sampled_from([0.25, 0.5, 1.0, 2.0]), st.floats(0.01, 5))
FULL = {"lexical": [(id, 1.0 / (id + 1)) for id in range(50)]}


@st.composite
def legs(draw):
    result = {}
    for name in ("lexical", "dense"):
        ids = draw(st.lists(st.sampled_from(IDS), unique=True, max_size=4))
        low = LOW.get(name, 0.0)
        scores = draw(st.lists(st.sampled_from([1.0, 0.5, 0.25, low + 0.01]), min_size=len(ids), max_size=len(ids)))
        result[name] = list(zip(ids, sorted(scores, reverse=True), strict=True))
    return result


@st.composite
def fusers(draw):
    weights = {name: draw(WEIGHT) for name in ("lexical", "dense", "graph")}
    k = draw(st.sampled_from([0, 1, 10, 60]))
    return draw(st.sampled_from([RRF(k=k, **weights), StretchedRRF(k=k, **weights), TM2C2(**weights)]))


def top(fuser, given_legs, k, extras):
    prior, importance, exact, matched = extras
    hits = fuser.fuse(given_legs)
    if exact:
        hits = exact.apply(hits, matched, fuser)
    return [hit.id for hit in order(hits, prior=prior, importance=importance)[:k]]


def every_list(fuser, given_legs):
    """Every list of what the other legs found and one memory that they did not."""
    candidates = [*[hit.id for hit in fuser.fuse(given_legs)], OUTSIDER]
    for depth in (1, 2, 3):
        for ids in permutations(candidates, depth):
            for scores in [(1.0, 1.0, 1.0), (1.0, 0.0, 0.0)]:
                yield list(zip(ids, scores, strict=False))


@st.composite
def extras(draw):
    prior = draw(st.one_of(st.none(), st.builds(Importance, st.sampled_from([0.0, 0.5, 0.7]))))
    importance = {id: draw(st.sampled_from([0.0, 0.5, 1.0])) for id in IDS} | {OUTSIDER: 1.0}
    exact = draw(st.one_of(st.none(), st.builds(ExactMatch, st.sampled_from([0.1, 1.0]))))
    return prior, importance, exact, draw(st.sets(st.sampled_from(IDS))) | {OUTSIDER}


@settings(max_examples=80, deadline=None)
@given(fusers(), legs(), st.integers(1, 4), extras())
def test_what_a_leg_could_do_is_what_some_list_does(fuser, given_legs, k, after):
    prior, importance, exact, matched = after
    report = on_lists(
        fuser,
        {"q": given_legs},
        k=k,
        prior=prior,
        importance=importance,
        exact=exact,
        matched={"q": matched - {OUTSIDER}},
    )
    (row,) = report.rows
    base = top(fuser, given_legs, k, after)
    outcomes = [top(fuser, {**given_legs, "graph": leg}, k, after) for leg in every_list(fuser, given_legs)]
    assert row.enters == any(OUTSIDER in outcome for outcome in outcomes)
    assert row.swaps == any(set(outcome) != set(base) for outcome in outcomes)
    assert row.changes == any(outcome != base for outcome in outcomes)


@settings(max_examples=80, deadline=None)
@given(fusers(), legs(), st.integers(1, 4), extras())
def test_the_weight_needed_is_the_weight_that_decides(fuser, given_legs, k, after):
    prior, importance, exact, matched = after

    def row(weight):
        return on_lists(
            fuser.reweighed(graph=weight),
            {"q": given_legs},
            k=k,
            prior=prior,
            importance=importance,
            exact=exact,
            matched={"q": matched},
        ).rows[0]

    needed = row(1.0).needed
    below, above = needed * (1 - 1e-6), needed * (1 + 1e-6) + 1e-9
    assert not (1e-6 < below <= 5) or not row(below).enters
    assert above > 5 or row(above).enters


@settings(max_examples=60, deadline=None)
@given(st.permutations(range(12)), st.permutations(range(12)), st.floats(0.2, 2), st.integers(1, 8))
def test_every_query_lies_between_the_best_and_the_worst_of_the_bound(lexical, dense, weight, k):
    given_legs = {"lexical": [(id, 1.0) for id in lexical[:8]], "dense": [(id, 1.0) for id in dense[:8]]}
    for fuser in (RRF(dense=weight), StretchedRRF(k=5, dense=weight), TM2C2(dense=weight)):
        limits = bound(fuser, k=k, depths=8).needed
        needed = on_lists(fuser, {"q": given_legs}, k=k).rows[0].needed
        assert limits.best * (1 - 1e-12) <= needed
        assert needed <= limits.worst * (1 + 1e-12)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=12, max_size=12))
def test_the_bound_with_a_prior_holds_on_lists_with_any_importance(pairs):
    importance = {id: pair[0] for id, pair in enumerate(pairs)}
    given_legs = {"lexical": [(id, 1.0) for id in range(12)], "dense": [(id, 1.0) for id in reversed(range(12))]}
    limits = bound(RRF(), depths=12, prior=Importance())
    row = on_lists(RRF(), {"q": given_legs}, prior=Importance(), importance=importance).rows[0]
    assert limits.favourable.best * (1 - 1e-12) <= row.needed <= limits.unfavourable.worst


def test_the_old_prototype_is_barred_on_every_query_and_can_still_reorder():
    report = on_lists(
        RRF(graph=0.35), {"q1": FULL, "q2": FULL}, prior=Importance(), importance=dict.fromkeys(range(50), 1)
    )
    assert report.verdict is Reachability.BARRED
    assert (report.entering, report.swapping, report.changing) == (0, 2, 2)
    assert report.needed(0) == report.needed(1) == pytest.approx(61 / 70)


def test_the_legs_own_list_is_not_looked_at():
    loud = {**FULL, "graph": [(id, 1.0) for id in range(100, 150)]}
    assert on_lists(RRF(), {"q": loud}).rows == on_lists(RRF(), {"q": FULL}).rows


def test_a_leg_that_is_off_does_nothing():
    report = on_lists(RRF(graph=0), {"q": FULL, "empty": {}})
    assert report.verdict is Reachability.OFF
    assert (report.entering, report.swapping, report.changing) == (0, 0, 0)
    assert report.needed(1) == pytest.approx(61 / 70)


def test_room_lets_anything_in():
    report = on_lists(RRF(graph=0.001), {"none": {}, "few": {"dense": [("a", 0.5)]}})
    assert report.verdict is Reachability.REACHABLE
    assert [row.kth for row in report.rows] == [None, None]
    assert report.needed(1) == 0


def test_the_summary_over_queries():
    queries = {"full": FULL, "few": {"lexical": FULL["lexical"][:3]}, "none": {}}
    report = on_lists(RRF(graph=0.35), queries)
    assert report.verdict is Reachability.ON_SOME
    assert report.to_dict()["needed"] == {"first": 0, "half": 0, "nine_in_ten": 61 / 70, "all": 61 / 70}
    assert [row["query"] for row in report.to_dict(rows=True)["rows"]] == ["full", "few", "none"]
    assert json.loads(json.dumps(report.to_dict(rows=True), allow_nan=False)) == report.to_dict(rows=True)
    assert "on 2 of 3 queries" in str(report)
    assert "\n" not in str(report)


def test_no_queries_at_all():
    report = on_lists(RRF(), {})
    assert report.verdict is Reachability.BARRED
    assert report.to_dict()["needed"]["all"] == 0


def test_where_no_weight_suffices_json_says_null():
    same = {"lexical": FULL["lexical"], "dense": FULL["lexical"]}
    report = on_lists(StretchedRRF(), {"q": same})
    assert report.rows[0].needed == math.inf
    assert report.to_dict(rows=True)["rows"][0]["needed"] is None
    assert "impossible for all" in str(report)


def test_a_memory_the_others_rank_low_can_rise_though_no_outsider_enters():
    row = on_lists(RRF(graph=0.2), {"q": FULL}).rows[0]
    assert (row.enters, row.swaps, row.changes) == (False, True, True)


def test_a_second_voice_alone_resettles_the_ties_of_a_leg_alone():
    # All scores are 0, so nothing can be lifted; but ties go by id as soon as the leg was no longer alone.
    tied = {"dense": [(2, 0.5), (1, 0.5)]}
    found = on_lists(RRF(), {"q": tied}, k=1, prior=Importance(0), importance={1: 0.0, 2: 0.0}, outsider=0.0).rows[0]
    assert (found.enters, found.swaps, found.changes, found.needed) == (False, True, True, math.inf)
    found = on_lists(RRF(), {"q": tied}, k=2, prior=Importance(0), importance={1: 0.0, 2: 0.0}, outsider=0.0).rows[0]
    assert (found.enters, found.swaps, found.changes) == (False, False, True)


def test_an_unknown_leg_is_refused():
    with pytest.raises(HopgateError, match="has no leg 'grpah'"):
        on_lists(RRF(), {}, leg="grpah")
