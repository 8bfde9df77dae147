"""A path through the graph in words, part by part."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from hopgate.errors import HopgateError
from hopgate.graph.walk.seeds import Restart, Seed
from hopgate.graph.walk.walk_graph import WalkGraph
from hopgate.store import memories
from hopgate.store.graph import arrays, concept_rows
from hopgate.store.graph.arc_rows import ARC_KINDS, FOLLOWS, REPLIES

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.graph.walk.matrix import GraphMatrix
    from hopgate.graph.walk.seeds import Restart

# How a step between memories reads, along the arc and against it.
_ARC_WORDS = {FOLLOWS: ("said just before", "said just after"), REPLIES: ("replies to", "answered by")}


class PathPart(NamedTuple):
    """One part of a path: a concept or a memory, or what leads on to the next.

    Parameters
    ----------
    kind : {"concept", "memory", "relation", "neighbour"}
        Between two memories that follow each other a step is a neighbour's; every other step is a relation.
    text : str
        The concept's name, the memory's external id, or the step in words.
    id : int or str, optional
        The concept's id or the memory's external id; none for a step.
    """

    kind: Literal["concept", "memory", "relation", "neighbour"]
    text: str
    id: int | str | None = None


def path_in_words(
    connection: Connection[Any],
    matrix: GraphMatrix,
    start: Restart,
    memory_id: int,
    *,
    damping: float,
) -> tuple[PathPart, ...]:
    """Give the strongest path to a memory as names and relations in turn, the memory last.

    A relation that is walked against its direction has an arrow that points back before it; its evidence follows in
    brackets.
    """
    place = int(matrix.memories([memory_id])[0])
    path = strongest_path(matrix.graph, start, place, damping=damping) if place >= 0 else None
    if path is None:
        return ()
    rows = matrix.edges_between(pairs(matrix.graph, path))
    evidence = arrays.evidence(connection, [int(matrix.edge_id[row]) for row in rows])
    joined: dict[tuple[int, int], list[PathEdge]] = defaultdict(list)
    for row in rows:
        source, target, edge_id = (int(ends[row]) for ends in (matrix.edge_source, matrix.edge_target, matrix.edge_id))
        # What was deleted since the matrix was read is not told.
        edges = joined[min(source, target), max(source, target)]
        if edge_id in evidence:
            edges.append(PathEdge(source, matrix.relations[int(matrix.edge_relation[row])], target, evidence[edge_id]))
    if not all(joined.values()):
        return ()
    walked = steps(matrix.graph, path, joined, _neighbours(matrix, path.nodes))
    split = matrix.graph.memories
    concepts = [int(matrix.concept_ids[node - split]) for node in path.nodes if node >= split]
    names = concept_rows.names(connection, concepts)
    known = memories.external_ids(
        connection,
        {int(matrix.memory_ids[node]) for node in path.nodes if node < split}
        | {memory for step in walked if min(step.source, step.target) >= split for memory in step.evidence},
    )

    if any(
        int(matrix.memory_ids[node]) not in known
        if node < split
        else int(matrix.concept_ids[node - split]) not in names
        for node in path.nodes
    ):
        # Something that it led through was deleted since the walk.
        return ()

    def label(node: int) -> PathPart:
        if node < split:
            memory = known[int(matrix.memory_ids[node])]
            return PathPart("memory", memory, memory)
        concept = int(matrix.concept_ids[node - split])
        return PathPart("concept", names[concept], concept)

    parts = [label(path.nodes[0])]
    for step in walked:
        evidence_ids = [
            known[memory] for memory in step.evidence if memory in known and min(step.source, step.target) >= split
        ]
        relation = step.relation if step.forward else f"← {step.relation}"
        words = f"{relation} [{', '.join(evidence_ids[:3])}]" if evidence_ids else relation
        beside = max(step.source, step.target) < split
        parts += [PathPart("neighbour" if beside else "relation", words), label(step.target)]
    return tuple(parts)


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
    >>> from hopgate.graph.walk.walk_graph import Pairs, mention_graph
    >>> graph = mention_graph(2, 2, Pairs([0, 1], [0, 1]), edges=Pairs([0], [1]))
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
    >>> from hopgate.graph.walk.walk_graph import Pairs, mention_graph
    >>> graph = mention_graph(1, 2, Pairs([0], [1]), edges=Pairs([0], [1]))
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
    >>> from hopgate.graph.walk.walk_graph import Pairs, mention_graph
    >>> graph = mention_graph(1, 2, Pairs([0], [1]), edges=Pairs([0], [1]))
    >>> pairs(graph, Path((1, 2, 0), 0.1, Seed(1, 1.0, "name")))
    [(0, 1)]
    """
    first = graph.memories
    joined = zip(path.nodes, path.nodes[1:], strict=False)
    return [(source - first, target - first) for source, target in joined if min(source, target) >= first]


def _neighbours(matrix: GraphMatrix, nodes: tuple[int, ...]) -> dict[tuple[int, int], str]:
    """The words for each step of a path that goes from memory to memory."""
    words: dict[tuple[int, int], str] = {}
    for source, target in pairwise(nodes):
        if max(source, target) >= matrix.graph.memories:
            continue
        for against, (one, other) in enumerate(((source, target), (target, source))):
            for row in ((matrix.arc_source == one) & (matrix.arc_target == other)).nonzero()[0][:1]:
                words[source, target] = _ARC_WORDS[ARC_KINDS[int(matrix.arc_kind[row])]][against]
    return words


def _edge(graph: WalkGraph, source: int, target: int, edges: Mapping[tuple[int, int], Sequence[PathEdge]]) -> Step:
    one, two = source - graph.memories, target - graph.memories
    known = [*edges.get((one, two), ()), *edges.get((two, one), ())]
    if not known:
        return Step(source, "shares a name with", target)
    edge, forward = max(((edge, edge.source == one) for edge in known), key=lambda way: (len(way[0].evidence), way[1]))
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
