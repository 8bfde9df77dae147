from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.graph.walk.config import COMMON_SHARES, Walk
from hopgate.graph.walk.rank import mixed_walks, pool_scores, source_walks
from hopgate.graph.walk.seeds import Starts, memory_mass, starts
from hopgate.graph.walk.walk_graph import BLOCK, Pairs, WalkGraph, mention_graph, top_k


def start_of(graph: WalkGraph, memories: Sequence[tuple[int, float]] = (), names: Sequence[int] = ()) -> Starts:
    return starts(graph, memories=memory_mass(memories), names=names)


def ranking(
    graph: WalkGraph, start: Starts, walk: Walk | None = None, *, allowed: NDArray[np.bool_] | None = None
) -> list[tuple[int, float]]:
    """Rank memories as the graph leg does."""
    walk = walk or Walk()
    scores = mixed_walks(source_walks(graph, start, walk), COMMON_SHARES)
    return [(at, float(scores[at])) for at in top_k(scores, walk.depth, allowed=allowed).tolist()]


def random_graph(seed: int, memories: int = 12, concepts: int = 9) -> WalkGraph:
    random = np.random.default_rng(seed)
    return mention_graph(
        memories,
        concepts,
        Pairs(random.integers(0, memories, 25), random.integers(0, concepts, 25)),
        edges=Pairs(random.integers(0, concepts, 6), random.integers(0, concepts, 6)),
    )


def chain(hops: int) -> WalkGraph:
    """Memory i mentions concept i; concepts are joined in a row."""
    numbers = np.arange(hops)
    return mention_graph(hops, hops, Pairs(numbers, numbers), edges=Pairs(numbers[:-1], numbers[1:]))


def test_along_a_chain_the_nearer_memory_comes_first() -> None:
    graph = chain(5)
    assert [memory for memory, _ in ranking(graph, start_of(graph, names=[0]))] == [0, 1, 2, 3, 4]


def test_a_bridge_beats_what_merely_shares_a_common_concept() -> None:
    # Memory 1 is joined to the seed by a rare concept, memories 2..9 by one that all of them have.
    memory = [0, 0, 1, 1, *range(2, 10), 0, 1]
    concept = [0, 1, 1, 2, *[3] * 8, 3, 3]
    graph = mention_graph(10, 4, Pairs(memory, concept))
    found = [memory for memory, _ in ranking(graph, start_of(graph, names=[0]))]
    assert found[:2] == [0, 1]


def test_what_the_base_found_is_ranked_with_the_rest() -> None:
    graph = mention_graph(3, 2, Pairs([0, 1, 2], [0, 0, 1]))
    assert set(dict(ranking(graph, start_of(graph, names=[0], memories=[(2, 0.9)])))) == {0, 1, 2}


def test_three_walks_at_once_are_the_mixture_of_each() -> None:
    graph = random_graph(5)
    memories, names = start_of(graph, memories=[(1, 0.7), (2, 0.6)]), start_of(graph, names=[0, 3])
    together = source_walks(graph, start_of(graph, memories=[(1, 0.7), (2, 0.6)], names=[0, 3]), Walk(tolerance=1e-9))
    apart = source_walks(graph, memories, Walk(tolerance=1e-9)) + source_walks(graph, names, Walk(tolerance=1e-9))
    np.testing.assert_allclose(together, apart, atol=1e-8)
    shares = np.asarray(COMMON_SHARES[:2]) / sum(COMMON_SHARES[:2])
    np.testing.assert_allclose(mixed_walks(together, COMMON_SHARES), together[:, :2] @ shares, atol=1e-12)


def test_mass_outside_the_graph_stays_outside() -> None:
    graph = chain(3)
    half = source_walks(graph, starts(graph, memories={0: 0.5}), Walk(tolerance=1e-9))[:, 0]
    whole = source_walks(graph, starts(graph, memories={0: 1.0}), Walk(tolerance=1e-9))[:, 0]
    assert whole.sum() == pytest.approx(1)
    assert half / half.sum() == pytest.approx(whole)
    assert half.sum() < whole.sum()


@settings(deadline=None)
@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=8), st.data())
def test_what_the_graph_does_not_have_is_worth_what_its_mass_is_worth_inside(
    mass: list[float], data: st.DataObject
) -> None:
    inside = data.draw(st.integers(0, len(mass)))
    scores = np.array(mass[:inside]) * 0.25
    found = pool_scores(scores, {at: at for at in range(inside)}, dict(enumerate(mass)))
    worth = 0.25 if inside else 1.0
    assert [found[at] for at in range(len(mass))] == pytest.approx([worth * one for one in mass])


def test_a_hub_of_ten_thousand_memories_does_not_drown_a_rare_concept() -> None:
    hub = np.arange(10_000)
    graph = mention_graph(10_000, 2, Pairs(np.append(hub, 77), np.append(np.zeros(10_000, int), 1)))
    leg = ranking(graph, start_of(graph, names=[0, 1]))
    assert leg[0][0] == 77
    assert len(leg) == Walk().depth


@settings(deadline=None)
@given(st.integers(0, 500), st.integers(1, 12))
def test_memories_not_allowed_are_left_out_and_the_others_keep_their_order(seed: int, depth: int) -> None:
    graph, random = random_graph(seed), np.random.default_rng(seed)
    allowed = random.random(graph.memories) < 0.5
    start = start_of(graph, names=[0, 3], memories=[(1, 0.7), (2, 0.6)])
    whole = ranking(graph, start, Walk(depth=graph.memories))
    some = ranking(graph, start, Walk(depth=depth), allowed=allowed)
    assert some == [hit for hit in whole if allowed[hit[0]]][:depth]


def test_what_seeds_nothing_is_an_empty_leg() -> None:
    graph = chain(3)
    assert ranking(graph, start_of(graph)) == []
    bare = mention_graph(3, 2, Pairs([], []))
    assert ranking(bare, start_of(bare, names=[0], memories=[(2, 0.5), (0, 0.4)])) == []
    half = mention_graph(2, 2, Pairs([0], [0]))
    assert [memory for memory, _ in ranking(half, start_of(half, names=[0, 1]))] == [0]
    # Without damping only seeds are visited.
    start = start_of(graph, names=[0], memories=[(1, 0.5)])
    assert [memory for memory, _ in ranking(graph, start, Walk(damping=0))] == [1]


def test_degree_correction_lifts_the_memory_with_fewer_concepts() -> None:
    graph = mention_graph(2, 4, Pairs([0, 1, 1, 1, 1], [0, 0, 1, 2, 3]))
    start = starts(graph, memories={0: 0.45, 1: 0.55})
    assert ranking(graph, start)[0][0] == 1
    assert ranking(graph, start, Walk(degree_correction=1))[0][0] == 0


@pytest.mark.parametrize(
    "setting",
    [{"damping": 1}, {"damping": -0.1}, {"tolerance": 0}, {"depth": 0}]
    + [{"shares": shares} for shares in ((-1, 1, 1), (0, 0, 0), (1, 1), "guessed")],
)
def test_settings_that_mean_nothing_are_refused(setting: dict[str, Any]) -> None:
    with pytest.raises(HopgateError):
        Walk(**setting)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.booleans())
def test_the_best_of_many_are_those_of_a_sort(seed: int, k: int, some: bool) -> None:
    rng = np.random.default_rng(seed)
    # Blocks in which most scores tie, some are 0, and many may not be given.
    scores = rng.integers(0, 4, int(rng.integers(1, 20 * BLOCK))) / 4
    allowed = rng.random(len(scores)) < 0.01 if some else None
    kept = [at for at in range(len(scores)) if scores[at] > 0 and (allowed is None or allowed[at])]
    expected = sorted(kept, key=lambda at: (-scores[at], at))[:k]
    assert top_k(scores, k, allowed=allowed).tolist() == expected
