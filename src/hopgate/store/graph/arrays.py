"""The graph's rows as arrays, as they were true and known at a time: memories, concepts, mentions, edges, and arcs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.store.graph.visible import View
from hopgate.store.rows import Connection, read, value

_ALL = View()


class Stamp(NamedTuple):
    """Which state of the graph.

    The version alone would not do: it starts again at 0 when the tables are made anew. `changed_at` is in microseconds.
    `concerning` changes with whatever may concern the scopes that were asked for: how many changes may concern all, and
    the last version that concerns one of these.
    """

    version: int
    changed_at: int
    concerning: tuple[int, int]

    def is_current(self, now: Stamp) -> bool:
        """Whether rows of this state are those of another one, or came after it while that was asked for."""
        if self.version >= now.version:
            return self.changed_at >= now.changed_at
        return self.concerning == now.concerning


@dataclass(frozen=True, eq=False, slots=True)
class Links:
    """What joins a memory to a concept, or two of either: its ends and its weight, and its kind as a number.

    The kind is a number into `kinds`. Edges have ids, by which they ascend.
    """

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weight: NDArray[np.float32]
    kind: NDArray[np.int32]
    kinds: tuple[str, ...]
    id: NDArray[np.int64]

    def are(self, kind: str) -> NDArray[np.bool_]:
        """Which of them are of a kind."""
        return np.isin(self.kind, [number for number, name in enumerate(self.kinds) if name == kind])

    def where(self, kept: NDArray[np.bool_]) -> Links:
        """Those of them that are kept."""
        columns = {name: getattr(self, name)[kept] for name in ("source", "target", "weight", "kind")}
        return Links(**columns, kinds=self.kinds, id=self.id[kept] if len(self.id) else self.id)


_ENDS = {"source": "i8", "target": "i8", "weight": "f4"}
_NO_IDS = np.zeros(0, np.int64)


def stamp(connection: Connection, scopes: Sequence[str] | None = None) -> Stamp:
    """The state that this transaction sees, and what of it concerns some scopes."""
    row = connection.execute(
        "SELECT version, (extract(epoch FROM changed_at) * 1000000)::bigint, version - scoped, "
        "(SELECT coalesce(max(v.version), 0) FROM graph_versions v WHERE v.scope = ANY(%(scopes)s)) FROM graph_state",
        {"scopes": None if scopes is None else list(scopes)},
    ).fetchone()
    assert row is not None
    return Stamp(row[0], row[1], (row[0], 0) if scopes is None else (row[2], row[3]))


def memory_scopes(
    connection: Connection, view: View = _ALL, *, superseded: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int32], tuple[str, ...]]:
    """The memories that may be walked to, ascending: their ids, each one's scope as a number, and the scopes.

    Memories without a concept are among them; those without a scope share one, "".
    """
    statement = f"SELECT id, coalesce(scope, '') AS scope FROM memories WHERE {view.memories(superseded=superseded)}"
    columns, number, scopes = read(connection, {"id": "i8"}, statement, view.parameters(), key="scope")
    order = np.argsort(columns["id"])
    return columns["id"][order], number[order], scopes


def concept_ids(connection: Connection, view: View = _ALL) -> NDArray[np.int64]:
    """The concepts."""
    statement = f"SELECT id FROM concepts WHERE {view.concepts()}"
    return read(connection, {"id": "i8"}, statement, view.parameters())[0]["id"]


def namesakes(connection: Connection, view: View = _ALL) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Concepts of several scopes that are called the same, each with that of most memories: one node of a matrix."""
    same = f"SELECT min(scope) = max(scope) FROM concepts WHERE {view.concepts()}"
    if value(connection, same, view.parameters()) is not False:
        return _NO_IDS, _NO_IDS
    statement = (
        "SELECT * FROM (SELECT c.id, "
        "first_value(c.id) OVER (PARTITION BY n.normal_name ORDER BY c.memory_count DESC, c.id) AS first "
        "FROM concepts c JOIN concept_names n ON n.concept_id = c.id AND n.name = c.canonical_name "
        f"WHERE {view.concepts('c')}) AS called WHERE id <> first"
    )
    columns, _, _ = read(connection, {"id": "i8", "first": "i8"}, statement, view.parameters())
    order = np.argsort(columns["id"])
    return columns["id"][order], columns["first"][order]


def mentions(connection: Connection, view: View = _ALL) -> Links:
    """Which memory talks about which concept, how much, and as what."""
    statement = (
        "SELECT memory_id AS source, concept_id AS target, weight, relation FROM memory_concepts "
        f"WHERE {view.mentions()}"
    )
    columns, kind, kinds = read(connection, _ENDS, statement, view.parameters(), key="relation")
    return Links(**columns, kind=kind, kinds=kinds, id=_NO_IDS)


def edges(connection: Connection, view: View = _ALL) -> Links:
    """The edges between concepts that were true as of a time and known at a time, by their relations."""
    statement = (
        f"SELECT id, src_id AS source, dst_id AS target, weight, relation FROM concept_edges WHERE {view.edges()}"
    )
    columns, kind, kinds = read(connection, {"id": "i8", **_ENDS}, statement, view.parameters(), key="relation")
    order = columns["id"].argsort()
    return Links(**{name: column[order] for name, column in columns.items()}, kind=kind[order], kinds=kinds)


def evidence(connection: Connection, edge_ids: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """The memories that are edges' evidence, by the edges' ids."""
    rows = connection.execute("SELECT id, evidence_memory_ids FROM concept_edges WHERE id = ANY(%s)", (list(edge_ids),))
    return {row[0]: tuple(row[1]) for row in rows}


# Arcs between memories follow from memories alone (`hopgate_arcs`): they are derived where the matrix is loaded. A
# memory that comes or goes changes what its neighbours are joined to at the next version of the graph.

FOLLOWS = "follows"
REPLIES = "replies to"
ARC_KINDS = (FOLLOWS, REPLIES)

# A mention weighs 1. Measured on locomo (docs/measurements.md): twice that, 0.6 a step and up to two steps; a
# weight of 1 to 3 and one step more or less are alike within 0.01.
FULL_WEIGHT = 2.0
STEP = 0.6
# What is left of an arc after a gap in time: half after a day, and never less than a quarter.
HALF_S = 86400.0
LEAST = 0.25


def arcs(connection: Connection, scopes: Sequence[str] | None = None) -> Links:
    """The arcs of these scopes, or all, those of sensitive or superseded memories too; an arc joins memories of one.

    Of those that follow each other the earlier is the source, of an answer the answer. Whoever loads them leaves out
    what they do not show.
    """
    kinds = {"source": "i8", "target": "i8", "kind": "i4", "steps": "i4", "gap": "f8"}
    statement = "SELECT * FROM hopgate_arcs(%(scopes)s)"
    columns, _, _ = read(connection, kinds, statement, {"scopes": None if scopes is None else list(scopes)})
    left = np.maximum(LEAST, 0.5 ** (columns.pop("gap") / HALF_S))
    columns["weight"] = (FULL_WEIGHT * STEP ** columns.pop("steps") * left).astype(np.float32)
    order = np.lexsort((columns["target"], columns["source"], columns["kind"]))
    return Links(**{name: column[order] for name, column in columns.items()}, kinds=ARC_KINDS, id=_NO_IDS)
