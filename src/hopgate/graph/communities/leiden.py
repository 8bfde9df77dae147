"""Communities by the Leiden algorithm: groups that share more weight inside than chance would give them.

Traag, Waltman and van Eck: From Louvain to Leiden: guaranteeing well-connected communities. Scientific Reports 9, 2019.

Written out here because igraph, which is fast, is under the GPL; scikit-network's, with tolerances below its defaults,
did not end on a graph of 17,263 concepts; and networkx has Louvain alone, whose communities may fall apart. The
figures are in docs/research/clusters.md.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

Labels = NDArray[np.int64]

# A move counts when it gains this share of the whole weight: less is rounding, and two nodes could change places for
# ever.
LEAST_GAIN = 1e-10
# Each round begins with the communities of the last one. On 17,263 concepts the second raises the modularity from
# 0.825 to 0.829.
ROUNDS = 2


@dataclass(frozen=True, eq=False)
class _Nodes:
    """A graph as lists, which Python walks quicker than arrays; strengths count what a node was made of."""

    starts: list[int]
    neighbours: list[int]
    weights: list[float]
    strengths: list[float]
    total: float
    resolution: float

    def links(self, node: int, label: list[int]) -> dict[int, float]:
        """How much a node is tied to each community."""
        found: dict[int, float] = {}
        for place in range(self.starts[node], self.starts[node + 1]):
            community = label[self.neighbours[place]]
            found[community] = found.get(community, 0.0) + self.weights[place]
        return found


def leiden(weights: csr_array, *, resolution: float = 1.0, seed: int = 0) -> Labels:
    """Give every node the number of its community, from 0, the largest first; communities are connected.

    Parameters
    ----------
    weights : sparse array
        Symmetric, without loops.
    resolution : float
        Above 1 there are more and smaller communities, below 1 fewer and larger ones.
    seed : int
        Nodes are visited in an order that depends on it; the same seed gives the same communities.

    Examples
    --------
    >>> pairs = csr_array(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], float))
    >>> leiden(pairs).tolist()
    [0, 0, 1, 1]
    """
    count = weights.shape[0]
    labels = np.arange(count, dtype=np.int64)
    if not weights.nnz:
        return labels
    random = np.random.default_rng(seed)
    for _ in range(ROUNDS):
        labels = _round(weights, labels, resolution, random)
    return by_size(connected(weights, labels))


def modularity(weights: csr_array, labels: Labels, resolution: float = 1.0) -> float:
    """How much more of the weight is inside communities than chance would put there; 0 where there is no weight.

    Examples
    --------
    >>> pairs = csr_array(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], float))
    >>> modularity(pairs, np.array([0, 0, 1, 1]))
    0.5
    """
    whole = float(weights.sum())
    if not whole:
        return 0.0
    entries = weights.tocoo()
    inside = float(entries.data[labels[entries.row] == labels[entries.col]].sum())
    strength = np.bincount(labels, np.asarray(weights.sum(axis=1)).ravel())
    return inside / whole - resolution * float((strength**2).sum()) / whole**2


def by_size(labels: NDArray[np.integer[Any]]) -> Labels:
    """Number groups from 0, the largest first; of equally large ones the one whose first member comes first."""
    _, first, own, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    place = np.empty(len(sizes), np.int64)
    place[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return np.asarray(place[own], np.int64)


def connected(weights: csr_array, labels: Labels) -> Labels:
    """Give each connected part of a group a number of its own."""
    entries = weights.tocoo()
    inside = labels[entries.row] == labels[entries.col]
    shape = weights.shape
    kept = coo_array((entries.data[inside], (entries.row[inside], entries.col[inside])), shape=shape)
    return np.asarray(connected_components(kept.tocsr(), directed=False)[1], np.int64)


def _round(weights: csr_array, labels: Labels, resolution: float, random: np.random.Generator) -> Labels:
    """Move nodes, refine, make one node of each refined community, and again, until nothing moves."""
    strengths: NDArray[np.float64] = np.asarray(weights.sum(axis=1), np.float64).ravel()
    total = float(strengths.sum())
    graph, place = weights, np.arange(weights.shape[0])
    while True:
        graph.sort_indices()
        nodes = _Nodes(
            graph.indptr.tolist(), graph.indices.tolist(), graph.data.tolist(), strengths.tolist(), total, resolution
        )
        order = random.permutation(len(strengths)).tolist()
        moved = np.array(_move(nodes, labels.tolist(), order), np.int64)
        _, moved = np.unique(moved, return_inverse=True)
        communities = int(moved.max()) + 1
        if communities == len(strengths):
            return np.asarray(moved[place], np.int64)
        _, refined = np.unique(_refine(nodes, moved.tolist(), order), return_inverse=True)
        if int(refined.max()) + 1 == len(strengths):
            refined = moved
        parts = int(refined.max()) + 1
        labels = np.empty(parts, np.int64)
        labels[refined] = moved
        strengths = np.bincount(refined, strengths, minlength=parts).astype(np.float64)
        graph, place = _joined(graph, refined, parts), refined[place]


def _joined(graph: csr_array, part: NDArray[np.integer[Any]], parts: int) -> csr_array:
    """One node for each part; what was inside one is in its strength alone."""
    entries = graph.tocoo()
    row, column = part[entries.row], part[entries.col]
    between = row != column
    return csr_array(coo_array((entries.data[between], (row[between], column[between])), shape=(parts, parts)))


def _move(nodes: _Nodes, label: list[int], order: list[int]) -> list[int]:
    """Put each node where it gains most; whose neighbour moved is looked at again."""
    strength, total, resolution = nodes.strengths, nodes.total, nodes.resolution
    least = LEAST_GAIN * total
    inside = [0.0] * len(label)
    members = [0] * len(label)
    for node, community in enumerate(label):
        inside[community] += strength[node]
        members[community] += 1
    empty = [community for community, count in enumerate(members) if not count]
    queue, waiting = deque(order), bytearray(b"\1") * len(label)
    while queue:
        node = queue.popleft()
        waiting[node] = 0
        own, fair = label[node], resolution * strength[node] / total
        links = nodes.links(node, label)
        inside[own] -= strength[node]
        here = links.get(own, 0.0) - fair * inside[own]
        best, gain = own, here + least
        for community, weight in links.items():
            if weight - fair * inside[community] > gain:
                best, gain = community, weight - fair * inside[community]
        if best == own and here < -least and members[own] > 1 and empty:
            best = empty.pop()
        inside[best] += strength[node]
        if best == own:
            continue
        label[node] = best
        members[own] -= 1
        members[best] += 1
        if not members[own]:
            empty.append(own)
        for place in range(nodes.starts[node], nodes.starts[node + 1]):
            other = nodes.neighbours[place]
            if label[other] != best and not waiting[other]:
                waiting[other] = 1
                queue.append(other)
    return label


def _refine(nodes: _Nodes, label: list[int], order: list[int]) -> list[int]:
    """Join nodes of one community from single ones, each with what it is tied to most: such parts are connected."""
    strength, total, resolution = nodes.strengths, nodes.total, nodes.resolution
    count, least = len(label), LEAST_GAIN * nodes.total
    community_strength: dict[int, float] = {}
    for node, community in enumerate(label):
        community_strength[community] = community_strength.get(community, 0.0) + strength[node]
    part, alone, inside = list(range(count)), bytearray(b"\1") * count, strength.copy()
    for node in order:
        if not alone[node]:
            continue
        links: dict[int, float] = {}
        tied = 0.0
        for place in range(nodes.starts[node], nodes.starts[node + 1]):
            other = nodes.neighbours[place]
            if label[other] == label[node]:
                links[part[other]] = links.get(part[other], 0.0) + nodes.weights[place]
                tied += nodes.weights[place]
        fair = resolution * strength[node] / total
        # Only what is well tied to its community may lead others out of it.
        if tied < fair * (community_strength[label[node]] - strength[node]):
            continue
        best, gain = node, least
        for other, weight in links.items():
            if weight - fair * inside[other] > gain:
                best, gain = other, weight - fair * inside[other]
        if best != node:
            # A part is numbered after the node it began with, which stays in it.
            part[node], alone[node], alone[best] = best, 0, 0
            inside[best] += strength[node]
            inside[node] = 0.0
    return part
