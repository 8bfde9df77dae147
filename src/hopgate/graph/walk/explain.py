"""A path through the graph in words, part by part."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from hopgate.graph.walk.paths import PathEdge, pairs, steps, strongest_path
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
        source, target = int(matrix.edge_source[row]), int(matrix.edge_target[row])
        relation = matrix.relations[int(matrix.edge_relation[row])]
        joined[source, target].append(PathEdge(source, relation, target, evidence.get(int(matrix.edge_id[row]), ())))
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
