"""Matrices of the scopes that queries may see: each read from its own rows, and kept until one of these changes."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.matrix_config import MatrixConfig
from hopgate.graph.walk.scope_graph import ScopeGraph, scope_graph
from hopgate.graph.walk.scope_view import own_matrix
from hopgate.store.graph import arc_rows, arrays, change_rows, merge_rows, scope_rows
from hopgate.store.graph.arrays import Stamp
from hopgate.store.graph.change_rows import Changed, Position

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.store.store import Store

LOG = logging.getLogger("hopgate.graph")

# Scopes whose matrix is kept: as many people or conversations that are asked in turn.
KEPT_SCOPES = 16
# Where more memories, concepts and edges than this changed, what is kept is read again without a look at them.
MOST_CHANGED = 1000

Key = tuple[tuple[str, ...], MatrixConfig]


@dataclass(frozen=True, eq=False)
class KeptMatrix:
    """A matrix, what it is made of, its memories, and up to where it is known that nothing of it has changed."""

    matrix: GraphMatrix
    own: ScopeGraph
    memory_ids: frozenset[int]
    stamp: Stamp
    position: Position | None


class ScopeMatrices:
    """The matrix of some scopes as they are now; what changes in others does not make it be read again.

    The graph's version says that something changed, and the record of changes (migration 0009) what. A process that
    cannot read the record, on a replica, reads a scope's rows again at each version; and so does one that is too far
    behind, or after a change of very many rows.

    Parameters
    ----------
    store : Store
        Whose graph.

    Attributes
    ----------
    loads : int
        How often rows were read.
    """

    def __init__(self, store: Store) -> None:
        self.loads = 0
        self._store = store
        self._kept: OrderedDict[Key, KeptMatrix] = OrderedDict()
        self._touching = threading.Lock()
        self._loading = threading.Lock()

    def get(self, connection: Connection[Any], scopes: Sequence[str], config: MatrixConfig) -> GraphMatrix:
        """Give the matrix of these scopes at the graph's present version.

        Parameters
        ----------
        connection : psycopg.Connection
            Where to look up the version and what changed.
        """
        key = (tuple(sorted(scopes)), config)
        if found := self._current(connection, key):
            return found.matrix
        with self._loading, arrays.snapshot(self._store) as snapshot:
            # While this thread waited, another may have read it.
            if found := self._current(snapshot, key):
                return found.matrix
            self.loads += 1
            LOG.debug("the graph of %d scopes is read: the %d. time that one is", len(scopes), self.loads)
            made = read_scopes(snapshot, key[0], config)
            self._keep(key, made)
            return made.matrix

    def _current(self, connection: Connection[Any], key: Key) -> KeptMatrix | None:
        with self._touching:
            kept = self._kept.get(key)
            if kept is None:
                return None
            self._kept.move_to_end(key)
        stamp = arrays.stamp(connection)
        if stamp == kept.stamp:
            return kept
        if kept.position is None or kept.stamp.database != stamp.database or kept.stamp.version == 0:
            return None
        # The position before the look: what is committed between the two is looked at again the next time.
        position = change_rows.position(connection)
        changed = change_rows.since(connection, kept.position, limit=MOST_CHANGED)
        if changed is None or _touched(connection, kept, key[0], changed):
            return None
        kept = replace(kept, stamp=stamp, position=position)
        self._keep(key, kept)
        return kept

    def _keep(self, key: Key, made: KeptMatrix) -> None:
        with self._touching:
            self._kept[key] = made
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT_SCOPES:
                self._kept.popitem(last=False)


def _touched(connection: Connection[Any], kept: KeptMatrix, scopes: Sequence[str], changed: Changed) -> bool:
    """Whether something that changed is, was or has become these scopes'."""
    vectors = kept.own.embedded.values()
    if not kept.memory_ids.isdisjoint(changed.memories) or not {*changed.edges}.isdisjoint(vectors):
        return True
    # What somebody decides about a name changes its concept; what another scope says of it changes nothing here.
    if changed.concepts:
        decided = merge_rows.rulings_on(connection, list(kept.own.store_concepts))
        if tuple(decided) != kept.own.rulings:
            return True
    return scope_rows.any_in(connection, scopes, changed.memories, changed.edges)


def read_scopes(connection: Connection[Any], scopes: Sequence[str], config: MatrixConfig) -> KeptMatrix:
    """Read what the memories of some scopes say, and nothing of others; the transaction should be a snapshot."""
    ids = scope_rows.memories_of_scopes(connection, scopes, config.known_at, superseded=config.superseded)
    own = scope_graph(connection, ids, as_of=config.as_of, known_at=config.known_at)
    memories = arrays.memory_scopes(connection, known_at=config.known_at, superseded=config.superseded, only=ids)
    position, stamp = change_rows.position(connection), arrays.stamp(connection)
    matrix = own_matrix(own, memories, arc_rows.arcs(connection, scopes), stamp, config)
    return KeptMatrix(matrix, own, frozenset(ids), stamp, position)
