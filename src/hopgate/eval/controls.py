"""Graphs to compare a graph with: one part shuffled with every degree kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.eval.evidence import CONCEPTS
from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.parts import of_names
from hopgate.graph.walk.walk_graph import edge_graph

Ints = NDArray[np.int64]

ROUNDS = 24
"""How often every arc may change ends, every second time by lot; on a sparse graph a few suffice."""


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
    graph, memory = matrix.graph, matrix.graph.memories
    first = np.repeat(np.arange(graph.nodes), np.diff(graph.indptr))
    ends, weight = graph.indices.astype(np.int64), np.asarray(graph.weights)
    once = first <= ends
    first, ends, weight = first[once], ends[once], weight[once]
    among_memories, among_concepts = ends < memory, first >= memory
    rows: dict[str, Any] = {}
    if part in ("titles", "names", CONCEPTS):
        mentions = ~among_memories & ~among_concepts
        left, right = first[mentions], ends[mentions]
        of_title = np.isin(right - memory, matrix.titles.target)
        own_title = np.isin(_keys(left, right), _keys(matrix.titles.source, matrix.titles.target + memory))
        free = ~own_title & (of_title if part == "titles" else ~of_title if part == "names" else True)
        ends[mentions] = rewired(rng, left, right, free.astype(np.int64) - 1)
    if part == "threads":
        alike = matrix.memory_scope[matrix.arcs.source].astype(np.int64) << 8 | 1 << matrix.arcs.kind.astype(np.int64)
        moved = _moved(rng, matrix.arcs.source, matrix.arcs.target, alike)
        first[among_memories], ends[among_memories] = moved.of(first[among_memories], ends[among_memories])
        rows = {"arcs": replace(matrix.arcs, source=moved.source, target=moved.target)}
    if part in ("facts", CONCEPTS):
        moved = _moved(rng, matrix.edges.source, matrix.edges.target, -of_names(matrix).astype(np.int64))
        left, right = moved.of(first[among_concepts] - memory, ends[among_concepts] - memory)
        first[among_concepts], ends[among_concepts] = left + memory, right + memory
        rows = {"edges": replace(matrix.edges, source=moved.source, target=moved.target)}
    return replace(matrix, graph=edge_graph(graph.nodes, first, ends, weight, memories=memory), **rows)


class _Moved(NamedTuple):
    """Pairs of nodes as one number each, ascending, with the new ends of each; and the new ends of every row."""

    pairs: Ints
    left: Ints
    right: Ints
    source: Ints
    target: Ints

    def of(self, first: Ints, second: Ints) -> tuple[Ints, Ints]:
        """The new ends of these pairs, each in its place, so that its weight stays with it."""
        place = np.searchsorted(self.pairs, _keys(first, second))
        return self.left[place], self.right[place]


def _moved(rng: np.random.Generator, sources: NDArray[Any], targets: NDArray[Any], alike: Ints) -> _Moved:
    """Give new ends to every pair that rows join; a pair moves with all its rows, so that a walk's degrees stay.

    It changes ends only with a pair whose rows are alike, and that has as many of them in each direction, so that each
    node keeps how many rows leave and reach it. A pair with a row below 0 stays, and so does a loop.
    """
    source, target = sources.astype(np.int64), targets.astype(np.int64)
    pairs, of_row = np.unique(_keys(source, target), return_inverse=True)
    count, low, high = len(pairs), pairs >> 32, pairs & 0xFFFFFFFF
    upward = np.bincount(of_row, source == low[of_row], count)
    # The end that more rows leave comes first, the lower one where as many do: the order of rows says nothing.
    rises = 2 * upward >= np.bincount(of_row, minlength=count)
    left, right = np.where(rises, low, high), np.where(rises, high, low)
    forward = source == left[of_row]
    kinds = np.zeros((count, 3), np.int64)
    np.bitwise_or.at(kinds[:, 0], of_row, alike)
    kinds[:, 1], kinds[:, 2] = np.bincount(of_row, forward, count), np.bincount(of_row, ~forward, count)
    _, kind = np.unique(kinds, axis=0, return_inverse=True)
    ends = rewired(rng, left, right, np.where((kinds[:, 0] < 0) | (left == right), -1, kind.ravel()))
    ours, theirs = left[of_row], ends[of_row]
    return _Moved(pairs, left, ends, np.where(forward, ours, theirs), np.where(forward, theirs, ours))


def rewired(rng: np.random.Generator, left: Ints, right: Ints, kind: Ints) -> Ints:
    """Deal the right ends of the arcs out anew among arcs of one kind, so that none is a loop or stands twice.

    In every round the arcs of a kind are paired at random, and half of the pairs exchange their ends where that is
    allowed (Maslov and Sneppen, Science 296, 2002): every step has the degrees. What is allowed is allowed the other
    way round, too, and a pair may stay as it is, so that every graph with these degrees is as likely, also of the few
    that a tiny graph has.

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
        pairs = order[: len(order) // 2 * 2].reshape(-1, 2)
        here, there = pairs[(kind[pairs[:, 0]] == kind[pairs[:, 1]]) & (rng.random(len(pairs)) < 0.5)].T
        old = np.stack([_keys(left[here], ends[here]), _keys(left[there], ends[there])])
        new = np.stack([_keys(left[here], ends[there]), _keys(left[there], ends[here])])
        keys, place, times = np.unique(new, return_inverse=True, return_counts=True)
        fresh = (~np.isin(keys, _keys(left, ends)) & (times == 1))[place.reshape(new.shape)].all(axis=0)
        loops = (left[here] == ends[there]) | (left[there] == ends[here])
        allowed = fresh & ~loops & ~np.isin(old, keys).any(axis=0)
        here, there = here[allowed], there[allowed]
        ends[here], ends[there] = ends[there], ends[here]
    return ends


def _keys(left: NDArray[Any], right: NDArray[Any]) -> Ints:
    """Each pair as one number, whichever end comes first."""
    return np.asarray(np.minimum(left, right).astype(np.int64) << 32 | np.maximum(left, right))
