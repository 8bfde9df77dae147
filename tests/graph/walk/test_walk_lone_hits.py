"""Hits that stand alone: which do, and how their cosines count where walks start."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matrix_world import matrix_of

from hopgate.graph.walk.seeds import Seeding, by_cosine, memory_mass, share_without_neighbours
from hopgate.graph.walk.walk_graph import Pairs, mention_graph
from hopgate.recall.completion import BASE_FUSER

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
    seeding = Seeding()
    least, most = min(words.values()), max(words.values())
    span = most - least
    part = {memory: (score - least) / span if span > 0 else 1.0 for memory, score in words.items()}
    expected = {
        memory: np.exp(
            (cosine - max(cosines.values())) / seeding.cosine_temperature
            + BASE_FUSER.lexical * part[memory] / seeding.base_temperature
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


@settings(deadline=None)
@given(COSINES, st.floats(1e-6, 10), st.floats(1e-6, 10), st.floats(0, 1))
def test_no_temperature_is_too_low_or_too_high(
    cosines: dict[int, float], wide: float, narrow: float, part: float
) -> None:
    base = [(99, 5.0), *base_of(cosines, {})]
    seeding = Seeding(base_temperature=wide, cosine_temperature=narrow)
    mass = memory_mass(by_cosine(base, cosines, part, dense=BASE_FUSER.dense, seeding=seeding), seeding=seeding)
    assert sum(mass.values()) == pytest.approx(1)


@pytest.mark.parametrize("cosines", [{}, {1: 0.5, 2: 0.5}, {7: 0.5}])
def test_where_cosines_say_nothing_the_base_stays(cosines: dict[int, float]) -> None:
    base = [(1, 1.0), (2, 0.4)]
    assert by_cosine(base, cosines, 1, dense=0.7) == base


def test_it_can_be_turned_off() -> None:
    base = [(1, 1.0), (2, 0.4)]
    assert by_cosine(base, {1: 0.8, 2: 0.5}, 1, dense=0.7, seeding=Seeding(cosine_temperature=0)) == base


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
