import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.graph.walk.pagerank import solve
from hopgate.graph.walk.rank import Walk, rank_memories
from hopgate.graph.walk.seeds import Restart, Seeding, restart
from hopgate.graph.walk.top_k import top_k
from hopgate.graph.walk.walk_graph import WalkGraph, mention_graph


def random_graph(seed: int, memories: int = 12, concepts: int = 9) -> WalkGraph:
    random = np.random.default_rng(seed)
    return mention_graph(
        memories,
        concepts,
        memory=random.integers(0, memories, 25),
        concept=random.integers(0, concepts, 25),
        source=random.integers(0, concepts, 6),
        target=random.integers(0, concepts, 6),
    )


def chain(hops: int) -> WalkGraph:
    """Memory i mentions concept i; concepts are joined in a row."""
    numbers = np.arange(hops)
    return mention_graph(hops, hops, numbers, numbers, source=numbers[:-1], target=numbers[1:])


def test_along_a_chain_the_nearer_memory_comes_first() -> None:
    graph = chain(5)
    assert [memory for memory, _ in rank_memories(graph, restart(graph, names=[0]))] == [0, 1, 2, 3, 4]


def test_a_bridge_beats_what_merely_shares_a_common_concept() -> None:
    # Memory 1 is joined to the seed by a rare concept, memories 2..9 by one that all of them have.
    memory = [0, 0, 1, 1, *range(2, 10), 0, 1]
    concept = [0, 1, 1, 2, *[3] * 8, 3, 3]
    graph = mention_graph(10, 4, memory, concept)
    ranking = [found for found, _ in rank_memories(graph, restart(graph, names=[0]))]
    assert ranking[:2] == [0, 1]


def test_what_the_dense_leg_found_is_ranked_with_the_rest() -> None:
    graph = mention_graph(3, 1, memory=[0, 1], concept=[0, 0])
    ranking = dict(rank_memories(graph, restart(graph, names=[0], memories=[(2, 0.9)])))
    assert set(ranking) == {0, 1, 2}


def test_nothing_that_seeds_is_an_empty_leg() -> None:
    graph = chain(3)
    assert rank_memories(graph, restart(graph)) == []


def test_a_graph_without_edges_gives_back_its_seeds_only() -> None:
    graph = mention_graph(3, 2, memory=[], concept=[])
    assert rank_memories(graph, restart(graph, names=[0])) == []
    assert [memory for memory, _ in rank_memories(graph, restart(graph, memories=[(2, 0.5), (0, 0.4)]))] == [2, 0]


def test_a_seed_with_no_edges_beside_one_with_some() -> None:
    graph = mention_graph(2, 2, memory=[0], concept=[0])
    assert [memory for memory, _ in rank_memories(graph, restart(graph, names=[0, 1]))] == [0]


def test_a_hub_of_ten_thousand_memories_does_not_drown_a_rare_concept() -> None:
    hub = np.arange(10_000)
    graph = mention_graph(10_000, 2, np.append(hub, 77), np.append(np.zeros(10_000, int), 1))
    leg = rank_memories(graph, restart(graph, names=[0, 1]))
    assert leg[0][0] == 77
    assert len(leg) == Walk().depth


@settings(deadline=None)
@given(st.integers(0, 500), st.integers(1, 12))
def test_memories_not_allowed_are_left_out_and_the_others_keep_their_order(seed: int, depth: int) -> None:
    graph, random = random_graph(seed), np.random.default_rng(seed)
    allowed = random.random(graph.memories) < 0.5
    start = restart(graph, names=[0, 3], memories=[(1, 0.7), (2, 0.6)])
    whole = rank_memories(graph, start, Walk(depth=graph.memories))
    some = rank_memories(graph, start, Walk(depth=depth), allowed=allowed)
    assert some == [hit for hit in whole if allowed[hit[0]]][:depth]


@settings(deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3]), min_size=1, max_size=20), st.integers(1, 25))
def test_the_top_is_the_head_of_a_full_sort_without_zeros(scores: list[float], depth: int) -> None:
    expected = sorted((memory for memory, score in enumerate(scores) if score > 0), key=lambda m: (-scores[m], m))
    assert top_k(np.array(scores), depth).tolist() == expected[:depth]


def test_without_damping_only_seeds_are_visited() -> None:
    graph = chain(3)
    start = restart(graph, names=[0], memories=[(1, 0.5)])
    assert [memory for memory, _ in rank_memories(graph, start, Walk(damping=0))] == [1]


def test_degree_correction_lifts_the_memory_with_fewer_concepts() -> None:
    graph = mention_graph(2, 4, memory=[0, 1, 1, 1, 1], concept=[0, 0, 1, 2, 3])
    start = Restart(np.array([0.45, 0.55, 0, 0, 0, 0]), restart(graph, memories=[(0, 0.5), (1, 0.5)]).seeds)
    assert rank_memories(graph, start)[0][0] == 1
    assert rank_memories(graph, start, Walk(degree_correction=1))[0][0] == 0


@pytest.mark.parametrize("setting", [{"damping": 1}, {"damping": -0.1}, {"tolerance": 0}, {"depth": 0}])
def test_settings_that_mean_nothing_are_refused(setting: dict[str, float]) -> None:
    with pytest.raises(HopgateError):
        Walk(**setting)  # type: ignore[arg-type]


def test_walk_is_a_value_that_prints_as_itself() -> None:
    walk = Walk(damping=0.6, seeding=Seeding(names=0.2))
    assert eval(repr(walk)) == walk
    assert len({walk, Walk(damping=0.6, seeding=Seeding(names=0.2)), Walk()}) == 2


def test_a_large_graph_is_pushed_unless_memories_are_filtered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve, "PUSH_NODES", 0)
    monkeypatch.setattr(solve, "PUSH_BUDGET", 1000)
    pushed: list[int] = []

    def push(graph: WalkGraph, *arguments: object, **options: object) -> object:
        pushed.append(graph.nodes)
        return real(graph, *arguments, **options)

    real = solve.push
    monkeypatch.setattr(solve, "push", push)
    graph = random_graph(1, memories=300, concepts=200)
    seeds = np.flatnonzero(~graph.dangling[graph.memories :])[:3].tolist()
    start = restart(graph, names=seeds)
    near = rank_memories(graph, start, Walk(depth=3))
    assert pushed == [graph.nodes]
    every = rank_memories(graph, start, Walk(depth=3), allowed=np.ones(graph.memories, bool))
    assert pushed == [graph.nodes]
    assert [memory for memory, _ in near] == [memory for memory, _ in every]
