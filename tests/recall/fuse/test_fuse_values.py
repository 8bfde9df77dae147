"""Fusers are values: they print as themselves, read back, compare, hash, and refuse nonsense."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.recall.fuse import RRF, TM2C2, ExactMatch, Importance, StretchedRRF, active, parse, parse_value

WEIGHT = st.one_of(st.integers(0, 5), st.floats(0, 5))
NAME = st.text(min_size=1, max_size=8).filter(lambda name: name not in ("lexical", "dense", "graph"))
WEIGHTS = st.fixed_dictionaries(
    {},
    optional={"lexical": WEIGHT, "dense": WEIGHT, "graph": WEIGHT, "others": st.dictionaries(NAME, WEIGHT, max_size=3)},
)
K = st.one_of(st.integers(0, 10**6), st.floats(0, 1e300))
FUSERS = st.one_of(
    st.builds(lambda k, weights: RRF(k=k, **weights), K, WEIGHTS),
    st.builds(lambda k, weights: StretchedRRF(k=k, **weights), K, WEIGHTS),
    st.builds(
        lambda minima, weights: TM2C2(minima=minima, **weights),
        st.dictionaries(st.sampled_from(["lexical", "dense", "graph", "title"]), st.floats(-1e9, 1e9)),
        WEIGHTS,
    ),
)


@given(FUSERS)
def test_a_fuser_is_given_back_from_what_it_prints(fuser):
    again = parse(repr(fuser))
    assert again == fuser
    assert hash(again) == hash(fuser)
    assert repr(again) == repr(fuser)
    assert eval(repr(fuser), {"RRF": RRF, "StretchedRRF": StretchedRRF, "TM2C2": TM2C2}) == fuser


@given(st.floats(0, 1), st.floats(0, 5))
def test_prior_and_bonus_are_given_back_too(floor, bonus):
    for value in (Importance(floor), ExactMatch(bonus)):
        assert parse_value(repr(value)) == value


def test_the_repr_is_the_one_the_documents_promise():
    assert repr(RRF(k=60, lexical=1, dense=1, graph=1.2)) == "RRF(k=60, lexical=1, dense=1, graph=1.2)"
    assert repr(RRF(others={"b": 2, "a": 0.5})) == "RRF(k=60, lexical=1, dense=1, graph=1, others={'a': 0.5, 'b': 2})"
    assert (
        repr(TM2C2(minima={"dense": -1, "lexical": -2})) == "TM2C2(minima={'lexical': -2}, lexical=1, dense=1, graph=1)"
    )


def test_equal_settings_are_equal_values():
    assert RRF(k=60, graph=1) == RRF(k=60.0, graph=1.0) == RRF()
    assert len({RRF(), RRF(k=60), RRF(k=61), StretchedRRF()}) == 3
    assert RRF(others={"a": 1, "b": 2}) == RRF(others=(("b", 2), ("a", 1)))
    assert RRF(graph=-0.0) == RRF(graph=0)
    assert repr(RRF(graph=-0.0)) == repr(RRF(graph=0))


def test_a_fuser_can_be_changed_by_copy_only():
    fuser = RRF(others={"title": 1})
    assert dataclasses.replace(fuser, graph=2) == RRF(graph=2, others={"title": 1})
    assert fuser.reweighed(graph=2, title=0) == RRF(graph=2, others={"title": 0})
    with pytest.raises(dataclasses.FrozenInstanceError):
        fuser.graph = 3


def test_active_names_the_legs_that_need_work():
    assert active(RRF(dense=0, others={"title": 1, "off": 0})) == ("lexical", "graph", "title")
    assert active(TM2C2(lexical=0, dense=0, graph=0)) == ()


@pytest.mark.parametrize("weight", [-0.1, 5.1, math.nan, math.inf, "1", None, True])
def test_a_weight_outside_its_range_is_refused(weight):
    for kind in (RRF, StretchedRRF, TM2C2):
        for settings in ({"graph": weight}, {"others": {"title": weight}}):
            with pytest.raises(HopgateError, match=r"the weight of (graph|title) must be a number between 0 and 5"):
                kind(**settings)


@pytest.mark.parametrize(
    "build",
    [
        lambda: RRF(k=-1),
        lambda: RRF(k=math.nan),
        lambda: StretchedRRF(k=math.inf),
        lambda: TM2C2(minima={"dense": math.nan}),
        lambda: RRF(others={"graph": 1}),
        lambda: RRF(others=(("a", 1), ("a", 2))),
        lambda: RRF(others={"": 1}),
        lambda: Importance(1.1),
        lambda: ExactMatch(-1),
    ],
)
def test_nonsense_is_refused(build):
    with pytest.raises(HopgateError):
        build()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "RRF(",
        "rrf()",
        "RRF(60)",
        "RRF(j=1)",
        "RRF(k='60')",
        "RRF(k=__import__('os'))",
        "RRF(**{'k': 1})",
        "RRF(others=[1])",
        "RRF(others={1: 1})",
        "TM2C2(k=60)",
        "Importance(floor=0.7)",
        "print()",
        "RRF(graph=9)",
        "RRF().fuse",
        "\0",
        "(" * 500,
    ],
)
def test_text_that_is_no_fuser_is_refused_in_one_sentence(text):
    with pytest.raises(HopgateError) as refused:
        parse(text)
    assert "\n" not in str(refused.value)
