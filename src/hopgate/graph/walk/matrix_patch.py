"""A matrix as it is after a change: what changed is spliced in, at the cost of copying what did not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.arc_splice import Csr, Nodes
from hopgate.graph.walk.changed_edges import changed_edges
from hopgate.graph.walk.changed_pairs import Ends, Pairs, joined, mentions_of
from hopgate.graph.walk.changed_threads import changed_arcs, changed_mentions
from hopgate.graph.walk.graph_rows import GraphRows, RowChanges
from hopgate.graph.walk.hub_changes import Counts, ScopeCount, faded_again, mentioning
from hopgate.graph.walk.matrix import GraphMatrix, matrix_of
from hopgate.graph.walk.matrix_config import MatrixConfig
from hopgate.graph.walk.node_numbers import NodeNumbers
from hopgate.graph.walk.walk_graph import WalkGraph
from hopgate.store.graph.arc_rows import Arcs
from hopgate.store.graph.arrays import Stamp
from hopgate.store.graph.change_rows import Position

# Scopes whose mentions stay counted: those that were written to last.
KEPT_COUNTS = 8


@dataclass(frozen=True, eq=False)
class Patchable:
    """A matrix with what it takes to follow the next change.

    Parameters
    ----------
    position : Position, optional
        What was seen when it was read: what came later can be asked for. None where it cannot.
    plain : array of float32
        The weights of its arcs before hubs fade.
    scopes : tuple of str
        The scopes that memories' numbers are of.
    arcs : Arcs
        The arcs between memories by ids, those that the view does not show among them.
    counts : mapping of int to array
        For some scopes, by number, how many memories mention each concept.
    """

    matrix: GraphMatrix
    position: Position | None
    plain: NDArray[np.float32]
    scopes: tuple[str, ...]
    arcs: Arcs
    counts: Mapping[int, Counts]


def patchable(rows: GraphRows, stamp: Stamp, config: MatrixConfig) -> Patchable:
    """Make the matrix of some rows, ready to follow changes."""
    matrix, plain = matrix_of(rows, stamp, config)
    return Patchable(matrix, rows.position, plain, rows.memories.names, rows.arcs, {})


def follows(config: MatrixConfig) -> bool:
    """Whether a matrix of this configuration can follow changes; others are made anew."""
    return config.mentions and config.edges and config.neighbours and not config.kinds


def patched(base: Patchable, changes: RowChanges, stamp: Stamp) -> Patchable | None:
    """Give the matrix that a fresh load would give, but for rounding and the order of what has none.

    None where what changed does not agree with what was there: then all must be read again.
    """
    matrix = base.matrix
    memories = NodeNumbers.of(matrix.memory_ids, changes.changed.memories, changes.memories.id)
    concepts = NodeNumbers.of(matrix.concept_ids, changes.changed.concepts, changes.concepts.id)
    edges = changed_edges(matrix, changes, concepts)
    said = changed_mentions(matrix, changes, memories, concepts)
    if edges is None or said is None:
        return None
    arcs = changed_arcs(matrix, changes, memories)

    # All nodes from before and after at once: then the pairs that are joined otherwise, then without those that went.
    split, nodes = len(memories.union), len(memories.union) + len(concepts.union)
    old = matrix.graph
    csr = Csr(old.indptr, old.indices, base.plain, old.weights)
    if memories.appended and concepts.appended:
        csr = csr.widened(old.memories, memories.new, concepts.new)
    else:
        csr = csr.renumbered(np.concatenate([memories.old, split + concepts.old]), nodes)
    changed = memories.places(changes.changed.memories)
    gone = mentions_of(csr, changed[changed >= 0], split)
    mentions = joined(nodes, gone, said.ends)
    every = (mentions, edges.pairs(csr, split), joined(nodes, arcs.gone, arcs.now))
    pairs = Pairs.of(every)
    csr = csr.spliced(*pairs)
    left = np.flatnonzero(~np.concatenate([memories.kept, concepts.kept]))
    if (csr.indptr[left + 1] != csr.indptr[left]).any():
        return None

    scopes, scope = _scopes(base, changes, memories)
    counts = _counts(base, memories, concepts, (gone, said.ends), scope)
    csr, touched = _faded(csr, mentions, scope, counts)
    touched[pairs.first] = touched[pairs.second] = True
    known = np.concatenate(
        [memories.carried(old.strength[: old.memories], 0.0), concepts.carried(old.strength[old.memories :], 0.0)]
    )
    strength = csr.sums(touched, known, split)
    if len(left):
        to_concepts = np.where(concepts.kept, int(memories.kept.sum()) + concepts.now, -1)
        csr = csr.renumbered(np.concatenate([memories.now, to_concepts]), nodes - len(left))
        strength = np.delete(strength, left)
    graph = WalkGraph(csr.indptr, csr.indices, csr.weights, int(memories.kept.sum()))
    return Patchable(
        replace(
            matrix,
            stamp=stamp,
            graph=graph.with_strength(strength),
            memory_ids=memories.union[memories.kept],
            concept_ids=concepts.union[concepts.kept],
            memory_scope=scope[memories.kept],
            **_numbered({**arcs.fields, **said.fields, **edges.fields}, memories, concepts),
        ),
        changes.position,
        csr.plain,
        scopes,
        changes.arcs,
        _kept_counts(base, counts, concepts),
    )


def _scopes(base: Patchable, changes: RowChanges, memories: NodeNumbers) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """The scopes, and the number of every memory's; -1 for those that went."""
    now = changes.memories
    scopes = (*base.scopes, *(name for name in now.names if name not in base.scopes))
    scope = memories.carried(base.matrix.memory_scope, -1)
    scope[~memories.kept] = -1
    scope[memories.places(now.id)] = np.array([scopes.index(name) for name in now.names], np.int32)[now.number]
    return scopes, scope


def _counts(
    base: Patchable,
    memories: NodeNumbers,
    concepts: NodeNumbers,
    said: tuple[Ends, Ends],
    scope: NDArray[np.int32],
) -> dict[int, tuple[ScopeCount, ScopeCount]]:
    """Count memories and mentions of every scope that a changed memory is or was in, before and now."""
    matrix, split = base.matrix, len(memories.union)
    before = memories.carried(matrix.memory_scope, -1)
    counted = {}
    touched = np.concatenate(
        [before[said[0].first], scope[said[1].first], scope[scope != before], before[scope != before]]
    )
    for number in np.unique(touched[touched >= 0]).tolist():
        mentioned = base.counts.get(number)
        if mentioned is None:
            csr = Csr(matrix.graph.indptr, matrix.graph.indices, base.plain, matrix.graph.weights)
            mentioned = mentioning(csr, matrix.memory_scope, number, len(matrix.concept_ids))
        was = concepts.carried(mentioned, 0)
        now = was.copy()
        for ends, of, by in ((said[0], before, -1), (said[1], scope, 1)):
            np.add.at(now, ends.second[of[ends.first] == number] - split, by)
        counted[number] = (
            ScopeCount(int(np.count_nonzero(before == number)), was),
            ScopeCount(int(np.count_nonzero(scope == number)), now),
        )
    return counted


def _faded(
    csr: Csr, mentions: Pairs, scope: NDArray[np.int32], counts: Mapping[int, tuple[ScopeCount, ScopeCount]]
) -> tuple[Csr, NDArray[np.bool_]]:
    """Fade the mentions of changed memories, and those of hubs in their scopes; give the nodes whose arcs changed."""
    if not counts:
        return csr, np.zeros(len(csr.indptr) - 1, bool)
    csr = replace(csr, weights=csr.weights.copy())
    split = len(scope)
    held = mentions.weight > 0
    memory, node, weight = mentions.first[held], mentions.second[held], mentions.weight[held].copy()
    for number, (_, now) in counts.items():
        own = scope[memory] == number
        weight[own] *= now.factors(node[own] - split)
    for source, target in ((memory, node), (node, memory)):
        csr.weights[csr.located(source, target)[0]] = weight
    return csr, faded_again(csr, scope, counts)


def _kept_counts(
    base: Patchable, counts: Mapping[int, tuple[ScopeCount, ScopeCount]], concepts: NodeNumbers
) -> dict[int, Counts]:
    """The counts of scopes that were written to last, of the concepts that are there now."""
    others = {key: concepts.carried(count, 0) for key, count in base.counts.items() if key not in counts}
    every = {**others, **{number: now.mentioning for number, (_, now) in counts.items()}}
    return {number: every[number][concepts.kept] for number in list(every)[-KEPT_COUNTS:]}


def _numbered(fields: dict[str, Any], memories: NodeNumbers, concepts: NodeNumbers) -> dict[str, Any]:
    """Number the ends in a matrix's fields as they are now."""
    of_concepts = ("title_concept", "edge_source", "edge_target")
    of_memories = ("title_memory", "arc_source", "arc_target")
    for names, numbers in ((of_memories, memories), (of_concepts, concepts)):
        now = None if numbers.kept.all() else numbers.now
        for name in names:
            ends: Nodes = fields[name]
            fields[name] = (ends if now is None else now[ends]).astype(np.int32)
    return fields
