"""What comes after fusion: the exact-match bonus and the importance prior."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recall_cases import CASES

from hopgate.recall.fusers import RRF, TM2C2, MinMax
from hopgate.recall.fusion import Pool, fused
from hopgate.recall.lexical import holds_all, quoted
from hopgate.recall.order import half_and_half, placed

LEGS = {"lexical": [("a", 3.0), ("b", 2.0), ("c", 1.0)], "dense": [("c", 0.9), ("d", 0.5)]}
UNIT = st.floats(0, 1)
FUSERS = st.sampled_from([RRF(), TM2C2(), MinMax()])


def ids(hits):
    return [hit.id for hit in hits]


@given(st.dictionaries(st.sampled_from("abcd"), UNIT), UNIT, st.sets(st.sampled_from("abcdz")), st.floats(0, 5), FUSERS)
def test_final_is_fused_and_bonus_times_the_prior(importance, prior, matched, bonus, fuser):
    ranking = fused(Pool.of(LEGS), fuser)
    hits = placed(ranking, importance, prior, bonus, matched)
    scores = dict(ranking.top())
    assert sorted(ids(hits)) == sorted(scores)
    for hit in hits:
        assert hit.prior == prior + (1 - prior) * importance.get(hit.id, 0.5)
        # The bonus is worth what a further leg of this weight gives to its first.
        assert hit.bonus == (bonus * fuser.largest_unit if hit.id in matched else 0.0)
        assert hit.score == pytest.approx((scores[hit.id] + hit.bonus) * hit.prior)
    assert all(one.score >= two.score * (1 - 1e-9) for one, two in itertools.pairwise(hits))


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
