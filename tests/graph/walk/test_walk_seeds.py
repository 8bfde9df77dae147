"""Where walks start, by which mass, and where they start on hits that stand alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matrix_world import matrix_of

from hopgate.graph.walk.seeds import (
    BASE_TEMPERATURE,
    COMMON_SHARES,
    COSINE_TEMPERATURE,
    SPECIFICITY,
    NearFact,
    Shares,
    Starts,
    by_cosine,
    memory_mass,
    share_without_neighbours,
    starts,
)
from hopgate.graph.walk.walk_graph import Pairs, WalkGraph, mention_graph
from hopgate.recall.completion import BASE_FUSER


def town() -> WalkGraph:
    """Four memories; concept 0 is in all of them, 1 in two, 2 in one, 3 in none."""
    return mention_graph(4, 4, Pairs([0, 1, 2, 3, 0, 1, 2], [0, 0, 0, 0, 1, 1, 2]), edges=Pairs([0, 2], [3, 3]))


def restart(
    graph: WalkGraph, memories: Sequence[tuple[int, float]] = (), shares: Shares = COMMON_SHARES, **found: Any
) -> Starts:
    return starts(graph, memories=memory_mass(memories), **found).mixed(shares)


COSINES = st.floats(-1, 1, allow_nan=False, width=32)
FACTS = st.lists(st.builds(NearFact, st.integers(0, 3), st.integers(0, 3), COSINES), max_size=8)
MEMORIES = st.lists(st.tuples(st.integers(0, 3), COSINES), max_size=4, unique_by=lambda hit: hit[0])


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), max_size=4), FACTS, MEMORIES)
def test_mass_is_one_or_nothing_and_the_seeds_account_for_all_of_it(
    names: list[int], facts: list[NearFact], memories: list[tuple[int, float]]
) -> None:
    graph = town()
    start = restart(graph, names=names, facts=facts, memories=memories)
    columns = starts(graph, names=names, facts=facts, memories=memory_mass(memories)).columns
    assert columns.sum(axis=0) == pytest.approx([float(bool(found)) for found in (memories, names, facts)])
    assert start.vector.sum() == pytest.approx(1.0 if names or facts or memories else 0.0)
    told = np.zeros(graph.nodes)
    for seed in start.seeds:
        told[seed.node] += seed.weight
    assert told == pytest.approx(start.vector)
    assert [seed.weight for seed in start.seeds] == sorted((seed.weight for seed in start.seeds), reverse=True)


@settings(deadline=None)
@given(FACTS.filter(bool), st.floats(-0.5, 0.5))
def test_only_differences_of_cosines_count(facts: list[NearFact], shift: float) -> None:
    moved = [fact._replace(similarity=fact.similarity + shift) for fact in facts]
    assert restart(town(), facts=moved).vector == pytest.approx(restart(town(), facts=facts).vector)


def test_shares_are_kept_and_a_silent_source_leaves_its_share_to_the_others() -> None:
    graph = town()
    both = restart(graph, names=[2], memories=[(3, 0.9)], shares=(0.2, 0.5, 0.3))
    assert both.vector[graph.memories + 2] == pytest.approx(0.5 / 0.7)
    assert both.vector[3] == pytest.approx(0.2 / 0.7)


def test_the_rarer_concept_weighs_more_and_a_fact_about_itself_counts_once() -> None:
    weights = np.array([4.0, 2, 1, 1]) ** -SPECIFICITY
    assert restart(town(), names=[0, 1, 2, 3]).vector[4:] == pytest.approx(weights / weights.sum())
    once = restart(town(), facts=[NearFact(2, 2, 0.8), NearFact(1, 3, 0.8)])
    assert once.vector[4:] == pytest.approx(weights * [0, 1, 1, 1] / weights[1:].sum())


def test_statements_have_their_part_of_the_memories_mass() -> None:
    found = memory_mass([(0, 1.0), (1, 0.85)], [(1, 0.8), (2, 0.8), (2, 0.75)])
    base, stated = 1 / (1 + np.exp(-1)), 1 / (2 + np.exp(-1))
    assert found == pytest.approx({0: 0.65 * base, 1: 0.65 * (1 - base) + 0.35 * stated, 2: 0.35 * (1 - stated)})
    assert memory_mass([], [(4, 0.5)]) == {4: 1.0}
    assert memory_mass([], []) == {}


COSINES = st.dictionaries(
    st.integers(0, 9), st.integers(30, 90).map(lambda percent: percent / 100), min_size=2, max_size=8
)
WORDS = st.dictionaries(st.integers(0, 9), st.integers(0, 200).map(lambda tenths: tenths / 10), min_size=1, max_size=8)


def base_of(cosines: dict[int, float], words: dict[int, float]) -> list[tuple[int, float]]:
    legs = {
        "dense": sorted(cosines.items(), key=lambda hit: -hit[1]),
        "lexical": sorted(words.items(), key=lambda hit: -hit[1]),
    }
    return [(hit.id, hit.score) for hit in BASE_FUSER.fuse(legs)]


def mass_of(cosines: dict[int, float], words: dict[int, float], part: float = 1.0) -> dict[int, float]:
    return memory_mass(by_cosine(base_of(cosines, words), cosines, part, dense=BASE_FUSER.dense))


def test_a_far_memory_of_the_pool_does_not_change_how_the_others_compare() -> None:
    near = {1: 0.8, 2: 0.75, 3: 0.6}
    further = {**near, 4: 0.2}
    ratio = {part: [mass_of(pool, {1: 1.0}, part) for pool in (near, further)] for part in (0.0, 1.0)}
    stretched, kept = ([one[2] / one[1] for one in ratio[part]] for part in (0.0, 1.0))
    assert stretched[0] < stretched[1] / 2
    assert kept[0] == pytest.approx(kept[1])


@settings(deadline=None)
@given(COSINES, WORDS)
def test_cosines_count_by_their_own_temperature_and_words_as_the_base_has_them(
    cosines: dict[int, float], words: dict[int, float]
) -> None:
    words = {memory: words.get(memory, 0.0) for memory in cosines}
    if len(set(cosines.values())) == 1:
        return
    least, most = min(words.values()), max(words.values())
    span = most - least
    part = {memory: (score - least) / span if span > 0 else 1.0 for memory, score in words.items()}
    expected = {
        memory: np.exp(
            (cosine - max(cosines.values())) / COSINE_TEMPERATURE + BASE_FUSER.lexical * part[memory] / BASE_TEMPERATURE
        )
        for memory, cosine in cosines.items()
    }
    whole = sum(expected.values())
    assert mass_of(cosines, words) == pytest.approx({memory: one / whole for memory, one in expected.items()})


@settings(deadline=None)
@given(COSINES, st.floats(0.05, 1))
def test_a_hit_without_a_cosine_keeps_its_part_of_the_mass(cosines: dict[int, float], score: float) -> None:
    base = [*base_of(cosines, {}), (99, score)]
    before, after = (memory_mass(by_cosine(base, cosines, part, dense=BASE_FUSER.dense)) for part in (0.0, 1.0))
    assert after[99] == pytest.approx(before[99])
    assert sum(after.values()) == pytest.approx(1)


@pytest.mark.parametrize("cosines", [{}, {1: 0.5, 2: 0.5}, {7: 0.5}])
def test_where_cosines_say_nothing_the_base_stays(cosines: dict[int, float]) -> None:
    base = [(1, 1.0), (2, 0.4)]
    assert by_cosine(base, cosines, 1, dense=0.7) == base


def test_a_memory_with_a_neighbour_does_not_stand_alone() -> None:
    plain = matrix_of({(0, 0): 1.0, (1, 0): 1.0, (2, 1): 1.0}, [], memories=4, concepts=2)
    assert share_without_neighbours(plain, {0: 0.5, 2: 0.5}) == 1
    # A matrix that has arcs names them; which memories they join, its graph says.
    beside = replace(
        plain,
        graph=mention_graph(4, 2, Pairs([0, 1, 2], [0, 0, 1], [1.0, 1.0, 1.0]), neighbours=Pairs([0], [1], [1.0])),
        arc_source=np.zeros(1, np.int32),
    )
    assert share_without_neighbours(beside, {0: 0.3, 1: 0.3, 2: 0.2}) == pytest.approx(0.25)
    # Memory 3 is linked to nothing and 17 is not there: neither tells.
    assert share_without_neighbours(beside, {0: 0.5, 3: 0.4, 17: 0.1}) == 0
    assert share_without_neighbours(beside, {3: 1.0}) == 0
