"""Walk from every source at once: the configuration that prints as itself, and the pure walks and ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.graph.walk.pagerank import pagerank
from hopgate.graph.walk.push import near_walks
from hopgate.graph.walk.seeds import Seeding, Shares, Starts
from hopgate.graph.walk.walk_graph import WalkGraph


@dataclass(frozen=True, kw_only=True)
class Walk:
    """Personalised PageRank from the seeds of a query. The defaults were measured on dev: docs/research/walking.md.

    Parameters
    ----------
    damping : float
        How likely the walk goes on at each step. 0.7 to 0.9 are alike; 0.5, which others use, loses the later hops.
    tolerance : float
        Largest L1 error of the solution. 1e-4 is the loosest that kept the first 50 memories of 60 queries on each of
        musique and 2wiki, and their order but for one pair: docs/research/traversal.md.
    degree_correction : float
        Scores are divided by ``strength ** degree_correction``: above 0, memories with few concepts gain.
    depth : int
        How many memories the leg returns.
    seeding : Seeding
        Where the walk starts.

    Examples
    --------
    >>> Walk(depth=20)  # doctest: +ELLIPSIS
    Walk(damping=0.8, tolerance=0.0001, degree_correction=0.0, depth=20, seeding=Seeding(shares='adaptive', ...))
    """

    damping: float = 0.8
    tolerance: float = 1e-4
    degree_correction: float = 0.0
    depth: int = 50
    seeding: Seeding = field(default_factory=Seeding)

    def __post_init__(self) -> None:
        if not 0 <= self.damping < 1:
            raise HopgateError(f"damping must be at least 0 and below 1, not {self.damping}")
        if not self.tolerance > 0:
            raise HopgateError(f"tolerance must be above 0, not {self.tolerance}")
        if self.depth < 1:
            raise HopgateError(f"a leg is at least 1 deep, not {self.depth}")


def source_walks(
    graph: WalkGraph, start: Starts, walk: Walk | None = None, *, near: bool = False
) -> NDArray[np.float64]:
    """Walk from each source that found something, side by side; give the share of walks at every memory.

    Parameters
    ----------
    near : bool
        Whether only the first `walk.depth` memories of each walk must be right: a large graph is then walked near the
        seeds alone, where that is compiled.

    Returns
    -------
    array of shape (memories, 3)
        A column a source. It sums to 1, or to 0 where its walk starts nowhere; that of memories sums to less where a
        part of the base's mass is outside the graph.

    Examples
    --------
    Memory 1 does not mention the concept that the query names, and is reached over the edge between the concepts:

    >>> from hopgate.graph.walk.seeds import starts
    >>> from hopgate.graph.walk.walk_graph import mention_graph
    >>> graph = mention_graph(3, 3, memory=[0, 1, 2], concept=[0, 1, 2], source=[0], target=[1])
    >>> source_walks(graph, starts(graph, names=[0])).round(2).tolist()
    [[0.0, 0.63, 0.0], [0.0, 0.37, 0.0], [0.0, 0.0, 0.0]]
    """
    return batched_walks(graph, [start], walk, near=near)[0]


def batched_walks(
    graph: WalkGraph, queries: Sequence[Starts], walk: Walk | None = None, *, near: bool = False
) -> list[NDArray[np.float64]]:
    """Walk for many queries at once: what `source_walks` gives, one array a query, for one reading of the matrix."""
    walk = walk or Walk()
    columns = np.concatenate([start.columns for start in queries], axis=1)
    # A column after the other in memory: what follows looks at one walk at a time.
    walks = np.zeros((graph.memories, columns.shape[1]), order="F")
    mass = columns.sum(axis=0)
    used = np.flatnonzero(mass > 0)
    if used.size:
        restarts, scores = columns[:, used] / mass[used], None
        if near and not walk.degree_correction:
            scores = near_walks(graph, restarts, damping=walk.damping, top=walk.depth)
        if scores is None:
            scores = pagerank(graph, restarts, damping=walk.damping, tolerance=walk.tolerance)
        found = np.asarray(scores[: graph.memories], np.float64)
        if walk.degree_correction:
            found *= graph.divisor[: graph.memories, None] ** -walk.degree_correction
        walks[:, used] = shares_of_memories(found, mass[used])
    return np.split(walks, len(queries), axis=1)


def shares_of_memories(found: NDArray[np.float64], mass: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give each memory's share of what is at memories.

    Mass outside the graph stays where it is: of the walk from memories the rest is what the graph gets.
    """
    whole = found.sum(axis=0)
    part = np.minimum(mass, 1.0)
    whole = np.where(whole > 0, whole * part + (1 - part), 1.0)
    return found * part / whole


def mixed_walks(walks: NDArray[np.float64], shares: Shares) -> NDArray[np.float64]:
    """Mix the walks: one score a memory. Those that start nowhere leave their shares to the others.

    Examples
    --------
    >>> mixed_walks(np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 0.0]]), (0.4, 0.4, 0.2)).tolist()
    [0.75, 0.25]
    """
    used = np.where(walks.any(axis=0), np.asarray(shares, float), 0.0)
    mixed = np.zeros(len(walks))
    for column, share in enumerate(used / (used.sum() or 1.0)):
        # Added up here: as a product of matrices so narrow a one takes ten times as long.
        if share:
            mixed += share * walks[:, column]
    return mixed


def pool_scores(scores: NDArray[Any], linked: Mapping[int, int], mass: Mapping[int, float]) -> dict[int, float]:
    """Score every memory that walks started from; one that the graph does not have gets what its mass is worth.

    A memory that is sensitive, new or without links was not seen by the walk, which is not the same as being far: it
    gets its mass times what a linked memory of the pool has for its own on average (its mass itself where none is
    linked). Measured on half-built stores: docs/research/neighbours.md.

    Parameters
    ----------
    scores : array
        One number a memory of the graph.
    linked : mapping of id to int
        The places in `scores` of those memories that the graph has and links.
    mass : mapping of id to float
        The pool: where walks from memories start, and with how much.

    Examples
    --------
    >>> pool_scores(np.array([0.25, 0.125]), {7: 0, 8: 1}, {7: 0.5, 8: 0.25, 9: 0.25})
    {7: 0.25, 8: 0.125, 9: 0.125}
    """
    inside = [memory for memory in mass if memory in linked]
    started = sum(mass[memory] for memory in inside)
    worth = sum(float(scores[linked[memory]]) for memory in inside) / started if started > 0 else 1.0
    return {
        memory: float(scores[linked[memory]]) if memory in linked else worth * of_memory
        for memory, of_memory in mass.items()
    }
