"""Hits that stand alone start walks by their cosines: nothing beside them says whether a weak one belongs.

In a conversation a weak hit is worth walking from, because the turns around it are often hits too and their walks meet.
A passage that follows nothing only brings itself. The base stretches cosines over what the pool has, so that the least
of a pool that differs much starts as many walks as that of one that hardly differs. Both measured:
docs/research/passages.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log

import numpy as np

from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.seeds import Seeding, memory_mass

Scored = Sequence[tuple[int, float]]


def alone(matrix: GraphMatrix, mass: Mapping[int, float]) -> float:
    """Give the part of some memories' mass, of those that the graph links, that is at memories without neighbours."""
    graph = matrix.graph
    places, masses = matrix.memories(list(mass)), np.fromiter(mass.values(), float, len(mass))
    linked = (places >= 0) & ~graph.dangling[places]
    places, masses = places[linked], masses[linked]
    if not len(places) or not len(matrix.arc_source):
        return float(len(places) > 0)
    # Where the arcs of one memory after the other lie.
    many = graph.degree[places]
    first = np.cumsum(many) - many
    arcs = np.arange(int(many.sum())) + np.repeat(graph.indptr[places] - first, many)
    beside = np.logical_or.reduceat(graph.indices[arcs] < graph.memories, first)
    return float(masses[~beside].sum() / masses.sum())


def by_cosine(
    base: Scored, cosines: Mapping[int, float], part: float, *, dense: float, seeding: Seeding | None = None
) -> Scored:
    """Give the base's scores as they are where all hits have neighbours, and in cosines where none has.

    Then a difference of `Seeding.cosine_temperature` between cosines weighs as one of `Seeding.base_temperature`
    between scores, however much the pool's cosines differ. What words give stays as it is. A hit that has no cosine
    keeps its part of the mass: it could not be seen, which is not the same as being far.

    Parameters
    ----------
    cosines : mapping of int to float
        Those of the hits that have one: all of the pool, since the base stretched them from its least to its most.
    part : float
        How much of the base stands alone, from 0 to 1.
    dense : float
        The weight that the base gives to stretched cosines.

    Examples
    --------
    The second hit's cosine is .1 below the first's, which is two temperatures, and all that the pool has:

    >>> base = [(1, 1.0), (2, 0.3)]
    >>> by_cosine(base, {1: 0.7, 2: 0.6}, 0, dense=0.7)
    [(1, 1.0), (2, 0.3)]
    >>> [(memory, round(score, 2)) for memory, score in by_cosine(base, {1: 0.7, 2: 0.6}, 1, dense=0.7)]
    [(1, 1.0), (2, 0.7)]
    """
    seeding = seeding or Seeding()
    seen = {memory: cosines[memory] for memory, _ in base if memory in cosines}
    span = max(cosines.values()) - min(cosines.values()) if cosines else 0.0
    if not part or not seeding.cosine_temperature or not seen or not span > 0:
        return base
    wide, nearest = seeding.base_temperature, max(seen.values())
    steeper = part * (wide / seeding.cosine_temperature - dense / span)
    moved = {memory: steeper * (cosine - nearest) for memory, cosine in seen.items()}
    unseen = 0.0
    if len(seen) < len(base):
        # What a seen hit of its mass keeps on average; from the highest down, so that no exponential is too large.
        mass, highest = memory_mass(base, seeding=seeding), max(moved.values())
        kept = sum(mass[memory] * exp((by - highest) / wide) for memory, by in moved.items())
        if kept > 0:
            unseen = highest + wide * log(kept / sum(mass[memory] for memory in seen))
    return [(memory, score + moved.get(memory, unseen)) for memory, score in base]
