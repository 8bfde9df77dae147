"""Hubs: a concept that much of a scope mentions says little about each memory, so that its mentions fade."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from hopgate.graph.walk.walk_graph import WalkGraph

# A concept in up to a twentieth of a scope's memories is no hub, nor is one in up to five. Measured with the neighbours
# of memories (docs/research/neighbours.md): musique and 2wiki stay as they are, locomo gains up to 0.01.
SHARE = 20
FEW = 5
# What is linked stays linked, however little that says.
LEAST = 0.05
# Counting with a table of every scope and concept takes a tenth of the time of sorting, while it is no larger than this
# many times the mentions.
DENSE = 16


def hub_factors(memory: NDArray[Any], concept: NDArray[Any], scope: NDArray[Any], concepts: int) -> NDArray[np.float32]:
    """Give each mention's factor: ``ln(memories / mentioning) / ln 20`` in the memory's scope, between 0.05 and 1.

    Parameters
    ----------
    memory, concept : arrays of int
        The mentions.
    scope : array of int
        The number of every memory's scope.
    concepts : int
        How many concepts there are.

    Examples
    --------
    Of 30 memories, all mention concept 0 and one mentions concept 1:

    >>> memory, concept = np.append(np.arange(30), 3), np.append(np.zeros(30, int), 1)
    >>> hub_factors(memory, concept, np.zeros(30, int), 2)[[0, -1]].tolist() == [np.float32(0.05), 1.0]
    True
    """
    if not len(memory):
        return np.zeros(0, np.float32)
    sizes = np.bincount(scope)
    group = scope[memory].astype(np.int64) * concepts + concept
    if len(sizes) * concepts <= DENSE * len(group):
        mentioning = np.bincount(group)[group]
    else:
        _, place, count = np.unique(group, return_inverse=True, return_counts=True)
        mentioning = count[place]
    return fading(sizes[scope[memory]], mentioning)


def fading(memories: ArrayLike, mentioning: ArrayLike) -> NDArray[np.float32]:
    """Give the factor of mentions of a concept that so many of a scope's memories mention.

    Examples
    --------
    >>> fading(1000, [5, 50, 100, 1000]).round(2).tolist() == np.float32([1.0, 1.0, 0.77, 0.05]).tolist()
    True
    """
    count = np.asarray(mentioning)
    factor = np.log(np.asarray(memories) / np.maximum(count, 1)) / np.log(SHARE)
    return np.where(count <= FEW, 1.0, np.clip(factor, LEAST, 1)).astype(np.float32)


def faded(graph: WalkGraph, scope: NDArray[Any]) -> NDArray[np.float32]:
    """Give a graph's weights with its mentions faded, in both directions."""
    split, ends = graph.memories, int(graph.indptr[graph.memories])
    weights = graph.weights.copy()
    node = np.repeat(np.arange(graph.nodes), graph.degree)
    to_concept = np.flatnonzero(graph.indices[:ends] >= split)
    to_memory = ends + np.flatnonzero(graph.indices[ends:] < split)
    for at, memory, concept in (
        (to_concept, node[to_concept], graph.indices[to_concept] - split),
        (to_memory, graph.indices[to_memory], node[to_memory] - split),
    ):
        weights[at] *= hub_factors(memory, concept, scope, graph.concepts)
    return weights
