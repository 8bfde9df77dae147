import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from graph_content import of_triples
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from hopgate.graph.walk.paths import strongest_path
from hopgate.graph.walk.seeds import memory_mass, starts
from hopgate.graph.walk.walk_graph import Pairs, WalkGraph, edge_graph, mention_graph
from hopgate.memory import Memory


def restart(
    graph: WalkGraph, memories: Sequence[tuple[int, float]] = (), names: Sequence[int] = ()
) -> dict[int, float]:
    return starts(graph, memories=memory_mass(memories), names=names)


@settings(deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.3, 0.8]))
def test_no_other_path_is_stronger(seed, damping):
    random = np.random.default_rng(seed)
    graph = edge_graph(7, random.integers(0, 7, 9), random.integers(0, 7, 9), random.random(9) + 0.1, memories=3)
    start = restart(graph, names=[int(concept) for concept in random.integers(0, 4, 2)])
    costs = graph.matrix.toarray().astype(float)
    costs[costs > 0] = -np.log((damping * costs / graph.divisor[:, None])[costs > 0])
    least = {seed: dijkstra(csr_array(costs), indices=seed) for seed in start}
    for memory in range(3):
        path = strongest_path(graph, start, memory, damping=damping)
        wanted = min((row[memory] - np.log(start[seed]) for seed, row in least.items()), default=np.inf)
        assert bool(path) == np.isfinite(wanted)
        if path:
            steps = sum(costs[source, target] for source, target in itertools.pairwise(path))
            assert steps - np.log(start[path[0]]) == pytest.approx(wanted, rel=1e-5)


def test_a_concept_is_preferred_to_a_memory_and_another_memory_to_itself():
    graph = mention_graph(3, 2, Pairs([0, 1, 1, 2], [0, 0, 1, 1]))
    assert strongest_path(graph, restart(graph, names=[0], memories=[(1, 0.9), (2, 0.2)]), 1) == (3, 1)
    assert strongest_path(graph, restart(graph, memories=[(0, 0.5), (1, 0.9)]), 1) == (0, 3, 1)
    assert strongest_path(graph, restart(graph, memories=[(1, 0.9)]), 1) == (1,)
    assert strongest_path(graph, restart(graph), 1) == ()
    assert strongest_path(graph, restart(graph, names=[0]), 0, damping=0) == ()


def test_no_path_leads_over_a_hub_that_is_not_asked_for():
    everybody = Pairs([0, *range(8), 0, 1], [0, *[1] * 8, 2, 2])
    graph = mention_graph(8, 3, everybody)
    assert strongest_path(graph, restart(graph, names=[0]), 7) == ()
    assert strongest_path(graph, restart(graph, names=[0]), 1) == (8, 0, 10, 1)
    assert strongest_path(graph, restart(graph, names=[1]), 7) == (9, 7)


def test_a_path_over_a_mere_word_says_nothing(kb):
    said = {"a": ["AdGuard", "home", "Zuse"], "b": ["home"], "c": ["Zuse"]}
    kb.add(*(Memory(key, " and ".join(names)) for key, names in said.items()))
    kb.build(of_triples([{"doc_id": key, "entity": name} for key, names in said.items() for name in names]))
    paths = {hit.external_id: hit.path for hit in kb.recall("AdGuard", legs=("graph",), explain=True)}
    assert paths["b"] == () and paths["c"][-3:] == ("Zuse", "mentioned in", "c")


def test_a_path_tells_the_edge_with_most_evidence_its_direction_and_its_memories(kb):
    hosting = [("hazel", "hosts", "Immich")]
    kb.add(*(Memory(key, key) for key in "abcde"))
    kb.build(
        of_triples(
            [{"doc_id": key, "subject": s, "relation": r, "object": o} for key in "bc" for s, r, o in hosting]
            + [
                {"doc_id": "a", "subject": "Immich", "relation": "runs on", "object": "hazel"},
                {"doc_id": "d", "subject": "attic", "relation": "holds", "object": "hazel"},
                {"doc_id": "e", "entity": "attic"},
            ]
        )
    )
    hits = kb.recall("Immich", legs=("graph",), explain=True)
    path = next(hit.path for hit in hits if hit.external_id == "e")
    assert path == ("Immich", "← hosts [b, c]", "hazel", "← holds [d]", "attic", "mentioned in", "e")
