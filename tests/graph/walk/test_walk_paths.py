import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from graph_content import of_triples
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.graph.walk.paths import strongest_path
from hopgate.graph.walk.seeds import memory_mass, starts
from hopgate.graph.walk.walk_graph import Pairs, WalkGraph, edge_graph, mention_graph
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory


def restart(
    graph: WalkGraph, memories: Sequence[tuple[int, float]] = (), names: Sequence[int] = ()
) -> dict[int, float]:
    return starts(graph, memories=memory_mass(memories), names=names)


def probability(graph: WalkGraph, start: dict[int, float], nodes: tuple[int, ...], damping: float) -> float:
    matrix, strength = graph.matrix.toarray(), graph.strength
    chance = start[nodes[0]]
    for source, target in itertools.pairwise(nodes):
        chance *= damping * float(matrix[source, target]) / float(strength[source])
    return chance


def every_path(graph: WalkGraph, seeds: list[int], memory: int) -> list[tuple[int, ...]]:
    """All paths without a repeated node; the strongest never repeats one."""
    matrix = graph.matrix.toarray()
    found, open_paths = [], [(seed,) for seed in seeds]
    while open_paths:
        path = open_paths.pop()
        if path[-1] == memory:
            found.append(path)
            continue
        open_paths += [(*path, int(node)) for node in np.flatnonzero(matrix[path[-1]]) if node not in path]
    return found


@settings(deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.3, 0.8]))
def test_no_other_path_is_stronger(seed: int, damping: float) -> None:
    random = np.random.default_rng(seed)
    graph = edge_graph(7, random.integers(0, 7, 9), random.integers(0, 7, 9), random.random(9) + 0.1, memories=3)
    start = restart(graph, names=[int(concept) for concept in random.integers(0, 4, 2)])
    memory = int(random.integers(0, 3))
    path = strongest_path(graph, start, memory, damping=damping)
    others = every_path(graph, sorted(start), memory)
    assert bool(path) == bool(others) and (not path or path[-1] == memory)
    chances = [probability(graph, start, other, damping) for other in others]
    assert not path or probability(graph, start, path, damping) == pytest.approx(max(chances), rel=1e-5)


def test_a_concept_is_preferred_to_a_memory_and_another_memory_to_itself() -> None:
    graph = mention_graph(3, 2, Pairs([0, 1, 1, 2], [0, 0, 1, 1]))
    assert strongest_path(graph, restart(graph, names=[0], memories=[(1, 0.9), (2, 0.2)]), 1) == (3, 1)
    assert strongest_path(graph, restart(graph, memories=[(0, 0.5), (1, 0.9)]), 1) == (0, 3, 1)
    assert strongest_path(graph, restart(graph, memories=[(1, 0.9)]), 1) == (1,)
    assert strongest_path(graph, restart(graph), 1) == ()
    assert strongest_path(graph, restart(graph, names=[0]), 0, damping=0) == ()


def test_a_path_tells_the_edge_with_most_evidence_its_direction_and_its_memories(kb: KnowledgeBase) -> None:
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
