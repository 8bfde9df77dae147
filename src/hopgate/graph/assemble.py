"""The graph a walk runs over, from its parts: mentions, edges, and the links that names add."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from hopgate.graph.link import contained, heavier, named
from hopgate.graph.spot import NameIndex, name_index
from hopgate.graph.walkgraph import WalkGraph, mention_graph


def linked_graph(
    memories: int,
    concepts: int,
    memory: ArrayLike,
    concept: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    source: ArrayLike = (),
    target: ArrayLike = (),
    edge_weight: ArrayLike | None = None,
    names: Sequence[tuple[str, int]] = (),
    contents: Iterable[tuple[int, str]] = (),
) -> tuple[WalkGraph, NameIndex]:
    r"""Build the graph of mentions, typed edges and name links, and the index that finds names in queries.

    Parameters
    ----------
    memories, concepts, memory, concept, weight, source, target, edge_weight
        As `mention_graph` takes them. An edge between two concepts weighs its evidence: 1 a memory that states it.
    names : sequence of (str, int)
        Canonical names and aliases, each with its concept.
    contents : iterable of (int, str)
        Each memory's number and cleared content; leave it out to walk over extracted mentions alone.

    Examples
    --------
    The extractor saw no mention in memory 1, which is titled by the concept that memory 0 speaks of:

    >>> graph, index = linked_graph(
    ...     2, 1, memory=[0], concept=[0], names=[("Bob Marsh", 0)], contents=[(1, "Bob Marsh\nA miller.")]
    ... )
    >>> graph.matrix.toarray()
    array([[0., 0., 1.],
           [0., 0., 6.],
           [1., 6., 0.]], dtype=float32)
    >>> index
    NameIndex(names=1)
    """
    index = name_index(names)
    mentions = heavier(memory, concept, weight, named(index, contents))
    inside = contained(index, names)
    stated = (
        np.ones(len(np.asarray(source)), np.float32) if edge_weight is None else np.asarray(edge_weight, np.float32)
    )
    graph = mention_graph(
        memories,
        concepts,
        mentions.first,
        mentions.second,
        mentions.weight,
        source=np.concatenate([np.asarray(source, np.int64), inside.first]),
        target=np.concatenate([np.asarray(target, np.int64), inside.second]),
        edge_weight=np.concatenate([stated, inside.weight]),
    )
    return graph, index
