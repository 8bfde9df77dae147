"""Graphs to compare a graph with: one part shuffled with every degree kept."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopgate.eval.evidence import CONCEPTS
from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.walk_graph import edge_graph

Ints = NDArray[np.int64]

OTHER = -2
ROUNDS = 24
"""How often every arc may change ends, every second time by lot; on a sparse graph a few suffice."""


def shuffled(matrix: GraphMatrix, part: str, seed: int = 0) -> GraphMatrix:
    """Shuffle one part, or all of the concept graph, keeping every degree exactly; the rest stays.

    Every memory keeps how many concepts it mentions and how many memories it is joined to, every concept how many
    memories mention it and how many concepts it is joined to, by edges in each direction; which ones is drawn anew.
    No pair is joined twice and none to itself. Arcs between memories stay within their scope. The link of a memory to
    the concept that its title names follows from a name alone, and stays. The same matrix and seed give the same
    shuffle, bit for bit.
    """
    graph, memories = matrix.graph, matrix.graph.memories
    left, right = np.repeat(np.arange(graph.nodes), np.diff(graph.indptr)), graph.indices.astype(np.int64)
    once = left <= right
    left, right, weight = left[once], right[once], np.asarray(graph.weights)[once]
    kind = np.full(len(left), OTHER)
    if part in ("titles", "names", CONCEPTS):
        of_title = np.isin(right - memories, matrix.titles.target)
        own_title = np.isin(_keys(left, right), _keys(matrix.titles.source, matrix.titles.target + memories))
        moving = of_title if part == "titles" else ~of_title if part == "names" else True
        mentions = (left < memories) & (right >= memories)
        kind[mentions] = np.where(~own_title & moving, 0, -1)[mentions]
    name = {"threads": "arcs", "facts": "edges", CONCEPTS: "edges"}.get(part)
    if name is None:
        ends = rewired(np.random.default_rng(seed), left, right, kind)
        return replace(matrix, graph=edge_graph(graph.nodes, left, ends, weight, memories=memories))
    # A pair moves with all rows that join it, so that a walk's degrees stay, and changes ends only with one whose rows
    # are alike and as many in each direction, so that each node keeps how many rows leave and reach it.
    links, base = getattr(matrix, name), memories if name == "edges" else 0
    source, target = links.source.astype(np.int64) + base, links.target.astype(np.int64) + base
    if name == "arcs":
        alike = matrix.memory_scope[links.source].astype(np.int64) << 8 | 1 << links.kind.astype(np.int64)
    else:
        alike = np.ones(len(source), np.int64)
    pairs, of_row = np.unique(_keys(source, target), return_inverse=True)
    keys = _keys(left, right)
    unwalked = np.setdiff1d(pairs, keys)  # of weight 0
    left, right = np.append(left, unwalked >> 32), np.append(right, unwalked & 0xFFFFFFFF)
    weight, kind = np.append(weight, 0 * unwalked), np.append(kind, 0 * unwalked)
    keys = np.append(keys, unwalked)
    by_key = np.argsort(keys)
    place = by_key[np.searchsorted(keys[by_key], pairs)]
    # The end that more rows leave comes first, the lower one where as many do: the order of rows says nothing.
    count = len(pairs)
    falls = 2 * np.bincount(of_row, source <= target, count) < np.bincount(of_row, minlength=count)
    left[place], right[place] = np.where(falls, (right[place], left[place]), (left[place], right[place]))
    forward = source == left[place][of_row]
    kinds = np.zeros((count, 3), np.int64)
    np.bitwise_or.at(kinds[:, 0], of_row, alike)
    kinds[:, 1], kinds[:, 2] = np.bincount(of_row, forward, count), np.bincount(of_row, ~forward, count)
    same = 1 + np.unique(kinds, axis=0, return_inverse=True)[1].ravel()
    kind[place] = np.where(left[place] == right[place], -1, same)
    ends = rewired(np.random.default_rng(seed), left, right, kind)
    ours, theirs = left[place][of_row] - base, ends[place][of_row] - base
    moved = replace(links, source=np.where(forward, ours, theirs), target=np.where(forward, theirs, ours))
    walked = edge_graph(graph.nodes, left, ends, weight, memories=memories)
    return replace(matrix, graph=walked, **{name: moved})


def rewired(rng: np.random.Generator, left: Ints, right: Ints, kind: Ints) -> Ints:
    """Deal the right ends of the arcs out anew among arcs of one kind, so that none is a loop or stands twice.

    No two of the given arcs join the same pair. Those whose kind is below 0 stay, and `OTHER` ones are in nobody's way.
    In every round the arcs of a kind are paired at random, and half of the pairs exchange their ends where that is
    allowed (Maslov and Sneppen, Science 296, 2002): every step has the degrees. What is allowed is allowed the other
    way round, too, and a pair may stay as it is, so that every graph with these degrees is as likely, also of the few
    that a tiny graph has.
    """
    ends, free, like = right.copy(), np.flatnonzero(kind >= 0), kind != OTHER
    for turn in range(ROUNDS if len(free) > 1 else 0):
        drawn = rng.permutation(free)
        order = drawn[np.argsort(kind[drawn], kind="stable")][turn % 2 :]
        pairs = order[: len(order) // 2 * 2].reshape(-1, 2)
        here, there = pairs[(kind[pairs[:, 0]] == kind[pairs[:, 1]]) & (rng.random(len(pairs)) < 0.5)].T
        old = np.stack([_keys(left[here], ends[here]), _keys(left[there], ends[there])])
        new = np.stack([_keys(left[here], ends[there]), _keys(left[there], ends[here])])
        keys, place, times = np.unique(new, return_inverse=True, return_counts=True)
        fresh = (~np.isin(keys, _keys(left[like], ends[like])) & (times == 1))[place.reshape(new.shape)].all(axis=0)
        loops = (left[here] == ends[there]) | (left[there] == ends[here])
        allowed = fresh & ~loops & ~np.isin(old, keys).any(axis=0)
        here, there = here[allowed], there[allowed]
        ends[here], ends[there] = ends[there], ends[here]
    return ends


def _keys(left: NDArray[Any], right: NDArray[Any]) -> Ints:
    """Each pair as one number, whichever end comes first."""
    return np.asarray(np.minimum(left, right).astype(np.int64) << 32 | np.maximum(left, right))
