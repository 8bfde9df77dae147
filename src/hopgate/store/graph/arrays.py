"""The graph's rows as arrays: memories, concepts, mentions and edges, as they were true and known at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.store.bulk import Column, read, read_groups
from hopgate.store.graph.visible import View

if TYPE_CHECKING:
    from psycopg import Connection


_ALL = View()


class Stamp(NamedTuple):
    """Which state of which graph.

    The version alone would not do: it starts again at 0 when the tables are made anew, and counts on in both of two
    copies of a database. `changed_at` is in microseconds. `concerning` changes with whatever may concern the scopes
    that were asked for: how many changes may concern all, and the last version that concerns one of these.
    """

    database: str
    version: int
    changed_at: int
    concerning: tuple[int, int]

    def is_current(self, now: Stamp) -> bool:
        """Whether rows of this state are those of another one, or came after it while that was asked for."""
        if self.database != now.database:
            return False
        if self.version >= now.version:
            return self.changed_at >= now.changed_at
        return self.concerning == now.concerning


@dataclass(frozen=True, eq=False, slots=True)
class Numbered:
    """Ids, ascending, and each one's scope or kind as a number into `names`."""

    id: NDArray[np.int64]
    number: NDArray[np.int32]
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Mentions:
    """Which memory talks about which concept, how much, and as what (a number into `relations`)."""

    memory: NDArray[np.int64]
    concept: NDArray[np.int64]
    weight: NDArray[np.float32]
    relation: NDArray[np.int32]
    relations: tuple[str, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Edges:
    """Typed edges between concepts; `relation` is a number into `relations`."""

    id: NDArray[np.int64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weight: NDArray[np.float32]
    relation: NDArray[np.int32]
    relations: tuple[str, ...]


def stamp(connection: Connection[Any], scopes: Sequence[str] | None = None) -> Stamp:
    """The state that this transaction sees, and what of it concerns some scopes."""
    row = connection.execute(
        "SELECT (SELECT system_identifier FROM pg_control_system()), d.oid::bigint, g.version, "
        "(extract(epoch FROM g.changed_at) * 1000000)::bigint, g.version - g.scoped, "
        "(SELECT coalesce(max(v.version), 0) FROM graph_versions v WHERE v.scope = ANY(%(scopes)s)) "
        "FROM pg_database d, graph_state g WHERE d.datname = current_database()",
        {"scopes": None if scopes is None else list(scopes)},
    ).fetchone()
    assert row is not None
    concerning = (int(row[2]), 0) if scopes is None else (int(row[4]), int(row[5]))
    return Stamp(f"{row[0]}-{row[1]}", int(row[2]), int(row[3]), concerning)


def memory_scopes(connection: Connection[Any], view: View = _ALL, *, superseded: bool = False) -> Numbered:
    """The memories that may be walked to, with their scopes.

    Memories without a concept are among them; those without a scope share one, "".
    """
    source = f"memories WHERE {view.memories(superseded=superseded)}"
    return _numbered(connection, "coalesce(scope, '')", source, view.parameters())


def concept_kinds(connection: Connection[Any], view: View = _ALL) -> Numbered:
    """The concepts with their kinds, "" for none."""
    source = f"concepts WHERE {view.concepts()}"
    return _numbered(connection, "coalesce(kind, '')", source, view.parameters())


def namesakes(connection: Connection[Any], view: View = _ALL) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Concepts of several scopes that are called the same, each with that of most memories: one node of a matrix."""
    row = connection.execute(
        f"SELECT min(scope) = max(scope) FROM concepts WHERE {view.concepts()}", view.parameters()
    ).fetchone()
    if row is None or row[0] is not False:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    columns = {"id": Column("i8", "id"), "first": Column("i8", "first")}
    source = (
        "(SELECT c.id, first_value(c.id) OVER (PARTITION BY n.normal_name ORDER BY c.memory_count DESC, c.id) AS first "
        "FROM concepts c JOIN concept_names n ON n.concept_id = c.id AND n.name = c.canonical_name "
        f"WHERE {view.concepts('c')}) AS called WHERE id <> first"
    )
    found = read(connection, columns, source, view.parameters())
    order = np.argsort(found["id"])
    return found["id"][order], found["first"][order]


def _numbered(connection: Connection[Any], key: str, source: str, parameters: Mapping[str, Any]) -> Numbered:
    names, group, columns = read_groups(connection, key, {"id": Column("i8", "id")}, source, parameters)
    order = np.argsort(columns["id"])
    return Numbered(columns["id"][order], group[order], names)


def mentions(connection: Connection[Any], view: View = _ALL) -> Mentions:
    """Every mention."""
    columns = {
        "memory": Column("i8", "memory_id"),
        "concept": Column("i8", "concept_id"),
        "weight": Column("f4", "weight"),
    }
    source = f"memory_concepts WHERE {view.mentions()}"
    relations, relation, found = read_groups(connection, "relation", columns, source, view.parameters())
    return Mentions(found["memory"], found["concept"], found["weight"], relation, relations)


def edges(connection: Connection[Any], view: View = _ALL) -> Edges:
    """The edges that were true as of a time and known at a time, in the order of their ids."""
    columns = {
        "id": Column("i8", "id"),
        "source": Column("i8", "src_id"),
        "target": Column("i8", "dst_id"),
        "weight": Column("f4", "weight"),
    }
    source = f"concept_edges WHERE {view.edges()}"
    relations, relation, found = read_groups(connection, "relation", columns, source, view.parameters())
    order = found["id"].argsort()
    ordered = {name: column[order] for name, column in found.items()}
    return Edges(ordered["id"], ordered["source"], ordered["target"], ordered["weight"], relation[order], relations)


def evidence(connection: Connection[Any], edge_ids: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """The memories that are edges' evidence, by the edges' ids."""
    rows = connection.execute("SELECT id, evidence_memory_ids FROM concept_edges WHERE id = ANY(%s)", (list(edge_ids),))
    return {row[0]: tuple(row[1]) for row in rows}
