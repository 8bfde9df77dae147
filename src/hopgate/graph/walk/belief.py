"""A walk that starts at memories, each with the mass that somebody believes in it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hopgate.graph.walk.seeds import Restart, Seed
from hopgate.graph.walk.walk_graph import WalkGraph


def restart_at(graph: WalkGraph, masses: Mapping[int, float]) -> Restart:
    """Turn memories' masses into a restart vector that sums to 1, or to 0 where there is no mass.

    Parameters
    ----------
    masses : mapping of int to float
        Memories by their number in the graph; what is not positive is left out.

    Examples
    --------
    >>> from hopgate.graph.walk.walk_graph import mention_graph
    >>> graph = mention_graph(2, 1, memory=[0, 1], concept=[0, 0])
    >>> restart_at(graph, {0: 3.0, 1: 1.0}).vector.tolist()
    [0.75, 0.25, 0.0]
    """
    total = sum(mass for mass in masses.values() if mass > 0)
    seeds = [Seed(node, mass / total, "memory") for node, mass in masses.items() if mass > 0]
    vector = np.zeros(graph.nodes)
    for seed in seeds:
        vector[seed.node] = seed.weight
    return Restart(vector, tuple(sorted(seeds, key=lambda seed: (-seed.weight, seed.node))))
