"""A shuffle keeps every degree and what follows from names, and changes one part alone."""

from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from matrix_world import EDGES, MENTIONS, TITLE, links, matrix_of, mentions_of

from hopgate.eval.controls import rewired, shuffled
from hopgate.eval.evidence import CONCEPTS
from hopgate.eval.ladder import dealt
from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.walk_graph import edge_graph


def edges_of(matrix: GraphMatrix) -> set[tuple[int, int]]:
    """The joined pairs of concepts, as a walk sees them, the lower first."""
    part = matrix.graph.matrix[matrix.graph.memories :, matrix.graph.memories :].tocoo()
    return {(int(a), int(b)) for a, b in zip(part.row, part.col, strict=True) if a <= b}


def degrees(matrix: GraphMatrix) -> list[Counter[int]]:
    """Of mentions by memory and by concept, and of typed edges by source and by target."""
    mentions = mentions_of(matrix)
    edges = (Counter(matrix.edges.source.tolist()), Counter(matrix.edges.target.tolist()))
    return [*(Counter(pair[side] for pair in mentions) for side in (0, 1)), *edges]


@settings(deadline=None, max_examples=150)
@given(MENTIONS, EDGES, st.integers(0, 3), st.randoms(use_true_random=False))
def test_any_graph_keeps_every_degree_exactly_and_what_follows_from_names(mentions, edges, seed, random):
    matrix = matrix_of(mentions, edges)
    control = shuffled(matrix, CONCEPTS, seed)
    # A database gives rows in any order: the same seed is the same shuffle.
    order = random.sample(range(len(edges)), len(edges))
    again = shuffled(replace(matrix, edges=matrix.edges.where(np.array(order, int))), CONCEPTS, seed)
    assert control.graph.weights.tobytes() == again.graph.weights.tobytes()
    assert control.graph.indices.tobytes() == again.graph.indices.tobytes()
    assert control.edges.target[order].tolist() == again.edges.target.tolist()
    # A walk's degrees, of every node and towards each kind of node, and the edges that leave and reach a concept.
    assert control.graph.degree.tolist() == matrix.graph.degree.tolist()
    assert degrees(control) == degrees(matrix)
    # No loop that was not there, and no pair twice: as many joined pairs as before.
    loops, before, after = ({(at, at) for at in range(6)}, mentions_of(matrix), mentions_of(control))
    assert edges_of(control) & loops == edges_of(matrix) & loops
    assert (len(edges_of(control)), len(after)) == (len(edges_of(matrix)), len(before))
    # The edges that are listed are those that are walked.
    listed = zip(control.edges.source.tolist(), control.edges.target.tolist(), strict=True)
    assert {(min(pair), max(pair)) for pair in listed} == edges_of(control)
    assert {pair for pair, weight in before.items() if weight > 1} <= after.keys()
    assert sorted(after.values()) == sorted(before.values())


def test_one_part_of_a_sparse_graph_loses_its_structure_the_others_stay_and_every_seed_is_another():
    rng = np.random.default_rng(0)
    drawn = {(memory, int(concept)): 1.0 for memory in range(150) for concept in rng.choice(300, 7, replace=False)}
    mentioned = dict(sorted({**drawn, **{(at, at): TITLE for at in range(150)}}.items()))
    edges = [(int(one), int(two), 0) for one, two in rng.integers(0, 300, (400, 2))]
    matrix = matrix_of(mentioned, edges, memories=150, concepts=300)

    def parts(matrix: GraphMatrix) -> dict[str, set[tuple[int, int]]]:
        pairs = {pair for pair in mentions_of(matrix) if pair[0] != pair[1]}
        titles = {pair for pair in pairs if pair[1] < 150}
        return {"titles": titles, "names": pairs - titles, "facts": edges_of(matrix)}

    for part in ("titles", "names", "facts"):
        for one, two in combinations([parts(matrix), *(parts(shuffled(matrix, part, seed)) for seed in range(3))], 2):
            assert len(one[part] & two[part]) < 0.06 * len(one[part])
            assert {name for name in one if one[name] != two[name]} == {part}


def test_a_tiny_graph_becomes_every_other_as_often():
    """Two arcs changed ends an even number of times, and so never; of three only half of the graphs were drawn."""
    for size, ways in ((2, 2), (3, 6)):
        left = np.arange(size)
        drawn = [rewired(np.random.default_rng(seed), left, left + 3, 0 * left) for seed in range(120)]
        times = Counter(tuple(ends.tolist()) for ends in drawn)
        assert len(times) == ways and min(times.values()) > 0.4 * 120 / ways


def test_arcs_between_memories_stay_within_their_scope():
    first = np.array([0, 1, 2, 3, 4, 10, 11, 12, 13, 14], np.int32)
    matrix = replace(
        matrix_of({}, [], memories=16),
        graph=edge_graph(22, first, first + 1, memories=16),
        memory_scope=(np.arange(16) >= 10).astype(np.int32),
        arcs=links(zip(first + 1, first, strict=True)),
    )
    moved = set()
    for seed in range(5):
        control = shuffled(matrix, "threads", seed)
        listed = zip(control.arcs.source.tolist(), control.arcs.target.tolist(), strict=True)
        walked = zip(*map(np.ndarray.tolist, control.graph.matrix.nonzero()), strict=True)
        pairs = {(min(pair), max(pair)) for pair in listed}
        assert pairs == {pair for pair in walked if pair[0] < pair[1]}
        assert control.graph.degree.tolist() == matrix.graph.degree.tolist()
        assert all((a < 10) == (b < 10) and a != b for a, b in pairs)
        moved |= pairs
    assert moved - {(at, at + 1) for at in range(15)}


def test_statements_are_dealt_out_among_the_memories_of_their_scope():
    stated = [(f"s{at % 2}", 10 * (at % 2) + place) for at in range(6) for place in (at, 0)]
    shuffles = [dealt(stated, seed) for seed in range(20)]
    for shuffle in shuffles:
        for scope, memories in (("s0", {0, 2, 4}), ("s1", {10, 11, 13, 15})):
            moved = {memory: other for (own, memory), other in shuffle.items() if own == scope}
            assert set(moved) == set(moved.values()) == memories
    assert dealt(stated, 3) == shuffles[3] and len({tuple(shuffle.values()) for shuffle in shuffles}) > 1
