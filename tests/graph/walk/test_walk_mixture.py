"""The shares of the walks: what is decided, between what, and why."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.graph.walk.rank import bundled_model, leg_features, source_walks, walk_features
from hopgate.graph.walk.seeds import NearFact, starts
from hopgate.graph.walk.walk_graph import Pairs, mention_graph

MODEL = bundled_model()
KNOWN = st.dictionaries(st.sampled_from(MODEL.features), st.floats(-5, 5))


@settings(deadline=None)
@given(KNOWN, st.lists(st.booleans(), min_size=3, max_size=3))
def test_shares_are_those_of_the_walks_that_started(known: dict[str, float], started: list[bool]) -> None:
    mixture = MODEL.mixture(known, started)
    assert sum(mixture.shares) == pytest.approx(1.0 if any(started) else 0.0, abs=1e-5)
    assert all(share == 0 for share, used in zip(mixture.shares, started, strict=True) if not used)
    assert len(mixture.reasons) <= 3


def test_the_features_of_a_query_are_those_that_the_model_knows() -> None:
    graph = mention_graph(3, 3, Pairs([0, 1, 2], [0, 1, 2]), edges=Pairs([0], [1]))
    walks = source_walks(graph, starts(graph, memories={0: 1.0}, names=[0], facts=[NearFact(0, 1, 0.8)]))
    known = walk_features(graph, walks, names=[0], base=[0, -1], facts=[0.8])
    known |= leg_features({"dense": [(1, 0.9)], "lexical": [(1, 2.0)]}, [(1, 1.0)], [0.8])
    assert set(known) == set(MODEL.features) == set(MODEL.words)


def test_rare_names_that_memories_and_facts_confirm_take_mass_from_memories() -> None:
    usual = MODEL.mixture({}, (True, True, True)).shares
    named = MODEL.mixture({"names": 2.0, "name_rarity": 1.0, "name_memory_overlap": 0.8}, (True, True, True))
    assert named.shares[1] > usual[1]
    assert named.shares[0] < usual[0]


def test_an_empty_leg_and_a_missing_one_say_nothing() -> None:
    assert leg_features({}, [], []) == {"base_spread": 0.0}
    assert leg_features({"lexical": []}, [], [])["lexical_margin"] == 0.0
