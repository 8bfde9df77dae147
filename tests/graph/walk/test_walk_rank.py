"""Where walks start, how they are mixed, and how memories are ranked by them."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matrix_world import matrix_of

from hopgate.errors import HopgateError
from hopgate.graph.walk.config import COMMON_SHARES, Walk
from hopgate.graph.walk.rank import walk_scores
from hopgate.graph.walk.seeds import (
    COSINE_TEMPERATURE,
    NearFact,
    by_cosine,
    memory_mass,
    part_alone,
    starts,
)
from hopgate.graph.walk.walk_graph import Pairs, WalkGraph, mention_graph, top_k


def town() -> WalkGraph:
    """Four memories; concept 0 is in all of them, 1 in two, 2 in one, 3 in none."""
    return mention_graph(4, 4, Pairs([0, 1, 2, 3, 0, 1, 2], [0, 0, 0, 0, 1, 1, 2]), edges=Pairs([0, 2], [3, 3]))


def start_of(graph: WalkGraph, memories: Sequence[tuple[int, float]] = (), **found: Any) -> dict[int, float]:
    return starts(graph, memories=memory_mass(memories), **found)


COSINES = st.floats(-1, 1, allow_nan=False, width=32)
FACTS = st.lists(st.builds(NearFact, st.integers(0, 3), st.integers(0, 3), COSINES), max_size=8)
MEMORIES = st.lists(st.tuples(st.integers(0, 3), COSINES), max_size=4, unique_by=lambda hit: hit[0])


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), max_size=4), FACTS, MEMORIES)
def test_mass_is_one_or_nothing_in_the_shares_of_what_found_something(names, facts, memories):
    graph = town()
    start = start_of(graph, names=names, facts=facts, memories=memories)
    assert sum(start.values()) == pytest.approx(1.0 if names or facts or memories else 0.0)
    at_concepts = sum(mass for node, mass in start.items() if node >= graph.memories)
    shares = np.array([bool(memories), bool(names), bool(facts)]) * COMMON_SHARES
    assert at_concepts == pytest.approx(shares[1:].sum() / (shares.sum() or 1))


@given(st.dictionaries(st.integers(0, 9), st.integers(30, 90).map(lambda each: each / 100), min_size=2), st.booleans())
def test_by_cosine_hits_weigh_as_near_as_they_are_and_one_without_moves_as_they_do(cosines, blind):
    most, least = max(cosines.values()), min(cosines.values())
    base = [(memory, 0.7 * (cosine - least) / (most - least or 1)) for memory, cosine in cosines.items()]
    mass = memory_mass(by_cosine([*base, (99, 0.35)] if blind else base, cosines, 1, dense=0.7))
    assert sum(mass.values()) == pytest.approx(1)
    first = max(cosines, key=cosines.__getitem__)
    for memory, cosine in cosines.items() if most > least else ():
        assert mass[memory] / mass[first] == pytest.approx(math.exp((cosine - most) / COSINE_TEMPERATURE))


def test_a_memory_with_a_neighbour_does_not_stand_alone():
    plain = matrix_of({(0, 0): 1.0, (1, 0): 1.0, (2, 1): 1.0}, [], memories=4, concepts=2)
    assert part_alone(plain, {0: 0.5, 2: 0.5}) == 1 and part_alone(plain, {}) == 0
    joined = mention_graph(4, 2, Pairs([0, 1, 2], [0, 0, 1], [1.0, 1.0, 1.0]), neighbours=Pairs([0], [1], [1.0]))
    beside = replace(plain, graph=joined)
    assert part_alone(beside, {0: 0.3, 1: 0.3, 2: 0.2}) == pytest.approx(0.25)
    # Memory 3 is linked to nothing and 17 is not there: neither tells.
    assert part_alone(beside, {0: 0.5, 3: 0.4, 17: 0.1}) == part_alone(beside, {3: 1.0}) == 0


def chain(length: int) -> WalkGraph:
    at = np.arange(length)
    return mention_graph(length, length, Pairs(at, at), edges=Pairs(at[:-1], at[1:]))


def test_mass_outside_the_graph_stays_outside():
    graph = chain(3)
    half, whole = (walk_scores(graph, starts(graph, memories={0: mass}), Walk(tolerance=1e-9)) for mass in (0.5, 1.0))
    assert whole.sum() == pytest.approx(1)
    assert half == pytest.approx(whole / 2)


def test_what_seeds_nothing_is_an_empty_leg():
    graph, bare, half = chain(3), mention_graph(3, 2, Pairs([], [])), mention_graph(2, 2, Pairs([0], [0]))
    assert not walk_scores(graph, start_of(graph), Walk()).any()
    assert not walk_scores(bare, start_of(bare, names=[0], memories=[(2, 0.5), (0, 0.4)]), Walk()).any()
    assert walk_scores(half, start_of(half, names=[0, 1]), Walk()).nonzero()[0].tolist() == [0]
    # Without damping only seeds are visited.
    start = start_of(graph, names=[0], memories=[(1, 0.5)])
    assert walk_scores(graph, start, Walk(damping=0)).nonzero()[0].tolist() == [1]


@pytest.mark.parametrize("shares", [(-1, 1, 1), (0, 0, 0), (1, 1), "guessed"])
def test_shares_that_mean_nothing_are_refused(shares):
    with pytest.raises(HopgateError):
        Walk(shares=shares)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.booleans())
def test_the_best_of_many_are_those_of_a_sort(seed, k, some):
    rng = np.random.default_rng(seed)
    # Most scores tie, some are 0, and many may not be given.
    scores = rng.integers(0, 4, int(rng.integers(1, 2000))) / 4
    allowed = rng.random(len(scores)) < 0.01 if some else None
    kept = [at for at in range(len(scores)) if scores[at] > 0 and (allowed is None or allowed[at])]
    expected = sorted(kept, key=lambda at: (-scores[at], at))[:k]
    assert top_k(scores, k, allowed=allowed).tolist() == expected
