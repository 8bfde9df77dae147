"""Graphs to compare a graph with: some of its parts alone, or one part shuffled with every degree kept."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopgate.eval.evidence import CONCEPTS
from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.walk_graph import Pairs, edge_graph, mention_graph
from hopgate.store.graph.edge_rows import NAME_INSIDE

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

# What a matrix holds of each title, edge and arc.
TITLE, EDGE = ("memory", "concept"), ("source", "target", "relation", "weight", "id")
ARC = ("source", "target", "weight", "kind")
ROUNDS = 12
"""How often every arc may change ends; on a sparse graph a few suffice."""


def parts_of(matrix: GraphMatrix) -> dict[str, int]:
    """Count what a graph has of each part: arcs between memories, mentions of titles, other mentions, typed edges."""
    _, concept, _ = _mentions(matrix)
    titled = int(np.isin(concept, matrix.title_concept).sum())
    inside = int(_of_names(matrix).sum())
    return {
        "threads": len(matrix.arc_source),
        "titles": titled,
        "names": len(concept) - titled + inside,
        "facts": len(matrix.edge_id) - inside,
    }


def with_parts(matrix: GraphMatrix, parts: Collection[str]) -> GraphMatrix:
    """Give the graph with these parts alone; nodes stay, so that a query's seeds keep their places.

    A memory names another's title where both mention the concept of that title: such mentions are titles, all other
    mentions are names, and so are edges that say that a name is inside another. Facts near a query go with the edges
    that they are.
    """
    memory, concept, weight = _mentions(matrix)
    of_title = np.isin(concept, matrix.title_concept)
    mentions = (of_title & ("titles" in parts)) | (~of_title & ("names" in parts))
    of_names = _of_names(matrix)
    edges = (of_names & ("names" in parts)) | (~of_names & ("facts" in parts))
    arcs = np.full(len(matrix.arc_source), "threads" in parts)
    titles = np.full(len(matrix.title_memory), "titles" in parts)
    rows: dict[str, Any] = {
        f"{kind}_{column}": getattr(matrix, f"{kind}_{column}")[kept]
        for kind, kept, columns in (("title", titles, TITLE), ("edge", edges, EDGE), ("arc", arcs, ARC))
        for column in columns
    }
    return replace(
        matrix,
        graph=mention_graph(
            matrix.graph.memories,
            matrix.graph.concepts,
            Pairs(memory[mentions], concept[mentions], weight[mentions]),
            edges=Pairs(matrix.edge_source[edges], matrix.edge_target[edges], matrix.edge_weight[edges]),
            neighbours=Pairs(matrix.arc_source[arcs], matrix.arc_target[arcs], matrix.arc_weight[arcs]),
        ),
        **rows,
    )


def shuffled(matrix: GraphMatrix, part: str, seed: int = 0) -> GraphMatrix:
    """Shuffle one part, or all of the concept graph, keeping every degree exactly; the rest stays.

    Every memory keeps how many concepts it mentions and how many memories it is joined to, every concept how many
    memories mention it and how many concepts it is joined to, by edges in each direction; which ones is drawn anew.
    No pair is joined twice and none to itself. Arcs between memories stay within their scope. What follows from a name
    alone stays: the link of a memory to the concept that its title names, and edges between a name and one inside it.
    The same matrix and seed give the same shuffle, bit for bit.

    Parameters
    ----------
    part : str
        `threads`, `titles`, `names`, `facts`, or `concepts` for the last three at once.
    """
    rng = np.random.default_rng(seed)
    graph = matrix.graph
    first = np.repeat(np.arange(graph.nodes), np.diff(graph.indptr))
    second, weight = graph.indices.astype(np.int64), np.asarray(graph.weights)
    once = first <= second
    first, second, weight = first[once], second[once], weight[once]
    memory = graph.memories
    among_memories, among_concepts = second < memory, first >= memory
    ends = second.copy()
    arcs: tuple[NDArray[Any], NDArray[Any]] = matrix.arc_source, matrix.arc_target
    edges: tuple[NDArray[Any], NDArray[Any]] = matrix.edge_source, matrix.edge_target
    if part in ("titles", "names", CONCEPTS):
        mentions = ~among_memories & ~among_concepts
        left, right = first[mentions], second[mentions]
        of_title = np.isin(right - memory, matrix.title_concept)
        own_title = np.isin(
            left * graph.nodes + right,
            matrix.title_memory.astype(np.int64) * graph.nodes + matrix.title_concept + memory,
        )
        free = ~own_title & (of_title if part == "titles" else ~of_title if part == "names" else True)
        ends[mentions] = rewired(rng, left, right, free.astype(np.int64) - 1)
    if part == "threads":
        ends[among_memories], arcs = _rewired_arcs(rng, matrix, first[among_memories], second[among_memories])
    if part in ("facts", CONCEPTS):
        joined, edges = _rewired_edges(rng, matrix)
        pairs = _edge_pairs(matrix)
        # The pairs of the edges as they were, to find each arc's new ends and to leave its weight with it.
        place = np.searchsorted(pairs[0], (first * graph.nodes + second)[among_concepts])
        first[among_concepts], ends[among_concepts] = joined[0][place] + memory, joined[1][place] + memory
    return replace(
        matrix,
        graph=edge_graph(graph.nodes, first, ends, weight, memories=memory),
        edge_source=edges[0].astype(np.int32),
        edge_target=edges[1].astype(np.int32),
        arc_source=arcs[0].astype(np.int32),
        arc_target=arcs[1].astype(np.int32),
    )


def _mentions(matrix: GraphMatrix) -> tuple[Ints, Ints, NDArray[np.float32]]:
    """The links of memories and concepts: a memory's number, a concept's, and the weight that is walked."""
    graph = matrix.graph
    ends = int(graph.indptr[graph.memories])
    memory = np.repeat(np.arange(graph.memories), np.diff(graph.indptr[: graph.memories + 1]))
    other = graph.indices[:ends].astype(np.int64)
    mentions = other >= graph.memories
    return memory[mentions], other[mentions] - graph.memories, graph.weights[:ends][mentions]


def _of_names(matrix: GraphMatrix) -> Mask:
    """Which edges say only that a name is inside another."""
    inside = np.array([relation == NAME_INSIDE for relation in matrix.relations] or [False])
    return np.asarray(inside[matrix.edge_relation])


def _edge_pairs(matrix: GraphMatrix) -> tuple[Ints, Ints]:
    """The distinct pairs of concepts that edges join, ascending and as numbers of two nodes; and each edge's pair."""
    source, target = matrix.edge_source.astype(np.int64), matrix.edge_target.astype(np.int64)
    nodes, memory = matrix.graph.nodes, matrix.graph.memories
    low, high = np.minimum(source, target) + memory, np.maximum(source, target) + memory
    pairs, of_edge = np.unique(low * nodes + high, return_inverse=True)
    return pairs, of_edge.ravel()


def _rewired_edges(rng: np.random.Generator, matrix: GraphMatrix) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
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
    kept = _of_names(matrix)
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


def rewired(rng: np.random.Generator, left: Ints, right: Ints, kind: Ints) -> Ints:
    """Deal the right ends of the arcs out anew among arcs of one kind, so that none is a loop or stands twice.

    In every round the arcs of a kind are paired at random, and each pair exchanges its ends where that is allowed
    (Maslov and Sneppen, Science 296, 2002): every step has the degrees, on small and on dense graphs too.

    Parameters
    ----------
    left, right : arrays of int
        The arcs, whose pairs are distinct, whichever end comes first.
    kind : array of int
        Arcs exchange ends within their kind; those below 0 stay.

    Returns
    -------
    array of int
        The new right ends.

    Examples
    --------
    >>> left, right = np.array([0, 1, 2, 3]), np.array([4, 5, 6, 7])
    >>> sorted(rewired(np.random.default_rng(0), left, right, np.zeros(4, int)).tolist())
    [4, 5, 6, 7]
    """
    ends, free = right.copy(), np.flatnonzero(kind >= 0)
    for turn in range(ROUNDS if len(free) > 1 else 0):
        drawn = rng.permutation(free)
        order = drawn[np.argsort(kind[drawn], kind="stable")][turn % 2 :]
        here, there = order[: len(order) // 2 * 2 : 2], order[1::2]
        new = np.stack([_keys(left[here], ends[there]), _keys(left[there], ends[here])])
        keys, place, times = np.unique(new, return_inverse=True, return_counts=True)
        present = np.sort(_keys(left, ends))
        known = present[np.searchsorted(present, keys).clip(max=len(present) - 1)] == keys
        loops = (left[here] == ends[there]) | (left[there] == ends[here])
        fresh = (~known & (times == 1))[place.reshape(new.shape)].all(axis=0)
        allowed = (kind[here] == kind[there]) & ~loops & fresh
        here, there = here[allowed], there[allowed]
        ends[here], ends[there] = ends[there], ends[here]
    return ends


def _keys(left: Ints, right: Ints) -> Ints:
    """Each pair as one number, whichever end comes first."""
    return np.minimum(left, right) << 32 | np.maximum(left, right)
