"""The graph's rows as arrays, as they were true and known at a time: memories, concepts, mentions, edges, and arcs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.store.graph.visible import View
from hopgate.store.memories import in_scopes
from hopgate.store.rows import Column, read, read_groups, value

if TYPE_CHECKING:
    from psycopg import Connection


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
        "SELECT version, (extract(epoch FROM changed_at) * 1000000)::bigint, version - scoped, "
        "(SELECT coalesce(max(v.version), 0) FROM graph_versions v WHERE v.scope = ANY(%(scopes)s)) FROM graph_state",
        {"scopes": None if scopes is None else list(scopes)},
    ).fetchone()
    assert row is not None
    return Stamp(row[0], row[1], (row[0], 0) if scopes is None else (row[2], row[3]))


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
    same = f"SELECT min(scope) = max(scope) FROM concepts WHERE {view.concepts()}"
    if value(connection, same, view.parameters()) is not False:
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


# Arcs between memories: which were said just before one another, and which answers which. They follow from memories
# alone, so that nothing has to be kept in step: they are derived where the matrix is loaded, by one sort of those in a
# thread. A memory that comes or goes changes what its neighbours are joined to at the next version of the graph.

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
# Memories are one thread only where somebody says so: by a thread, or by a category that calls itself a session. One
# category and the same hour are no conversation: a bulk import made neighbours of plumber, boiler, ladder and drill.
_THREAD = """coalesce(thread::text, CASE WHEN category::text ~* '^(session|conversation|thread|chat)[ _-]*[0-9]+$'
    THEN category::text END)"""

# Sensitive memories keep their places, so that nobody is joined over them: an arc of two steps is left out where the
# one between is sensitive.
_FOLLOWING = """(
WITH {placed}, steps AS (
  SELECT id, next AS other, 1 AS steps, extract(epoch FROM next_at - created_at)::float8 AS gap
  FROM placed WHERE next IS NOT NULL
  UNION ALL
  SELECT id, later, 2, extract(epoch FROM later_at - created_at)::float8
  FROM placed WHERE later IS NOT NULL AND NOT next_hidden
)
SELECT id, other, (%(full)s * power(%(step)s::float8, steps)
  * greatest(%(least)s, power(0.5::float8, least(gap / %(half)s, 60))))::real AS weight FROM steps) AS arcs"""
_ALL_PLACED = f"""placed AS (
  SELECT id, created_at, lead(id) OVER thread AS next, lead(created_at) OVER thread AS next_at,
    lead(is_sensitive) OVER thread AS next_hidden,
    lead(id, 2) OVER thread AS later, lead(created_at, 2) OVER thread AS later_at
  FROM memories WHERE {_THREAD} IS NOT NULL AND created_at IS NOT NULL{{within}}
  WINDOW thread AS (PARTITION BY scope, thread IS NOT NULL, {_THREAD} ORDER BY created_at, id)
)"""
_REPLYING = (
    "memories m JOIN memories o ON o.external_id = m.reply_to::text AND o.scope IS NOT DISTINCT FROM m.scope "
    "WHERE m.reply_to IS NOT NULL AND o.id <> m.id"
)
_VALUES = {"full": FULL_WEIGHT, "step": STEP, "least": LEAST, "half": HALF_S}


@dataclass(frozen=True, eq=False, slots=True)
class Arcs:
    """Pairs of memories: of those that follow each other the earlier is the source, of an answer the answer.

    `kind` is a number into `ARC_KINDS`.
    """

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weight: NDArray[np.float32]
    kind: NDArray[np.int32]


def arcs(connection: Connection[Any], scopes: Sequence[str] | None = None) -> Arcs:
    """The arcs of these scopes, or all, those of sensitive or superseded memories too; an arc joins memories of one.

    An answer that follows at once is an answer alone. A memory without a time follows nothing. Whoever loads them
    leaves out what they do not show.
    """
    asked = {"scopes": None if scopes is None else list(scopes)}
    placed = _ALL_PLACED.format(within=in_scopes(scopes))
    ends = {"source": Column("i8", "id"), "target": Column("i8", "other")}
    with_weight = {**ends, "weight": Column("f4", "weight")}
    follows = read(connection, with_weight, _FOLLOWING.format(placed=placed), {**_VALUES, **asked})
    both = "" if scopes is None else " AND m.scope = ANY(%(scopes)s) AND o.scope = ANY(%(scopes)s)"
    replies = read(connection, ends, f"(SELECT m.id, o.id AS other FROM {_REPLYING}{both}) AS replies", asked)
    if len(replies["source"]):
        kept = ~np.isin(_unordered(follows), _unordered(replies))
        follows = {name: column[kept] for name, column in follows.items()}
    count = len(replies["source"])
    return Arcs(
        np.concatenate([follows["source"], replies["source"]]),
        np.concatenate([follows["target"], replies["target"]]),
        np.concatenate([follows["weight"], np.full(count, FULL_WEIGHT * STEP, np.float32)]),
        np.repeat(np.arange(2, dtype=np.int32), [len(follows["source"]), count]),
    )


def _unordered(ends: Mapping[str, NDArray[Any]]) -> NDArray[np.complex128]:
    """A number for each pair, whichever is the source."""
    return np.asarray(np.minimum(ends["source"], ends["target"]) + 1j * np.maximum(ends["source"], ends["target"]))
