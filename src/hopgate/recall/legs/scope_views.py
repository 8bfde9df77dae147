"""Scopes' parts of a graph's matrix, and what they may see of a whole one: made once, and kept for a while."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeVar

from hopgate.recall.filters import Filters
from hopgate.store import setting_rows

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.graph.walk.matrix import GraphMatrix
    from hopgate.graph.walk.scope_graph import ScopeSight

T = TypeVar("T")

# Scopes whose part of the matrix is kept: as many people or conversations that are asked in turn.
KEPT_SCOPES = 16


class ScopeViews:
    """What filters by scope leave of matrices; an older version's are let go of."""

    def __init__(self) -> None:
        self._parts: dict[Filters, tuple[GraphMatrix, GraphMatrix]] = {}
        self._sights: dict[Filters, tuple[GraphMatrix, ScopeSight]] = {}
        self._keeping = threading.Lock()

    def part(
        self, connection: Connection[Any], matrix: GraphMatrix, filters: Filters, *, derived: bool = True
    ) -> GraphMatrix:
        """What a scope may walk in the place of a matrix; all of it without a scope, or where scopes are shared.

        Parameters
        ----------
        derived : bool
            Whether the scope's concepts and edges follow from what its own memories say; of a shuffled graph those are
            kept that it has of them.
        """
        if filters.scope is None or setting_rows.scopes(connection) == setting_rows.SHARED:
            return matrix
        from hopgate.graph.walk.scope_view import load_scopes, within
        from hopgate.store.graph import edge_rows

        inside = filters.whole_scope
        whole, part = self._parts.get(inside, (None, None))
        if part is None or whole is not matrix:
            if derived:
                part = load_scopes(connection, filters.scopes or (), matrix.config)
            else:
                ids = _ids(connection, inside)
                part = within(matrix, ids, edge_rows.with_evidence(connection, ids))
            with self._keeping:
                self._parts = _kept(self._parts, inside, matrix, part)
        return part

    def sight(self, connection: Connection[Any], matrix: GraphMatrix, filters: Filters) -> ScopeSight | None:
        """What of a whole graph the scopes asked for may see; none where there is no scope, or the graph is theirs."""
        if filters.scope is None or matrix.own is not None:
            return None
        from hopgate.graph.walk.scope_graph import ScopeSight, scope_graph

        inside = filters.whole_scope
        whole, sight = self._sights.get(inside, (None, None))
        if sight is None or whole is not matrix:
            ids = _ids(connection, inside)
            own = scope_graph(connection, ids, as_of=filters.as_of, known_at=filters.known_at)
            sight = ScopeSight(frozenset(ids), own)
            with self._keeping:
                self._sights = _kept(self._sights, inside, matrix, sight)
        return sight


def _ids(connection: Connection[Any], filters: Filters) -> list[int]:
    condition, parameters = filters.sql()
    return [row[0] for row in connection.execute(f"SELECT id FROM memories WHERE {condition}", parameters)]


def _kept(
    before: dict[Filters, tuple[GraphMatrix, T]], key: Filters, matrix: GraphMatrix, made: T
) -> dict[Filters, tuple[GraphMatrix, T]]:
    """Those of this matrix's version that came last, and a new one."""
    kept = [(old, pair) for old, pair in before.items() if pair[0].stamp == matrix.stamp]
    return dict([*kept[-(KEPT_SCOPES - 1) :], (key, (matrix, made))])
