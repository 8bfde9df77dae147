"""What is known of a query before its answer: the numbers that decide how much each walk counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.seeds import mentioned_in
from hopgate.graph.walk.top_k import top_k
from hopgate.graph.walk.walk_graph import WalkGraph

Scored = Sequence[tuple[int, float]]
# How far down lists are compared.
TOP = 10


def walk_features(
    graph: WalkGraph, walks: NDArray[np.float64], *, names: Sequence[int], base: Sequence[int], facts: Sequence[float]
) -> dict[str, float]:
    """Describe the walks and where they start.

    Parameters
    ----------
    walks : array of shape (memories, 3)
        As `source_walks` gives them.
    names : sequence of int
        The concepts that the query names.
    base : sequence of int
        The base's first memories, numbered as in the graph; -1 for those that it does not have.
    facts : sequence of float
        The cosines of the nearest facts, best first.
    """
    memories = max(2, graph.memories)
    rare = [log(memories / max(1, mentioned_in(graph, concept))) / log(memories) for concept in names]
    first = [set(top_k(walks[:, column], TOP).tolist()) for column in range(3)]
    entropy = [_entropy(walks[:, column]) for column in range(3)]
    return {
        "names": log(1 + len(names)),
        "name_rarity": min(1.0, max(0.0, *rare, 0.0)),
        "fact_margin": facts[0] - facts[min(4, len(facts) - 1)] if facts else 0.0,
        "fact_spread": facts[0] - facts[min(19, len(facts) - 1)] if facts else 0.0,
        "name_memory_overlap": len(first[1] & first[0]) / TOP,
        "fact_memory_overlap": len(first[2] & first[0]) / TOP,
        "name_fact_overlap": len(first[1] & first[2]) / TOP,
        "memory_base_overlap": len(first[0] & set(base[:TOP])) / TOP,
        "memory_entropy": entropy[0],
        "name_entropy": entropy[1],
        "fact_entropy": entropy[2],
    }


def leg_features(legs: Mapping[str, Scored], base: Scored, facts: Sequence[float]) -> dict[str, float]:
    """Describe the base legs' lists; a leg that did not run says nothing.

    Examples
    --------
    >>> leg_features({"dense": [(1, 0.8), (2, 0.7)]}, [(1, 1.0)], [0.75])["fact_minus_memory"].__round__(2)
    -0.05
    """
    found = {"base_spread": _drop(base, TOP)}
    dense, lexical = legs.get("dense"), legs.get("lexical")
    if dense:
        near = dense[0][1]
        found |= {
            "nearest_memory": near,
            "dense_margin": _drop(dense, 2),
            "dense_spread": _drop(dense, TOP),
            "nearest_fact": facts[0] if facts else 0.6,
            "fact_minus_memory": facts[0] - near if facts else -0.1,
        }
    if lexical is not None:
        best = max(lexical[0][1] if lexical else 0.0, 1e-9)
        # A memory without any of the words scores 0.
        found |= {
            "lexical_margin": _drop(lexical, 2, least=0.0) / best,
            "lexical_spread": _drop(lexical, TOP, least=0.0) / best,
        }
    if dense and lexical is not None:
        found["lexical_dense_overlap"] = len({m for m, _ in dense[:TOP]} & {m for m, _ in lexical[:TOP]}) / TOP
    return found


def _drop(scored: Scored, place: int, *, least: float | None = None) -> float:
    """By how much the score at a place, counted from 1, lies below the first; below `least` where the list ends."""
    if not scored:
        return 0.0
    last = scored[place - 1][1] if len(scored) >= place else scored[-1][1] if least is None else least
    return scored[0][1] - last


def _entropy(walk: NDArray[np.float64]) -> float:
    mass = walk[walk > 0]
    mass = mass / mass.sum() if mass.size else mass
    return float(-(mass * np.log(mass)).sum())
