"""The strongest path of a walk to a memory, and a path in words."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from hopgate.graph.walk.walk_graph import WalkGraph
from hopgate.store import memories
from hopgate.store.graph import arrays, concept_rows
from hopgate.store.graph.arrays import ARC_KINDS, FOLLOWS, REPLIES
from hopgate.store.rows import Connection

if TYPE_CHECKING:
    from hopgate.graph.walk.matrix import GraphMatrix

# How a step between memories reads, along the arc and against it.
_ARC_WORDS = {FOLLOWS: ("said just before", "said just after"), REPLIES: ("replies to", "answered by")}
# Who mentions more memories than so many, and than one in so many of all, is a hub: as matrix.py discounts it.
FEW, SHARE = 5, 20
# A relation names so many of the memories that are its evidence.
MOST_EVIDENCE = 3


class PathPart(NamedTuple):
    """One part of a path: a concept by its name, a memory by its external id, or the step on to the next in words.

    Between two memories that follow each other a step is a neighbour's; every other step is a relation, and has no id.
    """

    kind: Literal["concept", "memory", "relation", "neighbour"]
    text: str
    id: int | str | None = None


def path_in_words(
    connection: Connection, matrix: GraphMatrix, start: Mapping[int, float], memory_id: int, *, damping: float
) -> tuple[PathPart, ...]:
    """Give the strongest path to a memory as names and relations in turn, the memory last.

    A relation that is walked against its direction has an arrow that points back before it; its evidence follows in
    brackets. Empty where no other seed leads to the memory, or only over a hub or a mere word, which two memories share
    and which says nothing; or where something on the way was deleted since the matrix was read.
    """
    place = int(matrix.memories([memory_id])[0])
    path = strongest_path(matrix.graph, start, place, damping=damping) if place >= 0 else ()
    if len(path) < 2:
        return ()
    split = matrix.graph.memories
    steps = list(pairwise(path))
    rows = {step: matrix.edges_between(step[0] - split, step[1] - split) for step in steps if min(step) >= split}
    evidence = arrays.evidence(connection, [int(matrix.edges.id[row]) for of_step in rows.values() for row in of_step])
    names = concept_rows.names(connection, [int(matrix.concept_ids[node - split]) for node in path if node >= split])
    ids = memories.external_ids(
        connection, {int(matrix.memory_ids[node]) for node in path if node < split}.union(*evidence.values())
    )
    labels: dict[int, PathPart] = {}
    for node in path:
        if node < split and (memory := ids.get(int(matrix.memory_ids[node]))) is not None:
            labels[node] = PathPart("memory", memory, memory)
        elif node >= split and (name := names.get(concept := int(matrix.concept_ids[node - split]))) is not None:
            labels[node] = PathPart("concept", name, concept)
        else:
            return ()
    around = zip(path, path[1:], path[2:], strict=False)
    if any(max(before, after) < split <= node and _is_mere_word(labels[node].text) for before, node, after in around):
        return ()
    parts = [labels[path[0]]]
    for source, target in steps:
        if max(source, target) < split:
            parts.append(PathPart("neighbour", _arc_in_words(matrix, source, target)))
        elif source < split:
            parts.append(PathPart("relation", "mentions"))
        elif target < split:
            parts.append(PathPart("relation", "mentioned in"))
        else:
            relation = _edge_in_words(matrix, rows[source, target], source - split, evidence, ids)
            if not relation:
                return ()
            parts.append(PathPart("relation", relation))
        parts.append(labels[target])
    return tuple(parts)


def _is_mere_word(name: str) -> bool:
    """Whether a name is one word of small letters: "home", "backup"."""
    return name.isalpha() and name.islower()


def _arc_in_words(matrix: GraphMatrix, source: int, target: int) -> str:
    for first, second, words in ((source, target, 0), (target, source, 1)):
        for row in ((matrix.arcs.source == first) & (matrix.arcs.target == second)).nonzero()[0]:
            return _ARC_WORDS[ARC_KINDS[int(matrix.arcs.kind[row])]][words]
    return "beside"


def _edge_in_words(
    matrix: GraphMatrix, rows: Sequence[int], source: int, evidence: Mapping[int, Sequence[int]], ids: Mapping[int, str]
) -> str:
    """The relation with most evidence of the edges from a concept to another; empty where all were deleted."""
    known = [row for row in rows if int(matrix.edges.id[row]) in evidence]
    if not known:
        return ""
    row = max(known, key=lambda row: (len(evidence[int(matrix.edges.id[row])]), matrix.edges.source[row] == source))
    relation = matrix.edges.kinds[int(matrix.edges.kind[row])]
    if matrix.edges.source[row] != source:
        relation = f"← {relation}"
    shown = [ids[memory] for memory in evidence[int(matrix.edges.id[row])] if memory in ids]
    return f"{relation} [{', '.join(shown[:MOST_EVIDENCE])}]" if shown else relation


def strongest_path(
    graph: WalkGraph, start: Mapping[int, float], memory: int, *, damping: float = 0.8
) -> tuple[int, ...]:
    """Find the likeliest path from a seed to a memory, as nodes; empty when no seed leads there.

    A path starts at a concept where one leads to the memory; else at another memory; and where the memory is its own
    only seed, the path is that memory alone. It may start at a hub, and leads over none.
    """
    concepts = {node: weight for node, weight in start.items() if node >= graph.memories}
    others = {node: weight for node, weight in start.items() if node < graph.memories and node != memory}
    itself = {node: weight for node, weight in start.items() if node == memory}
    paths = (_from_seeds(graph, seeds, memory, damping) for seeds in (concepts, others, itself) if seeds)
    return next(filter(None, paths), ())


def _from_seeds(graph: WalkGraph, seeds: Mapping[int, float], memory: int, damping: float) -> tuple[int, ...]:
    """Dijkstra from the memory over what arrives at each node; a step costs minus the log of its probability.

    It stops as soon as no unseen seed can be better, since a seed's mass is at most the heaviest one.
    """
    most = max(FEW, graph.memories // SHARE)
    least = -math.log(max(seeds.values()))
    best = (math.inf, -1)
    after: dict[int, int] = {}
    cost = {memory: 0.0}
    done: set[int] = set()
    heap = [(0.0, memory)]
    while heap:
        so_far, node = heapq.heappop(heap)
        if so_far + least >= best[0]:
            break
        if node in done:
            continue
        done.add(node)
        if node in seeds:
            best = min(best, (so_far - math.log(seeds[node]), node))
        if node >= graph.memories and graph.degree[node] > most:
            ends = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
            if int((ends < graph.memories).sum()) > most:
                continue
        arcs = slice(graph.indptr[node], graph.indptr[node + 1]) if damping > 0 else slice(0)
        for source, weight in zip(graph.indices[arcs].tolist(), graph.weights[arcs].tolist(), strict=True):
            through = so_far - math.log(damping * weight / float(graph.strength[source]))
            if source not in done and through < cost.get(source, math.inf):
                cost[source], after[source] = through, node
                heapq.heappush(heap, (through, source))
    if best[1] < 0:
        return ()
    nodes = [best[1]]
    while nodes[-1] != memory:
        nodes.append(after[nodes[-1]])
    return tuple(nodes)
