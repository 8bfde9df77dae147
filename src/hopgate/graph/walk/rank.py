"""Rank memories by a walk: the configuration that prints as itself, and the pure ranking."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.graph.walk.pagerank import pagerank
from hopgate.graph.walk.seeds import Restart, Seeding
from hopgate.graph.walk.top_k import top_k
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
    >>> Walk(depth=20)  # doctest: +NORMALIZE_WHITESPACE
    Walk(damping=0.8, tolerance=0.0001, degree_correction=0.0, depth=20,
         seeding=Seeding(names=0.3, facts=0.4, memories=0.3, temperature=0.03, specificity=0.75,
                         near_facts=20, near_memories=50))
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


def rank_memories(
    graph: WalkGraph, start: Restart, walk: Walk | None = None, *, allowed: NDArray[np.bool_] | None = None
) -> list[tuple[int, float]]:
    """Rank the memories that a walk visits, best first; ties by number. Empty when nothing seeds.

    Parameters
    ----------
    start : Restart
        Where walks start; base hits among the seeds are ranked like any other memory.
    allowed : array of bool, optional
        One entry a memory: those outside the scope or already in context are False. They are walked through and not
        returned, and the depth counts what is returned.

    Examples
    --------
    Memory 1 is not found by the name in the query, and is reached over the edge between the concepts:

    >>> from hopgate.graph.walk.seeds import restart
    >>> from hopgate.graph.walk.walk_graph import mention_graph
    >>> graph = mention_graph(3, 3, memory=[0, 1, 2], concept=[0, 1, 2], source=[0], target=[1])
    >>> [memory for memory, _ in rank_memories(graph, restart(graph, names=[0]))]
    [0, 1]
    """
    walk = walk or Walk()
    if not start:
        return []
    scores = pagerank(
        graph,
        start.vector,
        damping=walk.damping,
        tolerance=walk.tolerance,
        degree_correction=walk.degree_correction,
        # What a filter leaves may lie far below the first `depth` of all memories: then every score must be right.
        top=walk.depth if allowed is None else None,
    )
    best = top_k(scores[: graph.memories], walk.depth, allowed=allowed)
    return [(int(memory), float(scores[memory])) for memory in best]
