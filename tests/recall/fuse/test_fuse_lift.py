"""Lifting: over random lists, weights, unseen sets and priors, every leg's first is within the top k."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from test_fuse_unseen import KINDS, NAMES, WEIGHT

from hopgate.recall.fuse import Fused, Importance, lifted, order

IDS = "abcdefghijklmnopqrst"


@st.composite
def rankings(draw: st.DrawFn) -> tuple[list[Fused[str]], list[str]]:
    fuser = draw(st.sampled_from(KINDS))(**{name: draw(WEIGHT) for name in NAMES})
    legs = {}
    for name in NAMES:
        keys = draw(st.lists(st.sampled_from(IDS), unique=True))
        legs[name] = [(key, 1 - place / 50) for place, key in enumerate(keys)]
    pool = {key for leg in legs.values() for key, _ in leg}
    unseen = {
        name: {key for key in pool if draw(st.booleans())} - {key for key, _ in leg} for name, leg in legs.items()
    }
    importance = {key: draw(st.floats(0, 1)) for key in sorted(pool)}
    ranking = order(fuser.fuse(legs, unseen=unseen), importance=importance, prior=Importance(draw(st.floats(0, 1))))
    return ranking, [leg[0][0] for leg in legs.values() if leg]


@given(rankings(), st.integers(1, 25), st.lists(st.sampled_from(IDS), unique=True, max_size=3))
def test_every_legs_first_is_in_and_the_rest_keeps_its_order(
    case: tuple[list[Fused[str]], list[str]], k: int, near: list[str]
) -> None:
    ranking, firsts = case
    result, up = lifted(ranking, firsts, k, near=near)
    assert sorted(hit.id for hit in result) == sorted(hit.id for hit in ranking)
    top = [hit.id for hit in result[:k]]
    if k >= len(set(firsts)):
        assert set(firsts) <= set(top)
    else:
        assert result == ranking
    there = {hit.id for hit in ranking}
    if k >= max(3, len({*firsts, *near} & there)):
        assert set(near) & there <= set(top[:3])
    before = [hit.id for hit in ranking]
    stayed = [hit.id for hit in result[:k] if hit.id not in up]
    # What stays in keeps its order, whatever was lifted among it.
    assert stayed == [key for key in before if key in stayed]
    assert up <= {*firsts, *near}
    assert all(result.index(hit) < before.index(hit.id) for hit in result if hit.id in up)


@given(rankings(), st.integers(1, 25))
def test_nothing_moves_where_all_are_in(case: tuple[list[Fused[str]], list[str]], k: int) -> None:
    ranking, firsts = case
    if set(firsts) <= {hit.id for hit in ranking[:k]}:
        assert lifted(ranking, firsts, k) == (ranking, frozenset())
