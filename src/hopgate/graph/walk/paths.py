"""Explain a memory that a walk found: the strongest path from a seed to it."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hopgate.errors import HopgateError
from hopgate.graph.walk.seeds import Restart, Seed
from hopgate.graph.walk.walk_graph import WalkGraph


@dataclass(frozen=True, slots=True)
class Path:
    """The likeliest way of a walk from a seed to a memory.

    Parameters
    ----------
    nodes : tuple of int
        From the seed to the memory.
    probability : float
        That a walk starts at the seed and goes exactly this way, each step damped.
    seed : Seed
        Why the walk starts there.
    """

    nodes: tuple[int, ...]
    probability: float
    seed: Seed


class PathEdge(NamedTuple):
    """A typed relation between two concepts, as `steps` names it: its own direction, and its evidence."""

    source: int
    relation: str
    target: int
    evidence: tuple[int, ...] = ()


class Step(NamedTuple):
    """One step of a path: an edge along or against its direction, a name inside a name, a mention, or a neighbour."""

    source: int
    relation: str
    target: int
    forward: bool = True
    evidence: tuple[int, ...] = ()


def strongest_path(graph: WalkGraph, start: Restart, memory: int, *, damping: float = 0.8) -> Path | None:
    """Find the likeliest path from a seed concept to a memory.

    A path starts at a concept where one leads to the memory; else at another memory; and where the memory is its own
    only seed, the path is that memory alone. None when no seed leads there.

    Examples
    --------
    >>> from hopgate.graph.walk.seeds import starts
    >>> from hopgate.graph.walk.walk_graph import mention_graph
    >>> graph = mention_graph(2, 2, memory=[0, 1], concept=[0, 1], source=[0], target=[1])
    >>> strongest_path(graph, starts(graph, names=[0]).mixed(), 1).nodes
    (2, 3, 1)
    """
    if not 0 <= memory < graph.memories:
        raise HopgateError(f"memory {memory} is not one of the graph's {graph.memories}")
    heaviest: dict[int, Seed] = {}
    for seed in start.seeds:  # heaviest first
        heaviest.setdefault(seed.node, seed)
    mass = {node: float(start.vector[node]) for node in heaviest if start.vector[node] > 0}
    concepts = {node: weight for node, weight in mass.items() if node >= graph.memories}
    others = {node: weight for node, weight in mass.items() if node < graph.memories and node != memory}
    for seeds in (concepts, others, {node: weight for node, weight in mass.items() if node == memory}):
        found = _backwards(graph, seeds, memory, damping)
        if found:
            nodes, probability = found
            return Path(nodes, probability, heaviest[nodes[0]])
    return None


def steps(
    graph: WalkGraph,
    path: Path,
    edges: Mapping[tuple[int, int], Sequence[PathEdge]],
    neighbours: Mapping[tuple[int, int], str] | None = None,
) -> list[Step]:
    """Name each step of a path.

    Parameters
    ----------
    edges : mapping of (concept, concept) to edges
        The typed edges between concepts that the path joins, under (source, target), numbered from 0; `pairs` says
        which are needed. Where several join the same two, the one with most evidence is shown.
    neighbours : mapping of (memory, memory) to str
        What to call a step from one memory to another.

    Examples
    --------
    >>> from hopgate.graph.walk.seeds import Seed
    >>> from hopgate.graph.walk.walk_graph import mention_graph
    >>> graph = mention_graph(1, 2, memory=[0], concept=[1], source=[0], target=[1])
    >>> path = Path((1, 2, 0), 0.1, Seed(1, 1.0, "name"))
    >>> steps(graph, path, {(1, 0): [PathEdge(1, "owns", 0, (0,))]})
    [Step(source=1, relation='owns', target=2, forward=False, evidence=(0,)),
     Step(source=2, relation='mentioned in', target=0, forward=True, evidence=(0,))]
    """
    named: list[Step] = []
    for source, target in zip(path.nodes, path.nodes[1:], strict=False):
        if max(source, target) < graph.memories:
            named.append(Step(source, (neighbours or {}).get((source, target), "beside"), target))
        elif source < graph.memories:
            named.append(Step(source, "mentions", target, evidence=(source,)))
        elif target < graph.memories:
            named.append(Step(source, "mentioned in", target, evidence=(target,)))
        else:
            named.append(_edge(graph, source, target, edges))
    return named


def pairs(graph: WalkGraph, path: Path) -> list[tuple[int, int]]:
    """Give the pairs of concepts that a path joins, numbered from 0: those whose edges `steps` needs, either way.

    Examples
    --------
    >>> from hopgate.graph.walk.seeds import Seed
    >>> from hopgate.graph.walk.walk_graph import mention_graph
    >>> graph = mention_graph(1, 2, memory=[0], concept=[1], source=[0], target=[1])
    >>> pairs(graph, Path((1, 2, 0), 0.1, Seed(1, 1.0, "name")))
    [(0, 1)]
    """
    first = graph.memories
    joined = zip(path.nodes, path.nodes[1:], strict=False)
    return [(source - first, target - first) for source, target in joined if min(source, target) >= first]


def _edge(graph: WalkGraph, source: int, target: int, edges: Mapping[tuple[int, int], Sequence[PathEdge]]) -> Step:
    one, two = source - graph.memories, target - graph.memories
    along = [(edge, True) for edge in edges.get((one, two), ())]
    against = [(edge, False) for edge in edges.get((two, one), ())]
    if not along and not against:
        return Step(source, "shares a name with", target)
    edge, forward = max([*along, *against], key=lambda found: (len(found[0].evidence), found[1]))
    return Step(source, edge.relation, target, forward, edge.evidence)


def _backwards(
    graph: WalkGraph, seeds: Mapping[int, float], memory: int, damping: float
) -> tuple[tuple[int, ...], float] | None:
    """Dijkstra from the memory over what arrives at each node; a step costs minus the log of its probability.

    It stops as soon as no unseen seed can be better, since a seed's mass is at most the heaviest one.
    """
    if not seeds or (damping <= 0 and memory not in seeds):
        return None
    indptr, indices, weights, strength = graph.indptr, graph.indices, graph.weights, graph.strength
    least = -math.log(max(seeds.values()))
    after: dict[int, int] = {}
    cost: dict[int, float] = {memory: 0.0}
    best: tuple[float, int] | None = None
    done: set[int] = set()
    heap = [(0.0, memory)]
    while heap:
        so_far, node = heapq.heappop(heap)
        if best is not None and so_far + least >= best[0]:
            break
        if node in done:
            continue
        done.add(node)
        if node in seeds:
            whole = so_far - math.log(seeds[node])
            best = min(best, (whole, node)) if best else (whole, node)
        if damping <= 0:
            break
        row = slice(indptr[node], indptr[node + 1])
        for source, weight in zip(indices[row].tolist(), weights[row].tolist(), strict=True):
            through = so_far - math.log(damping * weight / float(strength[source]))
            if source not in done and through < cost.get(source, math.inf):
                cost[source], after[source] = through, node
                heapq.heappush(heap, (through, source))
    if best is None:
        return None
    nodes = [best[1]]
    while nodes[-1] != memory:
        nodes.append(after[nodes[-1]])
    return tuple(nodes), math.exp(-best[0])
