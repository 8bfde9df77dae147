"""The rows that a matrix is made of, by the store's ids: read whole once, and then those that changed."""

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


@dataclass(frozen=True, eq=False)
class RowChanges:
    """What changed of the rows, and how they are now.

    Parameters
    ----------
    position : Position, optional
        What was seen now.
    changed : Changed
        The memories, concepts and edges that were added, changed or removed.
    memories, concepts, edges : Numbered, Numbered, Edges
        Those of them that the view shows.
    mentions : Mentions
        Of the memories that changed.
    arcs : Arcs
        All of them, as they are now.
    around : array of int
        The memories whose arcs may have changed.
    """

    position: Position | None
    changed: Changed
    memories: Numbered
    concepts: Numbered
    mentions: Mentions
    edges: Edges
    arcs: Arcs
    around: NDArray[np.int64]


def read_changes(connection: Connection[Any], arcs: Arcs, changed: Changed, config: MatrixConfig) -> RowChanges:
    """Read what changed.

    Parameters
    ----------
    arcs : Arcs
        As they were: `GraphRows.arcs`, or those of the last changes.
    changed : Changed
        What `hopgate.store.graph.change_rows.since` gives for the position of the rows, in this transaction.
    """
    memories, concepts, edges = changed
    arcs, around = _with_arcs(connection, arcs, memories) if memories else (arcs, np.zeros(0, np.int64))
    return RowChanges(
        change_rows.position(connection),
        changed,
        arrays.memory_scopes(connection, known_at=config.known_at, superseded=config.superseded, only=memories),
        arrays.concept_kinds(connection, only=concepts),
        arrays.mentions(connection, only=memories),
        arrays.edges(connection, as_of=config.as_of, known_at=config.known_at, only=edges).ascending(),
        arcs,
        around,
    )


def _with_arcs(connection: Connection[Any], old: Arcs, changed: Sequence[int]) -> tuple[Arcs, NDArray[np.int64]]:
    """Derive anew the arcs that a change may have changed; give also the memories that they are of.

    A memory that went leaves those whom it was joined to: what follows these is derived anew.
    """
    touched = _among(old, changed, changed)
    near = {*changed, *old.source[touched].tolist(), *old.target[touched].tolist()}
    new, sources = arc_rows.arcs_near(connection, changed, sorted(near))
    follows = old.kind == ARC_KINDS.index(FOLLOWS)
    kept = ~(touched | (follows & _among(old, sources, ())))
    arcs = Arcs(
        np.concatenate([old.source[kept], new.source]),
        np.concatenate([old.target[kept], new.target]),
        np.concatenate([old.weight[kept], new.weight]),
        np.concatenate([old.kind[kept], new.kind]),
    )
    # An answer that also follows counts once: whoever is joined to a source anew may be joined otherwise.
    return arcs, np.unique(np.array([*changed, *sources], np.int64))


def _among(arcs: Arcs, sources: Sequence[int], targets: Sequence[int]) -> NDArray[np.bool_]:
    """Which arcs have one of these as a source, or one of those as a target."""
    from_these = np.isin(arcs.source, np.asarray(sources, np.int64))
    return from_these | np.isin(arcs.target, np.asarray(targets, np.int64)) if len(targets) else from_these
