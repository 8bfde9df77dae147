"""Reachability: the figures the project is built on, brute force over small cases, and actual lists."""

import json
from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.recall.fusers import RRF, TM2C2, MinMax
from hopgate.recall.fusion import Pool, fused
from hopgate.recall.order import placed
from hopgate.recall.reachability import bound, bounds, on_lists
from hopgate.recall.settings import DEFAULT_FUSER, Settings

OUTSIDER = 10**6  # the largest id: it loses every tie
LOW = {"dense": -1.0}
BASE = ("lexical", "dense")
WEIGHT = st.floats(0.1, 2)
FULL = {"lexical": [(id, 1.0 / (id + 1)) for id in range(50)]}
BEST, DISJOINT, WORST = 61 / 70, 61 / 65, 61 / 65 + 61 / 66


@pytest.mark.parametrize(
    ("options", "needed"),
    [
        # The same ten memories in opposite order are harder than the same list twice: the fifth is the sixth.
        ({}, {"best": BEST, "disjoint": DISJOINT, "identical": 122 / 70, "worst": WORST}),
        ({"prior": 0.7}, {"best": BEST, "best_after": 0.61, "worst_after": WORST / 0.7}),
        ({"exact_match": 0.5}, {"worst": WORST, "best_after": BEST - 0.5, "worst_after": WORST + 0.5}),
        ({"prior": 0}, {"best_after": 0, "worst_after": None}),
        # Two legs leave room for the tenth, or not: then eight memories are shared and each leg's first stands alone.
        ({"depth": 4, "prior": 0.7, "exact_match": 1}, {"worst": 0, "best_after": 0, "worst_after": 0}),
        ({"depth": 9}, {"best": 0, "identical": 0, "worst": 1}),
    ],
)
def test_the_weight_needed_beside_two_legs_of_weight_one(options, needed):
    report = bound(RRF(late=0, graph=0.35), **options).to_dict()
    assert {case: report["needed"][case] for case in needed} == pytest.approx(needed)


@pytest.mark.parametrize(
    ("fuser", "k", "verdict"),
    [
        (RRF(late=0, graph=0), 10, "off"),
        (RRF(late=0, graph=0.35), 10, "barred"),
        (RRF(late=0, graph=0.872), 10, "reachable only at best"),
        (RRF(late=0, graph=1.87), 10, "reachable"),
        # k = 0 and powers of two: one base leg of weight 1, top 2 puts exactly 1/2 in the way; a tie does not enter.
        (RRF(late=0, k=0, dense=0, graph=0.5), 2, "barred"),
        (RRF(late=0, k=0, dense=0, graph=0.5 + 1e-9), 2, "reachable"),
        (RRF(late=0, lexical=0, dense=0, graph=0.01), 10, "reachable"),
        (MinMax(late=0, graph=0.35), 10, "reachable only at best"),
        (TM2C2(late=0, graph=0.35), 1, "barred"),
    ],
)
def test_verdicts(fuser, k, verdict):
    assert bound(fuser, k=k).verdict == verdict


def test_by_the_default_no_leg_is_barred_where_the_others_agree_or_have_nothing_in_common():
    for found in bounds(Settings()):
        assert max(found.needed["disjoint"], found.needed["identical"]) < found.weight
    wider = Settings(fuser=RRF(k=DEFAULT_FUSER.k + 1, **DEFAULT_FUSER.weights))
    assert any(found.needed["identical"] >= found.weight for found in bounds(wider))
    heavy = bounds(Settings(fuser=RRF(late=0, graph=1.2), prior=1))
    assert [found.leg for found in heavy if found.verdict == "barred"] == ["lexical", "dense"]


# Brute force.


def overlaps(legs, depth, profiles):
    """Every way lists of this depth can overlap: the first leg's ids are 0, 1, …, the others' any."""
    others = [list(permutations(range(legs * depth), depth))] * (legs - 1)
    for shares in profiles:
        for lists in product([tuple(range(depth))], *others):
            yield {
                leg: [(id, LOW.get(leg, 0.0) * (1 - share) + share) for id, share in zip(ids, shares, strict=False)]
                for leg, ids in zip(BASE, lists, strict=False)
            }


@st.composite
def cases(draw):
    legs, depth = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    weights = {leg: draw(WEIGHT) if place < legs else 0 for place, leg in enumerate((*BASE, "late"))}
    fuser = draw(st.sampled_from([RRF(k=draw(st.floats(0, 70)), **weights), TM2C2(**weights)]))
    profiles = [(1, 0, 0), (1, 1, 1), (1, 0.5, 0.2)] if isinstance(fuser, TM2C2) else [(1, 0.5, 0.2)]
    return fuser, list(overlaps(legs, depth, profiles)), {"k": draw(st.integers(1, 4)), "depth": depth}


@settings(max_examples=30, deadline=None)
@given(cases(), st.floats(0.2, 1))
def test_best_and_worst_are_the_extremes_of_all_overlaps_and_decide_prior_included(case, prior):
    fuser, lists, asked = case
    needed = bound(fuser, **asked).needed
    pools = {str(number): Pool.of(found) for number, found in enumerate(lists)}
    actual = on_lists(fuser, pools, k=asked["k"]).needed.values()
    assert (needed["best"], needed["worst"]) == pytest.approx((min(actual), max(actual)))
    assert min(actual) - 1e-9 <= needed["disjoint"] <= max(actual) + 1e-9
    weights = bound(fuser, prior=prior, **asked).needed.values()
    worlds = [{**dict.fromkeys(range(6), other), OUTSIDER: own} for other, own in ((0, 1), (1, 0))]

    def outcomes(weight):
        heavy = fuser.reweighed(graph=weight)
        entered = [Pool.of({**found, "graph": [(OUTSIDER, 1.0)]}) for found in lists]
        rankings = [placed(fused(pool, heavy), world, prior) for pool in entered for world in worlds]
        return {OUTSIDER in [hit.id for hit in hits[: asked["k"]]] for hits in rankings}

    for weight, below, above in ((min(weights), {False}, {True, False}), (max(weights), {True, False}, {True})):
        low, high = weight * (1 - 1e-6), weight * (1 + 1e-6) + 1e-3
        assert not 0 < low <= 5 or False in outcomes(low) <= below
        assert high > 5 or True in outcomes(high) <= above


# Actual lists.


def test_reports_over_queries():
    loud = Pool.of({**FULL, "graph": [(id, 1.0) for id in range(100, 150)]})
    # The leg's own list is not looked at.
    assert on_lists(RRF(late=0), {"q": loud}) == on_lists(RRF(late=0), {"q": Pool.of(FULL)})
    pools = {"full": Pool.of(FULL), "few": Pool.of({"lexical": FULL["lexical"][:3]}), "none": Pool.of({})}
    some = on_lists(RRF(late=0, graph=0.35), pools)
    assert some.needed == {"full": pytest.approx(BEST), "few": 0, "none": 0}
    assert some.verdict == "reachable on some queries" and "it could enter on 2 of 3 queries" in str(some)
    off = on_lists(RRF(late=0, graph=0), pools)
    assert (off.verdict, off.entering) == ("off", 0)
    for report in (bound(RRF(late=0, graph=0.35), prior=0, exact_match=0.1), off, some):
        assert json.loads(json.dumps(report.to_dict(), allow_nan=False)) == report.to_dict() and "\n" not in str(report)
