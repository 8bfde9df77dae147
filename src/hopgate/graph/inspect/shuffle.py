"""The control for a test of the graph: the same degrees, another structure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.inspect.rewire import rewired
from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.walk_graph import edge_graph

Ints = NDArray[np.int64]


def shuffled(matrix: GraphMatrix, seed: int = 0, *, kept_relations: frozenset[str] = frozenset()) -> GraphMatrix:
    """Shuffle what was extracted or derived, each kind of arc on its own, keeping every degree exactly.

    Every memory keeps how many concepts it mentions and how many memories it is joined to, every concept how many
    memories mention it and how many concepts it is joined to, by edges in each direction; which ones is drawn anew.
    No pair is joined twice and none to itself. Arcs between memories stay within their scope.
    What follows from names alone stays: the link of a memory to the concept that its title names, and edges of
    `kept_relations`. The same matrix and seed give the same shuffle, bit for bit.

    A graph must beat this control for its structure, and not for its titles or for restarting on base hits.
    """
    rng = np.random.default_rng(seed)
    graph = matrix.graph
    first = np.repeat(np.arange(graph.nodes), np.diff(graph.indptr))
    second, weight = graph.indices.astype(np.int64), np.asarray(graph.weights)
    once = first <= second
    first, second, weight = first[once], second[once], weight[once]
    memory = graph.memories
    among_memories, among_concepts = second < memory, first >= memory
    mentions = ~among_memories & ~among_concepts

    ends = second.copy()
    titles = matrix.title_memory.astype(np.int64) * graph.nodes + matrix.title_concept + memory
    free = ~np.isin(first[mentions] * graph.nodes + second[mentions], titles)
    ends[mentions] = rewired(rng, first[mentions], second[mentions], free.astype(np.int64) - 1)
    near = first[among_memories], second[among_memories]
    ends[among_memories], arcs = _rewired_arcs(rng, matrix, *near)
    joined, swapped = _rewired_edges(rng, matrix, kept_relations)
    edges = _edge_pairs(matrix)
    # The pairs of the edges as they were, to find each arc's new ends and to leave its weight with it.
    place = np.searchsorted(edges[0], (first * graph.nodes + second)[among_concepts])
    first[among_concepts], ends[among_concepts] = joined[0][place] + memory, joined[1][place] + memory
    return replace(
        matrix,
        graph=edge_graph(graph.nodes, first, ends, weight, memories=memory),
        edge_source=swapped[0].astype(np.int32),
        edge_target=swapped[1].astype(np.int32),
        arc_source=arcs[0].astype(np.int32),
        arc_target=arcs[1].astype(np.int32),
    )


def _edge_pairs(matrix: GraphMatrix) -> tuple[Ints, Ints]:
    """The distinct pairs of concepts that edges join, ascending and as numbers of two nodes; and each edge's pair."""
    source, target = matrix.edge_source.astype(np.int64), matrix.edge_target.astype(np.int64)
    nodes, memory = matrix.graph.nodes, matrix.graph.memories
    low, high = np.minimum(source, target) + memory, np.maximum(source, target) + memory
    pairs, of_edge = np.unique(low * nodes + high, return_inverse=True)
    return pairs, of_edge.ravel()


def _rewired_edges(
    rng: np.random.Generator, matrix: GraphMatrix, kept_relations: frozenset[str]
) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
    """New ends for every joined pair, and for every edge of it.

    A pair moves with all its edges, so that a walk's degrees stay; and it changes ends only with a pair that has as
    many edges in each direction, so that each concept keeps how many edges leave and reach it.
    """
    source, target = matrix.edge_source.astype(np.int64), matrix.edge_target.astype(np.int64)
    pairs, of_edge = _edge_pairs(matrix)
    count = len(pairs)
    if not count:
        return (source, target), (source, target)
    low, high = pairs // matrix.graph.nodes - matrix.graph.memories, pairs % matrix.graph.nodes - matrix.graph.memories
    upward = np.bincount(of_edge, source == low[of_edge], count)
    # The end that more edges leave comes first, the lower one where as many do: the order of rows says nothing.
    rises = 2 * upward >= np.bincount(of_edge, minlength=count)
    left, right = np.where(rises, low, high), np.where(rises, high, low)
    forward = source == left[of_edge]
    kept = np.array([relation in kept_relations for relation in matrix.relations] or [False])[matrix.edge_relation]
    onward = np.bincount(of_edge, forward, count).astype(np.int64)
    backward = np.bincount(of_edge, ~forward, count).astype(np.int64)
    # One number for the edges in each direction; what is kept, and a loop, stays where it is.
    kind = onward * (1 + int(backward.max(initial=0))) + backward
    kind[(np.bincount(of_edge, kept, count) > 0) | (left == right)] = -1
    ends = rewired(rng, left, right, kind)
    new_source = np.where(forward, left[of_edge], ends[of_edge])
    new_target = np.where(forward, ends[of_edge], left[of_edge])
    return (left, ends), (new_source, new_target)


def _rewired_arcs(
    rng: np.random.Generator, matrix: GraphMatrix, first: Ints, second: Ints
) -> tuple[Ints, tuple[Ints, Ints]]:
    """New second ends for the pairs of memories that arcs join, and new ends for every arc.

    A pair moves with all its arcs, and changes ends only with a pair of its own scope that has arcs of the same kinds:
    which memories of a conversation follow each other is drawn anew, and none is joined to another conversation.
    """
    source, target = matrix.arc_source.astype(np.int64), matrix.arc_target.astype(np.int64)
    if not len(first):
        return second.copy(), (source, target)
    nodes = matrix.graph.nodes
    of_arc = np.searchsorted(first * nodes + second, np.minimum(source, target) * nodes + np.maximum(source, target))
    kinds = np.zeros(len(first), np.int64)
    np.bitwise_or.at(kinds, of_arc, 1 << matrix.arc_kind.astype(np.int64))
    kind = matrix.memory_scope[first].astype(np.int64) * (1 + int(kinds.max())) + kinds
    ends = rewired(rng, first, second, np.where(first == second, -1, kind))
    forward = source == first[of_arc]
    return ends, (np.where(forward, first[of_arc], ends[of_arc]), np.where(forward, ends[of_arc], first[of_arc]))
