"""The rows that a matrix is made of, by the store's ids: read whole once, and then patched with what changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hopgate.store.graph import arc_rows, arrays, change_rows
from hopgate.store.graph.arc_rows import ARC_KINDS, FOLLOWS, Arcs
from hopgate.store.graph.arrays import Edges, Mentions, Numbered
from hopgate.store.graph.change_rows import Changed, Position

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.graph.walk.matrix_config import MatrixConfig


@dataclass(frozen=True, eq=False)
class GraphRows:
    """What of the graph a view shows, before anything is weighed.

    Parameters
    ----------
    position : Position, optional
        What was seen when it was read: what came later can be asked for. None where it cannot.
    memories, concepts : Numbered
        Ids with their scopes and kinds.
    mentions : Mentions
        Those of memories that the view does not show among them.
    arcs : Arcs
        Those between memories that the view does not show among them, and pairs that are joined twice.
    """

    position: Position | None
    memories: Numbered
    concepts: Numbered
    mentions: Mentions
    edges: Edges
    arcs: Arcs


def read_rows(connection: Connection[Any], config: MatrixConfig) -> GraphRows:
    """Read everything; the transaction should be a snapshot (`hopgate.store.graph.arrays.snapshot`)."""
    return GraphRows(
        change_rows.position(connection),
        arrays.memory_scopes(connection, known_at=config.known_at, superseded=config.superseded),
        arrays.concept_kinds(connection),
        arrays.mentions(connection),
        arrays.edges(connection, as_of=config.as_of, known_at=config.known_at),
        arc_rows.arcs(connection),
    )


def patched(connection: Connection[Any], rows: GraphRows, changed: Changed, config: MatrixConfig) -> GraphRows:
    """Put what changed in the place of what it was; the same rows come out as `read_rows` would give, in another order.

    Parameters
    ----------
    changed : Changed
        What `hopgate.store.graph.change_rows.since` gives for the position of `rows`, in this transaction.
    """
    memories, concepts, mentions, edges, arcs = rows.memories, rows.concepts, rows.mentions, rows.edges, rows.arcs
    if changed.memories:
        only = changed.memories
        memories = _replaced(
            memories,
            only,
            arrays.memory_scopes(connection, known_at=config.known_at, superseded=config.superseded, only=only),
        )
        mentions = _with_mentions(mentions, only, arrays.mentions(connection, only=only))
        arcs = _with_arcs(connection, arcs, only)
    if changed.concepts:
        concepts = _replaced(concepts, changed.concepts, arrays.concept_kinds(connection, only=changed.concepts))
    if changed.edges:
        only = changed.edges
        edges = _with_edges(
            edges, only, arrays.edges(connection, as_of=config.as_of, known_at=config.known_at, only=only)
        )
    return GraphRows(change_rows.position(connection), memories, concepts, mentions, edges, arcs)


def _others(ids: NDArray[np.int64], changed: Sequence[int]) -> NDArray[np.bool_]:
    """Which ids are not among the changed."""
    return ~np.isin(ids, np.asarray(changed, np.int64))


def _joined(
    old: NDArray[np.int32], known: tuple[str, ...], new: NDArray[np.int32], named: tuple[str, ...]
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Put numbers into `named` after numbers into `known`; give them as numbers into the names that are in use."""
    names = (*known, *(name for name in named if name not in known))
    place = {name: number for number, name in enumerate(names)}
    joined = np.concatenate([old, np.array([place[name] for name in named], np.int32)[new]])
    used = np.flatnonzero(np.bincount(joined, minlength=len(names)))
    if len(used) == len(names):
        return joined, names
    numbers = np.zeros(len(names), np.int32)
    numbers[used] = np.arange(len(used))
    return numbers[joined], tuple(names[number] for number in used)


def _replaced(old: Numbered, changed: Sequence[int], new: Numbered) -> Numbered:
    kept = _others(old.id, changed)
    number, names = _joined(old.number[kept], old.names, new.number, new.names)
    ids = np.concatenate([old.id[kept], new.id])
    order = ids.argsort(kind="stable")
    return Numbered(ids[order], number[order], names)


def _with_mentions(old: Mentions, changed: Sequence[int], new: Mentions) -> Mentions:
    kept = _others(old.memory, changed)
    relation, relations = _joined(old.relation[kept], old.relations, new.relation, new.relations)
    return Mentions(
        np.concatenate([old.memory[kept], new.memory]),
        np.concatenate([old.concept[kept], new.concept]),
        np.concatenate([old.weight[kept], new.weight]),
        relation,
        relations,
    )


def _with_edges(old: Edges, changed: Sequence[int], new: Edges) -> Edges:
    kept = _others(old.id, changed)
    relation, relations = _joined(old.relation[kept], old.relations, new.relation, new.relations)
    return Edges(
        np.concatenate([old.id[kept], new.id]),
        np.concatenate([old.source[kept], new.source]),
        np.concatenate([old.target[kept], new.target]),
        np.concatenate([old.weight[kept], new.weight]),
        relation,
        relations,
    )


def _with_arcs(connection: Connection[Any], old: Arcs, changed: Sequence[int]) -> Arcs:
    """Derive anew the arcs of every thread that a changed memory is in, or was in: its neighbours still are."""
    touched = ~(_others(old.source, changed) & _others(old.target, changed))
    near = sorted({*changed, *old.source[touched].tolist(), *old.target[touched].tolist()})
    new = arc_rows.arcs(connection, near)
    threads = [*near, *arc_rows.in_threads(connection, near)]
    follows = old.kind == ARC_KINDS.index(FOLLOWS)
    gone = np.where(
        follows,
        ~(_others(old.source, threads) & _others(old.target, threads)),
        ~(_others(old.source, near) & _others(old.target, near)),
    )
    return Arcs(
        np.concatenate([old.source[~gone], new.source]),
        np.concatenate([old.target[~gone], new.target]),
        np.concatenate([old.weight[~gone], new.weight]),
        np.concatenate([old.kind[~gone], new.kind]),
    )
