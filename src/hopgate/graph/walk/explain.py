"""A path through the graph in words, part by part."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from hopgate.graph.walk.paths import PathEdge, Step, pairs, steps, strongest_path
from hopgate.store import memories
from hopgate.store.graph import arrays, concept_rows
from hopgate.store.graph.arc_rows import ARC_KINDS, FOLLOWS, REPLIES
from hopgate.store.graph.edge_rows import NAME_INSIDE

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.graph.walk.matrix import GraphMatrix
    from hopgate.graph.walk.scope_graph import ScopeSight
    from hopgate.graph.walk.seeds import Restart

# What a scope may not see of a walk.
HIDDEN = "…"
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
        The concept's id or the memory's external id; none for a step, and for what a scope may not see.
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
    sight: ScopeSight | None = None,
) -> tuple[PathPart, ...]:
    """Give the strongest path to a memory as names and relations in turn, the memory last.

    A relation that is walked against its direction has an arrow that points back before it; its evidence follows in
    brackets. What lies outside the `sight` is shown as "…".
    """
    place = int(matrix.memories([memory_id])[0])
    path = strongest_path(matrix.graph, start, place, damping=damping) if place >= 0 else None
    if path is None:
        return ()
    rows = matrix.edges_between(pairs(matrix.graph, path))
    evidence = _evidence(connection, matrix, [int(matrix.edge_id[row]) for row in rows])
    joined: dict[tuple[int, int], list[PathEdge]] = defaultdict(list)
    for row in rows:
        source, target = int(matrix.edge_source[row]), int(matrix.edge_target[row])
        relation = matrix.relations[int(matrix.edge_relation[row])]
        joined[source, target].append(PathEdge(source, relation, target, evidence.get(int(matrix.edge_id[row]), ())))
    walked = steps(matrix.graph, path, joined, _neighbours(matrix, path.nodes))
    split = matrix.graph.memories
    names = _names(connection, matrix, [int(matrix.concept_ids[node - split]) for node in path.nodes if node >= split])
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
            memory = int(matrix.memory_ids[node])
            seen = sight is None or memory in sight.memory_ids
            return PathPart("memory", known[memory], known[memory]) if seen else PathPart("memory", HIDDEN)
        concept = int(matrix.concept_ids[node - split])
        if sight is None:
            return PathPart("concept", names[concept], concept)
        own = sight.own.aliases.get(concept)
        return PathPart("concept", own[0], concept) if own else PathPart("concept", HIDDEN)

    parts = [label(path.nodes[0])]
    for step in walked:
        evidence_ids = [
            known[memory]
            for memory in step.evidence
            if memory in known
            and min(step.source, step.target) >= split
            and (sight is None or memory in sight.memory_ids)
        ]
        named = step.relation
        if sight is not None:
            ends = (label(step.source).text, label(step.target).text)
            named, evidence_ids = _seen(step, split, evidence_ids, sight, hidden=HIDDEN in ends)
        relation = named if step.forward else f"← {named}"
        words = f"{relation} [{', '.join(evidence_ids[:3])}]" if evidence_ids else relation
        beside = max(step.source, step.target) < split
        parts += [PathPart("neighbour" if beside else "relation", words), label(step.target)]
    return tuple(parts)


def _seen(step: Step, split: int, evidence: list[str], sight: ScopeSight, *, hidden: bool) -> tuple[str, list[str]]:
    """What a scope may see of a step: how it words the relation itself, and its own evidence."""
    if hidden:
        return HIDDEN, []
    if min(step.source, step.target) < split or step.relation == NAME_INSIDE:
        return step.relation, evidence
    return sight.own.wordings.get(step.relation, HIDDEN) if evidence else HIDDEN, evidence


def _evidence(connection: Connection[Any], matrix: GraphMatrix, edge_ids: list[int]) -> dict[int, tuple[int, ...]]:
    """The memories that edges rest on; in a scope's part those of the scope alone."""
    if matrix.own is None:
        return arrays.evidence(connection, edge_ids)
    return {key: matrix.own.evidence(key) for key in edge_ids}


def _names(connection: Connection[Any], matrix: GraphMatrix, concept_ids: list[int]) -> dict[int, str]:
    """What concepts are called; in a scope's part by the scope's own memories."""
    if matrix.own is None:
        return concept_rows.names(connection, concept_ids)
    return {key: matrix.own.aliases[key][0] for key in concept_ids}


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
