"""The closed form of reachability: the figures the project is built on, and brute force over small cases."""

import json
import math
from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.recall.fuse import RRF, TM2C2, ExactMatch, Importance, StretchedRRF, order
from hopgate.recall.reach import Reachability, barred_legs, bound
from hopgate.recall.reach.kth_score import hardest

OUTSIDER = 10**6  # the largest id: it loses every tie
LOW = {"dense": -1.0}
BASE = ("lexical", "dense", "title")
WEIGHT = st.floats(0.1, 2)


def test_two_base_legs_of_weight_one():
    found = bound(RRF(k=60, lexical=1, dense=1, graph=0.35), k=10)
    assert found.needed.best == pytest.approx(61 / 70)
    assert found.needed.disjoint == pytest.approx(61 / 65)
    assert found.needed.identical == pytest.approx(122 / 70)
    # The same ten memories in opposite order are harder still: the fifth of one is the sixth of the other.
    assert found.needed.worst == pytest.approx(61 / 65 + 61 / 66)
    assert found.verdict is Reachability.BARRED
    assert found.favourable == found.unfavourable == found.needed


def test_one_base_leg():
    needed = bound(RRF(dense=0)).needed
    assert needed.best == needed.disjoint == needed.identical == needed.worst == pytest.approx(61 / 70)


def test_nine_of_ten_shared_is_the_best_case():
    lexical = [(id, 1.0) for id in range(10)]
    dense = [*lexical[:9], (10, 1.0)]
    kth = RRF().fuse({"lexical": lexical, "dense": dense})[9].score
    assert RRF().weight_for(kth) == pytest.approx(61 / 70)


def test_the_importance_prior_loosens_to_seven_tenths_and_tightens_by_as_much():
    found = bound(RRF(graph=0.35), prior=Importance())
    assert found.favourable.best == pytest.approx(0.61)
    assert found.unfavourable.best == pytest.approx(61 / 70 / 0.7)
    assert found.unfavourable.worst == pytest.approx((61 / 65 + 61 / 66) / 0.7)
    assert found.verdict is Reachability.BARRED


def test_the_old_prototype_could_not_pass_even_the_last_base_candidate():
    found = bound(RRF(graph=0.35), depths=50, prior=Importance())
    assert found.ceiling == pytest.approx(0.35 / 61)
    assert found.base_floor == pytest.approx(1 / 110)
    assert found.ceiling < 0.7 * found.base_floor


@pytest.mark.parametrize(
    ("weight", "verdict"),
    [(0, "off"), (0.35, "barred"), (0.87, "barred"), (0.872, "reachable only at best"), (1.87, "reachable")],
)
def test_verdicts(weight, verdict):
    assert bound(RRF(graph=weight)).verdict == verdict


def test_a_tie_does_not_enter():
    # k = 0 and powers of two: one base leg of weight 1, top 2 puts exactly 1/2 in the way.
    assert bound(RRF(k=0, dense=0, graph=0.5), k=2).verdict is Reachability.BARRED
    assert bound(RRF(k=0, dense=0, graph=0.5 + 1e-9), k=2).verdict is Reachability.REACHABLE


def test_stretched_rrf():
    needed = bound(StretchedRRF(graph=0.35)).needed
    assert needed.best == pytest.approx(0.1)
    assert needed.disjoint == pytest.approx(0.2)
    assert needed.identical == needed.worst == math.inf
    assert bound(StretchedRRF(graph=0.35)).verdict is Reachability.AT_BEST


def test_the_convex_combination_depends_on_how_fast_scores_fall():
    needed = bound(TM2C2(graph=0.35)).needed
    assert (needed.best, needed.disjoint, needed.identical, needed.worst) == (0, 1, 2, 2)
    assert bound(TM2C2(graph=0.35), k=1).needed.best == 1


@pytest.mark.parametrize("fuser", [RRF(graph=0.01), StretchedRRF(graph=0.01), TM2C2(graph=0.01)])
def test_where_the_others_leave_room_any_weight_suffices(fuser):
    found = bound(fuser, k=10, depths={"lexical": 5, "dense": 4}, prior=Importance(), exact=ExactMatch())
    assert set(found.unfavourable.to_dict().values()) == {0.0}
    assert found.verdict is Reachability.REACHABLE
    assert bound(fuser.reweighed(lexical=0, dense=0)).verdict is Reachability.REACHABLE


def test_legs_that_leave_room_only_when_they_overlap():
    needed = bound(RRF(), k=10, depths=9).needed
    assert needed.best == needed.identical == 0
    assert needed.disjoint == pytest.approx(61 / 65)
    # Eight memories are shared, and each leg's first stands alone.
    assert needed.worst == pytest.approx(1)


def test_the_exact_match_bonus_moves_both_ends():
    found = bound(RRF(), exact=ExactMatch(bonus=0.5))
    assert found.favourable.best == pytest.approx(61 / 70 - 0.5)
    assert found.unfavourable.worst == pytest.approx(found.needed.worst + 0.5)


def test_a_prior_that_may_take_everything():
    found = bound(RRF(), prior=Importance(0))
    assert found.favourable.best == 0
    assert found.unfavourable.best == math.inf
    assert found.to_dict()["needed_at_extremes"]["unfavourable"]["best"] is None


def test_the_bound_goes_into_json_and_onto_one_line():
    found = bound(StretchedRRF(graph=0.35), prior=Importance(), exact=ExactMatch())
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False)) == found.to_dict()
    assert found.to_dict()["verdict"] == "reachable only at best"
    assert "\n" not in str(found)
    assert "impossible at worst" in str(found)


def test_a_heavy_leg_bars_the_others_and_recall_can_say_so():
    assert [sentence.split()[1] for sentence in barred_legs(RRF(graph=1.2))] == ["lexical", "dense"]
    assert barred_legs(RRF(graph=1.2), prior=Importance()) == ()
    assert len(barred_legs(RRF(graph=0.35), prior=Importance())) == 1
    assert barred_legs(RRF(graph=0)) == ()


@pytest.mark.parametrize(
    "ask", [{"k": 0}, {"k": 1.5}, {"leg": "grpah"}, {"depths": -1}, {"depths": {"dense": 2.5}}, {"k": True}]
)
def test_nonsense_is_refused(ask):
    with pytest.raises(HopgateError):
        bound(RRF(), **ask)


def test_a_fuser_that_states_no_bounds_is_refused_and_never_warned_about():
    class Learned:
        weights = {"lexical": 1.0, "graph": 1.0}  # noqa: RUF012

        def fuse(self, legs):
            return []

    with pytest.raises(HopgateError, match="states no bounds"):
        bound(Learned())
    assert barred_legs(Learned()) == ()


# Brute force ---------------------------------------------------------------------------------------------------------


def scored(name, ids, shares):
    low = LOW.get(name, 0.0)
    return [(id, low + (1 - low) * share) for id, share in zip(ids, shares, strict=False)]


def arrangements(depths, profiles):
    """Every way lists of these depths can overlap: the first leg's ids are 0, 1, …, the others' any."""
    first, *rest = depths
    universe = range(sum(depths))
    for shares in profiles:
        for lists in product([tuple(range(first))], *(list(permutations(universe, depth)) for depth in rest)):
            yield {name: scored(name, ids, shares) for name, ids in zip(BASE, lists, strict=False)}


def enters(fuser, legs, k, prior=None, importance=None):
    hits = fuser.fuse({**legs, "graph": [(OUTSIDER, 1.0)]})
    ordered = order(hits, prior=prior, importance=importance)
    return OUTSIDER in [hit.id for hit in ordered[:k]]


def around(weight):
    """Weights just below and just above, where they are weights at all."""
    below, above = weight * (1 - 1e-6), weight * (1 + 1e-6) if weight else 1e-3
    return (below if 0 < below <= 5 else None), (above if above <= 5 else None)


DEPTHS = st.one_of(
    st.tuples(st.integers(1, 3)), st.tuples(st.integers(1, 3), st.integers(1, 3)), st.tuples(*[st.integers(1, 2)] * 3)
)


@st.composite
def cases(draw, kinds=("RRF", "StretchedRRF", "TM2C2"), depths=DEPTHS):
    deep = draw(depths)
    weights = dict(zip(BASE, [draw(WEIGHT) for _ in deep], strict=False))
    weights = {"lexical": 0, "dense": 0, "title": 0} | weights
    settings = {"lexical": weights["lexical"], "dense": weights["dense"], "others": {"title": weights["title"]}}
    kind, k_rrf = draw(st.sampled_from(kinds)), draw(st.floats(0, 70))
    fuser = (
        TM2C2(**settings) if kind == "TM2C2" else {"RRF": RRF, "StretchedRRF": StretchedRRF}[kind](k=k_rrf, **settings)
    )
    profiles = [(1, 0, 0), (1, 1, 1), (1, 0.5, 0.2)] if kind == "TM2C2" else [(1, 0.5, 0.2)]
    return fuser, dict(zip(BASE, deep, strict=False)), draw(st.integers(1, 4)), profiles


@settings(max_examples=60, deadline=None)
@given(cases())
def test_best_and_worst_are_the_extremes_of_all_overlaps(case):
    fuser, depths, k, profiles = case
    found = bound(fuser, k=k, depths=depths)
    in_the_way = []
    for legs in arrangements(tuple(depths.values()), profiles):
        hits = fuser.fuse(legs)
        in_the_way.append(fuser.weight_for(hits[k - 1].score) if len(hits) >= k else 0.0)
    assert found.needed.best == pytest.approx(min(in_the_way))
    if found.worst_is_exact:
        assert found.needed.worst == pytest.approx(max(in_the_way))
    else:
        assert found.needed.worst >= max(in_the_way)


@settings(max_examples=40, deadline=None)
@given(cases())
def test_disjoint_and_identical_are_what_they_say(case):
    fuser, depths, k, profiles = case
    found = bound(fuser, k=k, depths=depths)
    flat = profiles[1] if len(profiles) > 1 else profiles[0]
    apart = {name: scored(name, range(10 * i, 10 * i + d), flat) for i, (name, d) in enumerate(depths.items())}
    same = {name: scored(name, range(d), flat) for name, d in depths.items()}
    for legs, needed in ((apart, found.needed.disjoint), (same, found.needed.identical)):
        hits = fuser.fuse(legs)
        assert needed == pytest.approx(fuser.weight_for(hits[k - 1].score) if len(hits) >= k else 0.0)


@settings(max_examples=40, deadline=None)
@given(cases(depths=st.one_of(st.tuples(st.integers(1, 3)), st.tuples(*[st.integers(1, 2)] * 2))), st.floats(0.2, 1))
def test_the_weight_found_is_the_weight_that_decides_prior_included(case, floor):
    fuser, depths, k, profiles = case
    prior = Importance(floor)
    found = bound(fuser, k=k, depths=depths, prior=prior)
    legs = list(arrangements(tuple(depths.values()), profiles))
    ids = range(sum(depths.values()))
    worlds = [
        (dict(zip(ids, bits, strict=True)) | {OUTSIDER: own}) for *bits, own in product((0, 1), repeat=len(ids) + 1)
    ]

    def outcomes(weight):
        heavy = fuser.reweighed(graph=weight)
        return {enters(heavy, leg, k, prior, world) for leg in legs for world in worlds}

    below, above = around(found.favourable.best)
    assert below is None or outcomes(below) == {False}
    assert above is None or True in outcomes(above)
    below, above = around(found.unfavourable.worst) if math.isfinite(found.unfavourable.worst) else (None, None)
    assert below is None or False in outcomes(below)
    assert above is None or outcomes(above) == {True}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.floats(0, 1), max_size=4), min_size=1, max_size=3), st.integers(1, 4))
def test_the_hardest_arrangement_of_any_columns(columns, k):
    columns = [sorted(column, reverse=True) for column in columns]
    found, exact = hardest(columns, k)
    if sum(map(len, columns)) < k:
        assert found is None
        return
    first, *rest = [[*column[:k], *[0.0] * (k - len(column))] for column in columns]
    truth = max(min(map(sum, zip(first, *others, strict=True))) for others in product(*map(permutations, rest)))
    assert found >= truth - 1e-12
    if exact:
        assert found == pytest.approx(truth, abs=1e-12)
    assert exact or len(columns) > 2
