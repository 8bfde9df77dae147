"""Reachability: the figures the project is built on, brute force over small cases, and actual lists."""

import json
from dataclasses import asdict
from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.recall.fusers import LEGS, RRF, TM2C2, MinMax
from hopgate.recall.fusion import Pool, fused
from hopgate.recall.order import ExactMatch, Importance, placed
from hopgate.recall.reachability import Reachability, barred_legs, bound, on_lists
from hopgate.recall.settings import DEFAULT_FUSER, Settings

OUTSIDER = 10**6  # the largest id: it loses every tie
LOW = {"dense": -1.0}
BASE = ("lexical", "dense")
WEIGHT = st.floats(0.1, 2)
FULL = {"lexical": [(id, 1.0 / (id + 1)) for id in range(50)]}


def test_two_base_legs_of_weight_one():
    found = bound(RRF(late=0, k=60, lexical=1, dense=1, graph=0.35), k=10)
    assert found.needed.best == pytest.approx(61 / 70)
    assert found.needed.disjoint == pytest.approx(61 / 65)
    assert found.needed.identical == pytest.approx(122 / 70)
    # The same ten memories in opposite order are harder still: the fifth of one is the sixth of the other.
    assert found.needed.worst == pytest.approx(61 / 65 + 61 / 66)
    assert found.verdict is Reachability.BARRED
    assert found.favourable == found.unfavourable == found.needed
    (one,) = {getattr(bound(RRF(late=0, dense=0)).needed, name) for name in ("best", "disjoint", "identical", "worst")}
    assert one == pytest.approx(61 / 70)


def test_the_importance_prior_and_the_exact_match_bonus_loosen_and_tighten_by_as_much():
    found = bound(RRF(late=0, graph=0.35), prior=Importance())
    assert found.favourable.best == pytest.approx(0.61)
    assert found.unfavourable.worst == pytest.approx((61 / 65 + 61 / 66) / 0.7)
    assert bound(RRF(late=0), prior=Importance(0)).to_dict()["unfavourable"]["best"] is None
    found = bound(RRF(late=0), exact=ExactMatch(bonus=0.5))
    assert found.favourable.best == pytest.approx(61 / 70 - 0.5)
    assert found.unfavourable.worst == pytest.approx(found.needed.worst + 0.5)


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
    for leg in LEGS:
        found = bound(DEFAULT_FUSER, leg=leg)
        assert max(found.needed.disjoint, found.needed.identical) < DEFAULT_FUSER.weights[leg]
    wider = RRF(k=DEFAULT_FUSER.k + 1, **DEFAULT_FUSER.weights)
    assert any(bound(wider, leg=leg).needed.identical >= DEFAULT_FUSER.weights[leg] for leg in LEGS)


def test_where_the_others_leave_room_any_weight_suffices():
    found = bound(RRF(late=0, graph=0.01), depths={"lexical": 5, "dense": 4}, prior=Importance(), exact=ExactMatch())
    assert set(asdict(found.unfavourable).values()) == {0.0}
    needed = bound(RRF(late=0), depths=9).needed
    assert needed.best == needed.identical == 0
    # Eight memories are shared, and each leg's first stands alone.
    assert needed.worst == pytest.approx(1)


def test_a_heavy_leg_bars_the_others_and_recall_can_say_so():
    barred = barred_legs(Settings(fuser=RRF(late=0, graph=1.2), prior=1))
    assert [sentence.split()[1] for sentence in barred] == ["lexical", "dense"]
    assert (
        barred_legs(Settings(fuser=RRF(late=0, graph=1.2))) == barred_legs(Settings(fuser=RRF(late=0, graph=0))) == ()
    )


@pytest.mark.parametrize("ask", [{"k": 0}, {"k": 1.5}, {"leg": "grpah"}, {"depths": -1}, {"depths": {"dense": 2.5}}])
def test_nonsense_is_refused(ask):
    with pytest.raises(HopgateError):
        bound(RRF(late=0), **ask)


# Brute force.


def overlaps(depths, profiles):
    """Every way lists of these depths can overlap: the first leg's ids are 0, 1, …, the others' any."""
    first, *rest = depths
    for shares in profiles:
        for lists in product([tuple(range(first))], *(permutations(range(sum(depths)), depth) for depth in rest)):
            yield {
                leg: [(id, LOW.get(leg, 0.0) * (1 - share) + share) for id, share in zip(ids, shares, strict=False)]
                for leg, ids in zip(BASE, lists, strict=False)
            }


@st.composite
def cases(draw):
    depths = draw(st.one_of(st.tuples(st.integers(1, 3)), st.tuples(st.integers(1, 3), st.integers(1, 3))))
    weights = {leg: draw(WEIGHT) if place < len(depths) else 0 for place, leg in enumerate((*BASE, "late"))}
    fuser = draw(st.sampled_from([RRF(k=draw(st.floats(0, 70)), **weights), TM2C2(**weights)]))
    profiles = [(1, 0, 0), (1, 1, 1), (1, 0.5, 0.2)] if isinstance(fuser, TM2C2) else [(1, 0.5, 0.2)]
    return fuser, depths, draw(st.integers(1, 4)), profiles


@settings(max_examples=60, deadline=None)
@given(cases())
def test_best_and_worst_are_the_extremes_of_all_overlaps(case):
    fuser, depths, k, profiles = case
    needed = bound(fuser, k=k, depths=dict(zip(BASE, depths, strict=False))).needed
    pools = {str(number): Pool.of(lists) for number, lists in enumerate(overlaps(depths, profiles))}
    weights = list(on_lists(fuser, pools, k=k).by_query.values())
    assert needed.best == pytest.approx(min(weights))
    assert needed.worst == pytest.approx(max(weights))
    assert min(weights) - 1e-9 <= needed.disjoint <= max(weights) + 1e-9


@settings(max_examples=30, deadline=None)
@given(cases(), st.floats(0.2, 1))
def test_the_weight_found_is_the_weight_that_decides_prior_included(case, floor):
    fuser, depths, k, profiles = case
    prior, ids = Importance(floor), range(sum(depths))
    found = bound(fuser, k=k, depths=dict(zip(BASE, depths, strict=False)), prior=prior)
    worlds = [
        {**dict(zip(ids, bits, strict=True)), OUTSIDER: own}
        for *bits, own in ([0] * len(ids) + [1], [1] * len(ids) + [0])
    ]

    def outcomes(weight):
        heavy = fuser.reweighed(graph=weight)
        pools = [Pool.of({**lists, "graph": [(OUTSIDER, 1.0)]}) for lists in overlaps(depths, profiles)]
        rankings = [placed(fused(pool, heavy), world, prior) for pool in pools for world in worlds]
        return {OUTSIDER in [hit.id for hit in hits[:k]] for hits in rankings}

    low, high = found.favourable.best * (1 - 1e-6), found.favourable.best * (1 + 1e-6) + 1e-3
    assert not 0 < low <= 5 or outcomes(low) == {False}
    assert high > 5 or True in outcomes(high)
    low, high = found.unfavourable.worst * (1 - 1e-6), found.unfavourable.worst * (1 + 1e-6) + 1e-3
    assert not 0 < low <= 5 or False in outcomes(low)
    assert high > 5 or outcomes(high) == {True}


# Actual lists.


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=12, max_size=12))
def test_the_bound_with_a_prior_holds_on_lists_with_any_importance(pairs):
    importance = {id: pair[0] for id, pair in enumerate(pairs)}
    pool = Pool.of({"lexical": [(id, 1.0) for id in range(12)], "dense": [(id, 1.0) for id in reversed(range(12))]})
    limits = bound(RRF(late=0), depths=12, prior=Importance())
    (needed,) = on_lists(RRF(late=0), {"q": pool}, prior=Importance(), importance=importance).by_query.values()
    assert limits.favourable.best * (1 - 1e-12) <= needed <= limits.unfavourable.worst


def test_reports_over_queries():
    loud = Pool.of({**FULL, "graph": [(id, 1.0) for id in range(100, 150)]})
    # The leg's own list is not looked at.
    assert on_lists(RRF(late=0), {"q": loud}) == on_lists(RRF(late=0), {"q": Pool.of(FULL)})
    off = on_lists(RRF(late=0, graph=0), {"q": Pool.of(FULL), "empty": Pool.of({})})
    assert (off.verdict, off.entering, off.needed(1)) == (Reachability.OFF, 0, pytest.approx(61 / 70))
    pools = {"full": Pool.of(FULL), "few": Pool.of({"lexical": FULL["lexical"][:3]}), "none": Pool.of({})}
    some = on_lists(RRF(late=0, graph=0.35), pools)
    assert some.verdict is Reachability.ON_SOME and "on 2 of 3 queries" in str(some)
    assert some.to_dict()["needed"] == {"first": 0, "half": 0, "all": pytest.approx(61 / 70)}
    nothing = on_lists(RRF(late=0), {})
    assert nothing.verdict is Reachability.BARRED and nothing.needed(1) == 0
    for report in (bound(RRF(late=0, graph=0.35), prior=Importance(), exact=ExactMatch(0.1)), off, some, nothing):
        assert json.loads(json.dumps(report.to_dict(), allow_nan=False)) == report.to_dict() and "\n" not in str(report)
