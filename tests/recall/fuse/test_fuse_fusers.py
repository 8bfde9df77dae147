"""The algebra every fuser obeys: silence, absence, order, permutation, monotonicity, scale."""

import itertools
import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.recall.fuse import RRF, TM2C2, Bounded, Fuser, MinMax, StretchedRRF, active, total

IDS = "abcdefgh"
WEIGHT = st.one_of(st.just(0.0), st.floats(0.05, 5))
NAMES = ("lexical", "dense", "graph", "title")
FLOORS = {"dense": -1.0}


@st.composite
def legs(draw, names=NAMES, ids=IDS, min_size=0):
    """Legs with descending scores inside their theoretical range, ties included."""
    result = {}
    for name in draw(st.lists(st.sampled_from(names), unique=True)):
        chosen = draw(st.lists(st.sampled_from(ids), unique=True, min_size=min_size))
        low = FLOORS.get(name, 0.0)
        scores = draw(st.lists(st.floats(low, 1, width=16), min_size=len(chosen), max_size=len(chosen)))
        result[name] = list(zip(chosen, sorted(scores, reverse=True), strict=True))
    return result


@st.composite
def fusers(draw):
    weights = {name: draw(WEIGHT) for name in ("lexical", "dense", "graph")}
    weights["others"] = {"title": draw(WEIGHT)}
    k = draw(st.floats(0, 200))
    return draw(
        st.sampled_from([RRF(k=k, **weights), StretchedRRF(k=k, **weights), TM2C2(**weights), MinMax(**weights)])
    )


def ids(hits):
    return [hit.id for hit in hits]


@given(fusers(), legs())
def test_the_pool_is_the_union_of_the_legs_that_are_on(fuser, given_legs):
    on = {name: leg for name, leg in given_legs.items() if fuser.weights[name] > 0}
    hits = fuser.fuse(given_legs)
    assert sorted(ids(hits)) == sorted({id for leg in on.values() for id, _ in leg})
    for hit in hits:
        assert set(hit.ranks) == {name for name, leg in on.items() if hit.id in dict(leg)}
        assert all(on[name][rank - 1][0] == hit.id for name, rank in hit.ranks.items())
        assert hit.score == total(hit.contributions.values())
        assert math.isfinite(hit.score)
        assert hit.score >= 0


@given(fusers(), legs())
def test_weight_zero_is_the_same_as_no_leg(fuser, given_legs):
    assert fuser.fuse(given_legs) == fuser.fuse({n: leg for n, leg in given_legs.items() if n in active(fuser)})


@given(fusers(), legs())
def test_a_missing_leg_is_an_empty_one(fuser, given_legs):
    assert fuser.fuse(given_legs) == fuser.fuse({name: given_legs.get(name, []) for name in NAMES})


@given(fusers(), legs(), st.randoms(use_true_random=False))
def test_the_order_of_the_legs_does_not_matter_to_a_bit(fuser, given_legs, random):
    names = list(given_legs)
    random.shuffle(names)
    assert fuser.fuse(given_legs) == fuser.fuse({name: given_legs[name] for name in names})


@given(fusers(), legs())
def test_swapping_two_legs_with_their_weights_changes_nothing(fuser, given_legs):
    assume(not isinstance(fuser, TM2C2))  # lexical and dense have different minima
    swap = {"lexical": "dense", "dense": "lexical"}
    swapped = fuser.reweighed(**{swap.get(name, name): weight for name, weight in fuser.weights.items()})
    before = fuser.fuse(given_legs)
    after = swapped.fuse({swap.get(name, name): leg for name, leg in given_legs.items()})
    assert [(hit.id, hit.score) for hit in before] == [(hit.id, hit.score) for hit in after]


@given(fusers(), st.sampled_from(NAMES), st.data())
def test_a_leg_alone_keeps_its_own_order(fuser, name, data):
    fuser = fuser.reweighed(**{name: data.draw(st.floats(0.05, 5))})
    leg = data.draw(legs(names=(name,))).get(name, [])
    assert ids(fuser.fuse({name: leg, **{other: [] for other in NAMES if other != name}})) == [id for id, _ in leg]


@given(st.permutations(IDS), st.sampled_from([RRF(k=1e300), StretchedRRF(k=1e300), TM2C2(), MinMax()]))
def test_a_leg_alone_keeps_its_own_order_though_all_its_scores_tie(order, fuser):
    assert ids(fuser.fuse({"dense": [(id, 0.5) for id in order]})) == list(order)


@given(st.permutations(IDS), st.lists(st.floats(0, 1), min_size=8, max_size=8), st.sampled_from([RRF(), TM2C2()]))
def test_a_leg_alone_keeps_its_own_order_though_its_scores_rise(order, scores, fuser):
    # A lexical leg goes on with broadened rows, which may rank higher than the strict ones above them.
    assert ids(fuser.fuse({"lexical": list(zip(order, scores, strict=True))})) == list(order)


@given(fusers(), legs())
def test_the_result_is_sorted_and_ties_go_by_id(fuser, given_legs):
    hits = fuser.fuse(given_legs)
    several = len({name for hit in hits for name in hit.ranks}) > 1
    for above, below in itertools.pairwise(hits):
        assert above.score >= below.score
        if several and above.score == below.score:
            assert above.id < below.id


@given(fusers(), legs(min_size=2), st.data())
def test_rising_in_a_leg_never_costs_anything(fuser, given_legs, data):
    assume(given_legs)
    name = data.draw(st.sampled_from(sorted(given_legs)))
    leg = given_legs[name]
    rank = data.draw(st.integers(1, len(leg) - 1))
    risen = list(leg)
    # The two ids change places and the scores stay where they are.
    (above, high), (below, low) = leg[rank - 1], leg[rank]
    risen[rank - 1], risen[rank] = (below, high), (above, low)
    before = {hit.id: hit.score for hit in fuser.fuse(given_legs)}
    after = {hit.id: hit.score for hit in fuser.fuse({**given_legs, name: risen})}
    if fuser.weights[name] == 0:
        assert before == after
        return
    assert after[below] >= before[below]
    assert after[above] <= before[above]
    unmoved = before.keys() - {above, below}
    assert all(after[id] == before[id] for id in unmoved)


@given(legs(), st.sampled_from([RRF(graph=1.2, others={"title": 1}), StretchedRRF(graph=0.5, others={"title": 2})]))
def test_rank_fusion_is_free_of_scale(given_legs, fuser):
    rescaled = {name: [(id, math.atan(score) * 1e6 - 7) for id, score in leg] for name, leg in given_legs.items()}
    assert fuser.fuse(given_legs) == fuser.fuse(rescaled)


@given(legs(names=("lexical",), min_size=1), st.integers(-20, 20))
def test_the_convex_combination_is_free_of_scale_where_the_minimum_is_zero(given_legs, power):
    rescaled = {name: [(id, score * 2.0**power) for id, score in leg] for name, leg in given_legs.items()}
    assert TM2C2().fuse(given_legs) == TM2C2().fuse(rescaled)


@given(fusers(), legs(), st.sampled_from(IDS))
def test_a_leg_saying_nothing_of_an_id_leaves_its_score(fuser, given_legs, id):
    without = {name: [pair for pair in leg if pair[0] != id] for name, leg in given_legs.items() if name == "graph"}
    quiet = {**given_legs, **without}
    heard = {hit.id: hit for hit in fuser.fuse(quiet)}.get(id)
    assert heard is None or "graph" not in heard.contributions


def test_rrf_by_hand():
    hits = RRF(k=60, lexical=1, dense=2).fuse({"lexical": [(7, 0.3), (3, 0.2)], "dense": [(3, 0.9), (9, 0.8)]})
    assert ids(hits) == [3, 9, 7]
    assert [hit.score for hit in hits] == pytest.approx([1 / 62 + 2 / 61, 2 / 62, 1 / 61])


def test_stretched_rrf_at_weight_one_is_rrf():
    given_legs = {"lexical": [("a", 2.0), ("b", 1.0)], "dense": [("b", 0.5), ("c", 0.4)]}
    assert StretchedRRF().fuse(given_legs) == RRF().fuse(given_legs)


def test_stretched_rrf_by_hand():
    (hit,) = StretchedRRF(k=60, graph=0.35).fuse({"graph": [("a", 1.0)]})
    assert hit.score == pytest.approx(1 / (60 + 1 / 0.35))


def test_tm2c2_by_hand():
    fuser = TM2C2(lexical=2, dense=1, graph=0.5)
    hits = fuser.fuse({"lexical": [("a", 0.4), ("b", 0.1)], "dense": [("b", 0.5), ("c", -1.0)], "graph": [("c", 3e-4)]})
    assert {hit.id: hit.score for hit in hits} == pytest.approx({"a": 2.0, "b": 0.5 + 1.0, "c": 0.5})


def test_tm2c2_takes_other_minima_and_refuses_scores_below_them():
    bm25 = {"lexical": [("a", -1.0), ("b", -3.0)]}
    with pytest.raises(HopgateError, match="below its theoretical minimum 0"):
        TM2C2().fuse(bm25)
    assert [hit.score for hit in TM2C2(minima={"lexical": -5}).fuse(bm25)] == [1.0, 0.5]


def test_tm2c2_takes_a_score_a_rounding_below_its_minimum():
    assert [hit.score for hit in TM2C2().fuse({"dense": [("a", 1.0), ("b", -1.0000001)]})] == [1.0, 0.0]


def test_tm2c2_of_a_leg_that_lies_wholly_at_its_minimum_is_zero_in_its_own_order():
    hits = TM2C2().fuse({"graph": [("b", 0.0), ("a", 0.0)]})
    assert [(hit.id, hit.score) for hit in hits] == [("b", 0.0), ("a", 0.0)]


@pytest.mark.parametrize("fuser", [RRF(), StretchedRRF(), TM2C2()])
@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_is_refused(fuser, score):
    with pytest.raises(HopgateError, match="the dense leg scores 'a' with"):
        fuser.fuse({"dense": [("a", score)]})


@pytest.mark.parametrize("fuser", [RRF(), StretchedRRF(), TM2C2()])
def test_an_id_twice_in_a_leg_is_refused(fuser):
    with pytest.raises(HopgateError, match="the graph leg lists 4 twice"):
        fuser.fuse({"graph": [(4, 0.5), (4, 0.4)]})


@pytest.mark.parametrize("fuser", [RRF(graph=0), StretchedRRF(graph=0), TM2C2(graph=0)])
def test_a_leg_that_is_off_is_not_even_looked_at(fuser):
    assert fuser.fuse({"graph": [("a", math.nan), ("a", math.nan)]}) == []
    assert active(fuser) == ("lexical", "dense")


def test_a_leg_without_a_weight_is_refused():
    with pytest.raises(HopgateError, match="no weight for the leg 'lexcial'"):
        RRF().fuse({"lexcial": [("a", 1.0)]})


@pytest.mark.parametrize("fuser", [RRF(), StretchedRRF(), TM2C2()])
def test_every_fuser_keeps_the_protocols(fuser):
    assert isinstance(fuser, Fuser)
    assert isinstance(fuser, Bounded)


@given(fusers(), st.floats(0.05, 5), st.integers(1, 6))
def test_the_bounds_a_fuser_states_hold(fuser, weight, depth):
    assert fuser.weight_for(fuser.top(weight)) == pytest.approx(weight, rel=1e-6)
    steep, flat = fuser.steepest(weight, depth), fuser.flattest(weight, depth)
    assert len(steep) == len(flat) == depth
    assert steep[0] == flat[0] == fuser.top(weight)
    leg = [(id, 1.0 - 0.1 * id) for id in range(depth)]
    hits = fuser.reweighed(graph=weight).fuse({"graph": leg})
    assert all(low <= hit.score <= high for low, hit, high in zip(steep, hits, flat, strict=True))


@settings(max_examples=40)
@given(legs(names=("lexical", "dense", "graph"), min_size=1))
def test_rrf_agrees_with_an_independent_implementation(given_legs):
    scores = {}
    for leg in given_legs.values():
        for rank, (id, _) in enumerate(leg):
            scores[id] = scores.get(id, 0) + 1 / (61 + rank)
    assert {hit.id: hit.score for hit in RRF().fuse(given_legs)} == pytest.approx(scores)
