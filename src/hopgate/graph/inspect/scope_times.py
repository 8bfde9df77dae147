"""Some scopes' own graph along its two times: what `time_changes` gives, as if there were no other scope."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hopgate.graph.inspect.edges import Edge
from hopgate.graph.inspect.scope_listing import edge_value, named_in
from hopgate.graph.inspect.time_changes import Conflict, EdgeChanges, TimeSpan, period
from hopgate.graph.walk.scope_graph import OwnEdge, ScopeGraph, scope_graph
from hopgate.store import memories
from hopgate.store.graph import scope_rows
from hopgate.store.graph.edge_rows import NAME_INSIDE

if TYPE_CHECKING:
    from psycopg import Connection

FIRST, LAST = (moment.replace(tzinfo=UTC) for moment in (datetime.min, datetime.max))


class ScopeTimes:
    """Every version of the edges that some scopes' memories support, read once.

    Parameters
    ----------
    connection : Connection
        The store.
    scopes : sequence of str
        The scopes.
    """

    def __init__(self, connection: Connection[Any], scopes: Sequence[str]) -> None:
        ids = scope_rows.memories_of_scopes(connection, scopes, None)
        self._own: ScopeGraph = scope_graph(connection, ids, versions=True)
        self._edges = [edge for edge in self._own.edges if edge.row.relation != NAME_INSIDE]
        self._known = memories.external_ids(connection, ids)

    def span(self) -> TimeSpan:
        """How far the two times reach."""
        rows = [edge.row for edge in self._edges]
        valid = [moment for row in rows for moment in (row.valid_from, row.valid_to) if moment]
        known = [moment for row in rows for moment in (row.recorded_at, row.retired_at) if moment]
        begun = [row.recorded_at for row in rows]
        return TimeSpan(
            min(valid, default=None), max(valid, default=None), min(begun, default=None), max(known, default=None)
        )

    def history(self, name: str, *, limit: int) -> list[Edge]:
        """Every version of a concept's edges, in the order of valid time."""
        concept = named_in(self._own, name)
        found = [edge for edge in self._edges if concept in (edge.row.src_id, edge.row.dst_id)]
        found.sort(key=lambda edge: (edge.relation, edge.row.valid_from or FIRST, edge.row.recorded_at))
        return [self._value(edge) for edge in found[:limit]]

    def changes(self, since: datetime, until: datetime, *, axis: str, limit: int) -> EdgeChanges:
        """What began and what ended after `since` and up to `until`, in valid time or in known time."""
        first, last = period(since, until, axis)

        def within(ends: int) -> tuple[Edge, ...]:
            found = []
            for edge in self._edges:
                row = edge.row
                valid = axis == "valid"
                moment = ((row.valid_from, row.valid_to) if valid else (row.recorded_at, row.retired_at))[ends]
                if moment is not None and first < moment <= last and not (valid and row.retired_at):
                    found.append((moment, edge))
            found.sort(key=lambda pair: pair[0])
            return tuple(self._value(edge) for _, edge in found[:limit])

        return EdgeChanges(within(0), within(1))

    def conflicts(self, name: str | None, *, limit: int) -> list[Conflict]:
        """Edges that contradict each other, settled or not, all or one concept's; the latest first."""
        concept = None if name is None else named_in(self._own, name)
        groups: dict[tuple[int, str], list[OwnEdge]] = defaultdict(list)
        for edge in self._edges:
            if edge.single_valued and edge.row.retired_at is None:
                groups[edge.row.src_id, edge.row.relation].append(edge)
        found: list[tuple[datetime, Conflict]] = []
        for group in groups.values():
            ordered = sorted(group, key=lambda edge: edge.row.valid_from or FIRST)
            for at, older in enumerate(ordered):
                for newer in ordered[at + 1 :]:
                    begins = newer.row.valid_from or FIRST
                    settled = newer.row.valid_from is not None and newer.row.valid_from == older.row.valid_to
                    overlaps = begins < (older.row.valid_to or LAST)
                    ends = (older.row.src_id, older.row.dst_id, newer.row.dst_id)
                    if (concept is None or concept in ends) and ends[1] != ends[2] and (settled or overlaps):
                        found.append((begins, Conflict(self._value(older), self._value(newer), settled)))
        found.sort(key=lambda pair: pair[0], reverse=True)
        return [conflict for _, conflict in found[:limit]]

    def _value(self, edge: OwnEdge) -> Edge:
        return edge_value(self._own, edge, self._known)
