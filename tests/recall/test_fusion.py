"""Fusers are values, one fusion on arrays obeys the algebra that a reader would expect, and what comes after it."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recall_cases import CASES

from hopgate.errors import HopgateError
from hopgate.recall.fusers import LEGS, MINIMA, RRF, TM2C2, MinMax, parse
from hopgate.recall.fusion import Pool, Units, fused
from hopgate.recall.lexical import holds_all, quoted
from hopgate.recall.order import half_and_half, placed

IDS = "abcdefgh"
UNIT = st.floats(0, 1)
WEIGHT = st.one_of(st.just(0.0), st.floats(0.05, 5))
WEIGHTS = st.fixed_dictionaries(dict.fromkeys(LEGS, WEIGHT))
KINDS = st.sampled_from([RRF(), RRF(k=0), RRF(k=5), TM2C2(), MinMax()])
FUSERS = st.builds(lambda kind, weights: kind.reweighed(**weights), KINDS, WEIGHTS)


@st.composite
def lists(draw, min_size=0, legs=LEGS):
    """What each leg lists, best first, ties included."""
    found = {}
    for leg in legs:
        chosen = draw(st.lists(st.sampled_from(IDS), unique=True, min_size=min_size))
        scores = draw(st.lists(st.floats(MINIMA[leg], 1, width=16), min_size=len(chosen), max_size=len(chosen)))
        found[leg] = list(zip(chosen, sorted(scores, reverse=True), strict=True))
    return found


@st.composite
def completed(draw):
    """Lists, and real scores of all of the pool that a leg could see."""
    found = draw(lists())
    pool = sorted({id for listed in found.values() for id, _ in listed})
    scores = {}
    for leg, listed in found.items():
        last = listed[-1][1] if listed else MINIMA[leg]
        seen = [id for id in pool if id not in dict(listed) and draw(st.booleans())]
        scores[leg] = {**dict(listed), **{id: draw(st.floats(MINIMA[leg], last, width=16)) for id in seen}}
    return found, scores


# The values.


@given(st.sampled_from([RRF, TM2C2, MinMax]), WEIGHTS, st.one_of(st.integers(0, 10**6), st.floats(0, 1e300)))
def test_a_fuser_is_given_back_from_what_it_prints(kind, weights, k):
    fuser = kind(**weights, **({"k": k} if kind is RRF else {}))
    again = parse(repr(fuser))
    assert again == fuser and hash(again) == hash(fuser) and repr(again) == repr(fuser)
    assert RRF(k=60, graph=-0.0) == RRF(k=60.0, graph=0) and "graph=0)" in repr(RRF(graph=-0.0))


@pytest.mark.parametrize("text", [*CASES["no_fusers"], "(" * 500])
def test_text_that_is_no_fuser_is_refused_in_one_sentence(text):
    with pytest.raises(HopgateError) as refused:
        parse(text)
    assert "\n" not in str(refused.value)


# The formulas.


@given(lists(), WEIGHTS, st.sampled_from([0.0, 5.0, 60.0]))
def test_rrf_is_the_formula(found, weights, k):
    expected = {}
    for leg, listed in found.items():
        for id, score in listed if weights[leg] else ():
            rank = 1 + sum(other > score for _, other in listed)
            expected[id] = expected.get(id, 0.0) + weights[leg] / (k + rank)
    ranking = fused(Pool.of(found), RRF(k=k, **weights))
    assert dict(ranking.top()) == pytest.approx(expected)


def test_tm2c2_and_min_max_by_hand():
    found = {"lexical": [("a", 8.0), ("b", 2.0)], "dense": [("b", 0.6), ("c", 0.2)]}
    scores = {"lexical": {"c": 0.0}, "dense": {"a": 0.4}}
    by_range = dict(fused(Pool.of(found, scores), MinMax(lexical=0.3, dense=0.7)).top())
    assert by_range == pytest.approx({"a": 0.3 + 0.35, "b": 0.075 + 0.7, "c": 0.0})
    by_theory = dict(fused(Pool.of(found, scores), TM2C2(lexical=0.3, dense=0.7)).top())
    assert by_theory == pytest.approx({"a": 0.3 + 0.7 * 1.4 / 1.6, "b": 0.075 + 0.7, "c": 0.7 * 1.2 / 1.6})
    # A leg that tells nothing apart gives all the same.
    found = {"lexical": [("a", 2.0), ("b", 2.0)], "dense": [("b", 0.9), ("a", 0.1)]}
    assert fused(Pool.of(found), MinMax()).top() == [("b", 2.0), ("a", 1.0)]


# The algebra.


@given(completed(), FUSERS)
def test_weight_zero_is_the_same_as_no_leg(case, fuser):
    found, scores = case
    on = {leg: found[leg] for leg in fuser.active}
    ranking = fused(Pool.of(found, scores), fuser)
    assert ranking.top() == fused(Pool.of(on, scores), fuser).top()
    assert sorted(ranking.ids) == sorted({id for listed in on.values() for id, _ in listed})


@given(completed(), FUSERS, st.randoms(use_true_random=False))
def test_the_order_of_the_legs_does_not_matter(case, fuser, random):
    found, scores = case
    names = list(found)
    random.shuffle(names)
    other = fused(Pool.of({leg: found[leg] for leg in names}, scores), fuser)
    assert other.ids == fused(Pool.of(found, scores), fuser).ids


@given(completed(), FUSERS)
def test_ties_go_to_what_more_legs_saw_the_better_single_rank_and_then_by_id(case, fuser):
    pool = Pool.of(*case)
    ranking = fused(pool, fuser)
    on = [pool.legs.index(leg) for leg in ranking.units.legs]
    for above, below in itertools.pairwise(ranking.order):
        assert ranking.scores[above] >= ranking.scores[below] * (1 - 1e-11)
        if ranking.scores[above] == ranking.scores[below]:
            first, second = (
                (pool.unseen[on, place].sum(), pool.ranks[on, place].min(), place) for place in (above, below)
            )
            assert first < second


def test_ties_go_by_another_order_where_one_is_given():
    found = {"lexical": [(1, 0.5)], "dense": [(2, 0.5)]}
    names = {1: "z", 2: "a"}
    assert fused(Pool.of(found), RRF()).ids == [1, 2]
    assert fused(Pool.of(found, key=names.__getitem__), RRF()).ids == [2, 1]


@given(completed(), FUSERS, st.lists(st.lists(st.floats(0.05, 5), min_size=4, max_size=4), min_size=1, max_size=6))
def test_weighing_many_times_is_weighing_each_time(case, fuser, rows):
    pool = Pool.of(*case)
    units = Units.of(pool, fuser)
    weights = np.array(rows)[:, : len(units.legs)]
    for row, places in zip(weights, units.ordered(units.weighed(weights), 3), strict=True):
        again = fused(pool, fuser.reweighed(**dict(zip(units.legs, row.tolist(), strict=True))))
        assert [pool.ids[place] for place in places] == again.ids[:3]


@given(completed(), FUSERS)
def test_the_shares_add_up_to_the_score_and_what_a_leg_could_not_see_has_no_rank_in_it(case, fuser):
    pool = Pool.of(*case)
    ranking = fused(pool, fuser)
    unseen = dict(zip(pool.legs, pool.unseen, strict=True))
    for id, score in ranking.top():
        shares = ranking.shares(id)
        assert sum(share.contribution for share in shares.values()) == pytest.approx(score)
        for leg, share in shares.items():
            if unseen[leg][pool.ids.index(id)]:
                assert (share.rank, share.score) == (None, None)


def test_what_is_no_list_of_a_leg_is_refused():
    for found, complaint in (
        ({"dense": [("a", math.nan)]}, "the dense leg scores 'a' with nan"),
        ({"graph": [(4, 0.5), (4, 0.4)]}, "the graph leg lists a memory twice"),
        ({"lexcial": [("a", 1.0)]}, "no weight for the leg 'lexcial'"),
    ):
        with pytest.raises(HopgateError, match=complaint):
            fused(Pool.of(found), RRF())
    assert fused(Pool.of({}), RRF()).top() == fused(Pool.of({"graph": [("a", 1.0)]}), RRF(graph=0)).top() == []


# What a leg could not see.


@given(completed(), KINDS)
def test_what_is_expected_of_a_leg_is_within_what_it_really_gave_and_never_falls(case, fuser):
    pool = Pool.of(*case)
    units = Units.of(pool, fuser).values
    for row, unseen in enumerate(pool.unseen):
        real = units[row, ~unseen]
        if len(real):
            assert (units[row, unseen] <= real.max()).all() and (units[row, unseen] >= real.min()).all()
    # Of two that the same legs could not see the one that is better elsewhere gets no less.
    for one, other in itertools.permutations(range(len(pool.ids)), 2):
        not_seen = pool.unseen[:, one]
        if (not_seen == pool.unseen[:, other]).all() and (units[~not_seen, one] >= units[~not_seen, other]).all():
            assert (units[not_seen, one] >= units[not_seen, other] - 1e-12).all()


def test_a_leg_that_agrees_is_expected_to_go_on_agreeing_and_one_that_does_not_gives_its_mean():
    words = [("secret", 10.0), *((f"m{n}", 9.0 - n) for n in range(9))]
    agrees = [(f"m{n}", 0.9 - n / 10) for n in range(9)]
    at_odds = [(f"m{n}", (n * 37 % 9) / 10) for n in range(9)]
    for listed, low, high in ((agrees, 0.9, 1.0), (at_odds, 0.2, 0.7)):
        pool = Pool.of({"lexical": words, "dense": sorted(listed, key=lambda pair: -pair[1])}, {"dense": dict(listed)})
        assert low <= Units.of(pool, MinMax()).values[1, pool.ids.index("secret")] <= high


# After fusion: the exact-match bonus, the importance prior, and the order of what was read again.


def ids(hits):
    return [hit.id for hit in hits]


@given(st.dictionaries(st.sampled_from("abcd"), UNIT), UNIT, st.sets(st.sampled_from("abcdz")), st.floats(0, 5), KINDS)
def test_final_is_fused_and_bonus_times_the_prior(importance, prior, matched, bonus, fuser):
    legs = {"lexical": [("a", 3.0), ("b", 2.0), ("c", 1.0)], "dense": [("c", 0.9), ("d", 0.5)]}
    ranking = fused(Pool.of(legs), fuser)
    hits = placed(ranking, importance, prior, bonus, matched)
    scores = dict(ranking.top())
    assert sorted(ids(hits)) == sorted(scores)
    for hit in hits:
        assert hit.prior == prior + (1 - prior) * importance.get(hit.id, 0.5)
        # The bonus is worth what a further leg of this weight gives to its first.
        assert hit.bonus == (bonus * fuser.largest_unit if hit.id in matched else 0.0)
        assert hit.score == pytest.approx((scores[hit.id] + hit.bonus) * hit.prior)
    assert all(above.score >= below.score * (1 - 1e-9) for above, below in itertools.pairwise(hits))


@given(st.permutations("abcd"), UNIT)
def test_equal_importance_changes_no_order_though_scores_tie(permuted, importance):
    ranking = fused(Pool.of({"dense": [(id, 0.5) for id in permuted]}), TM2C2())
    assert ids(placed(ranking, dict.fromkeys("abcd", importance), 0.7)) == ranking.ids


@given(st.permutations("abcdefgh"), st.dictionaries(st.sampled_from("abcdefgh"), UNIT))
def test_what_was_not_read_keeps_its_place_and_the_rest_changes_places(order, scores):
    new = half_and_half(order, scores)
    assert sorted(new) == sorted(order)
    assert all(before == after for before, after in zip(order, new, strict=True) if before not in scores)
    # What is before another for both is before it.
    for first, second in itertools.combinations([id for id in order if id in scores], 2):
        assert scores[first] < scores[second] or new.index(first) < new.index(second)


@pytest.mark.parametrize(("query", "content", "rare", "exact"), CASES["exact"])
def test_exact_matching(query, content, rare, exact):
    phrases = quoted(query) or rare
    assert (bool(phrases) and holds_all(content, phrases)) is exact
