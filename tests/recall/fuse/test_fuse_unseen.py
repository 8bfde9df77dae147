"""What a leg could not see: never worse than seen last, never above what beats it, and exactly one where it is best."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopgate.recall.fuse import RRF, TM2C2, Fused, MinMax, StretchedRRF, total

IDS = "abcdefghij"
NAMES = ("lexical", "dense", "graph")
WEIGHT = st.floats(0.05, 5)
KINDS = (RRF, StretchedRRF, TM2C2, MinMax)
Legs = dict[str, list[tuple[str, float]]]


@st.composite
def completed(draw: st.DrawFn) -> tuple[Any, Legs, dict[str, set[str]]]:
    """A fuser, legs that list all of a pool that they could see, and what they could not; each memory is seen once."""
    fuser = draw(st.sampled_from(KINDS))(**{name: draw(WEIGHT) for name in NAMES})
    pool = draw(st.lists(st.sampled_from(IDS), unique=True, min_size=2))
    seen = {key: draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1)) for key in pool}
    legs: Legs = {}
    for name in NAMES:
        listed = [key for key in draw(st.permutations(pool)) if name in seen[key]]
        scores = draw(st.lists(st.floats(0, 1, width=16), min_size=len(listed), max_size=len(listed)))
        legs[name] = list(zip(listed, sorted(scores, reverse=True), strict=True))
    return fuser, legs, {name: {key for key in pool if name not in seen[key]} for name in NAMES}


def by_id(hits: list[Fused[str]]) -> dict[str, Fused[str]]:
    return {hit.id: hit for hit in hits}


@given(completed())
def test_never_worse_than_seen_last(case: tuple[Any, Legs, dict[str, set[str]]]) -> None:
    fuser, legs, unseen = case
    fair = by_id(fuser.fuse(legs, unseen=unseen))
    for name, keys in unseen.items():
        for key in sorted(keys) if legs[name] else ():
            last = {**legs, name: [*legs[name], (key, legs[name][-1][1])]}
            if isinstance(fuser, MinMax | TM2C2) and len(legs[name]) > 1:
                last[name][-1] = (key, min(score for _, score in legs[name]))
            rest = {other: those - ({key} if other == name else set()) for other, those in unseen.items()}
            seen = by_id(fuser.fuse(last, unseen=rest))[key]
            assert fair[key].granted[name] >= seen.contributions[name] - 1e-12


@given(completed())
def test_never_above_what_beats_it(case: tuple[Any, Legs, dict[str, set[str]]]) -> None:
    fuser, legs, unseen = case
    hits = by_id(fuser.fuse(legs, unseen=unseen))
    for low in hits.values():
        for high in hits.values():
            if set(low.contributions) <= set(high.contributions) and all(
                high.contributions[name] > part for name, part in low.contributions.items()
            ):
                assert high.score >= low.score * (1 - 1e-12)


@given(completed())
def test_the_parts_add_up_and_nothing_is_granted_that_was_seen(case: tuple[Any, Legs, dict[str, set[str]]]) -> None:
    fuser, legs, unseen = case
    on = [name for name in NAMES if legs[name]]
    for hit in fuser.fuse(legs, unseen=unseen):
        assert set(hit.granted) == {name for name in on if hit.id in unseen[name]}
        assert hit.score == total([*hit.contributions.values(), *hit.granted.values()])
        assert all(0 <= part <= fuser.top(fuser.weights[name]) * (1 + 1e-9) for name, part in hit.granted.items())


@given(completed())
def test_nothing_unseen_is_the_plain_fusion(case: tuple[Any, Legs, dict[str, set[str]]]) -> None:
    fuser, legs, _ = case
    assert fuser.fuse(legs) == fuser.fuse(legs, unseen={name: set() for name in NAMES})


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_of_the_one_leg_that_could_see_it_comes_first(kind: Any) -> None:
    others = [(f"m{n}", 0.9 - n / 100) for n in range(50)]
    legs = {"lexical": [("secret", 1.0), *others], "dense": others, "graph": others}
    unseen = {"dense": {"secret"}, "graph": {"secret"}}
    assert kind().fuse(legs)[-1].id == "secret" or kind().fuse(legs)[0].id != "secret"
    first = kind().fuse(legs, unseen=unseen)[0]
    assert first.id == "secret" and first.scale == pytest.approx(3)


@pytest.mark.parametrize("kind", KINDS)
def test_rank_thirty_of_the_one_leg_that_could_see_it_does_not_jump(kind: Any) -> None:
    """Under RRF 3/90 is more than 1/61 + 2/161: scaled without a bound, rank 30 would pass the leg's first."""
    listed = [(f"m{n:02}", 1 - n / 100) for n in range(60)]
    legs = {"lexical": listed, "dense": listed[:0:-1], "graph": listed[:0:-1]}
    for name in ("dense", "graph"):
        legs[name] = [(key, 1 - place / 100) for place, (key, _) in enumerate(listed[:29:-1] + listed[:29])]
        legs[name] = [pair for pair in legs[name] if pair[0] != "m29"]
    order = [hit.id for hit in kind().fuse(legs, unseen={"dense": {"m29"}, "graph": {"m29"}})]
    assert all(order.index(f"m{n:02}") < order.index("m29") for n in range(29))
