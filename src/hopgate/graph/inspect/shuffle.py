"""The control for a test of the graph: the same degrees, another structure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.walk_graph import mention_graph

# Passes that replace pairs drawn twice; each leaves a fraction of them.
PASSES = 30


def shuffled(matrix: GraphMatrix, seed: int = 0, *, kept_relations: frozenset[str] = frozenset()) -> GraphMatrix:
    """Shuffle what was extracted, preserving degrees.

    Every memory keeps how many concepts it mentions, every concept how many memories mention it and how many edges
    leave and reach it; which ones is drawn anew. What follows from names alone stays: the link of a memory to the
    concept that its title names, and edges of `kept_relations`. A graph must beat this control for its structure, and
    not for its titles or for restarting on dense hits.
    """
    rng = np.random.default_rng(seed)
    graph = matrix.graph
    ends = int(graph.indptr[graph.memories])
    memory = np.repeat(np.arange(graph.memories), np.diff(graph.indptr[: graph.memories + 1]))
    mentions = graph.indices[:ends] >= graph.memories
    memory = memory[mentions]
    concept = graph.indices[:ends][mentions].astype(np.int64) - graph.memories
    weight = np.asarray(graph.weights[:ends])[mentions]
    # Both ends as one number, which tells pairs of memory and concept apart.
    titles = matrix.title_memory.astype(np.int64) * graph.concepts + matrix.title_concept
    extracted = ~np.isin(memory * graph.concepts + concept, titles)
    concept = _permuted(rng, memory, concept, extracted)
    kept = np.array([relation in kept_relations for relation in matrix.relations] or [False])
    stated = ~kept[matrix.edge_relation] if len(matrix.edge_id) else np.zeros(0, bool)
    source = matrix.edge_source.astype(np.int64)
    target = _permuted(rng, source, matrix.edge_target.astype(np.int64), stated)
    fresh = _first_of_each(memory, concept)
    # Which memories of a scope are neighbours is drawn anew, kind by kind: both ends stay in their scope.
    first, second = matrix.arc_source.astype(np.int64), matrix.arc_target.astype(np.int64)
    for group in np.unique(np.stack([matrix.memory_scope[first], matrix.arc_kind]), axis=1).T if len(first) else ():
        drawn = (matrix.memory_scope[first] == group[0]) & (matrix.arc_kind == group[1])
        second = _permuted(rng, first, second, drawn)
    return replace(
        matrix,
        graph=mention_graph(
            graph.memories,
            graph.concepts,
            memory[fresh],
            concept[fresh],
            weight[fresh],
            source=source,
            target=target,
            edge_weight=matrix.edge_weight,
            first=first,
            second=second,
            arc_weight=matrix.arc_weight,
        ),
        arc_target=second.astype(np.int32),
        edge_target=target.astype(np.int32),
    )


def _permuted(
    rng: np.random.Generator, left: NDArray[Any], right: NDArray[Any], free: NDArray[np.bool_]
) -> NDArray[Any]:
    """Permute the right ends of the free pairs, avoiding pairs that are there already."""
    ends = right.copy()
    places = np.flatnonzero(free)
    if len(places) < 2:
        return ends
    ends[places] = rng.permutation(ends[places])
    for _ in range(PASSES):
        repeated = np.zeros(len(ends), bool)
        repeated[_first_of_each(left, ends)] = True
        wrong = places[~repeated[places]]
        if not len(wrong):
            break
        others = rng.choice(places, len(wrong))
        for place, other in zip(wrong.tolist(), others.tolist(), strict=True):
            ends[place], ends[other] = ends[other], ends[place]
    return ends


def _first_of_each(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.int64]:
    """Rows that hold each pair for the first time."""
    if not len(left):
        return np.zeros(0, np.int64)
    _, first = np.unique(np.stack([left, right]), axis=1, return_index=True)
    return np.sort(first).astype(np.int64)
