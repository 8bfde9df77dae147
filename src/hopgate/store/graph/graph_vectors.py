"""Vectors of edges (the fact as text) and statements; and what a query finds by them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from hopgate.store import vectors
from hopgate.store.clearance import StoreGuard
from hopgate.store.graph import name_rows, version
from hopgate.store.graph.visible import View
from hopgate.store.rows import Connection, insert, value
from hopgate.store.vectors import to_sql

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hopgate.store.store import Store


Table = Literal["concept_edges", "statements"]
Rows = Mapping[Table, Sequence[tuple[int, str]]]
"""Rows of the tables, each with its text."""
# Below this many facts, or statements, a full scan is as quick as the index, and exact (docs/measurements.md).
EXACT_BELOW = 1_000
# A wider search than pgvector's default of 40: docs/measurements.md says how many of the nearest 20 facts it finds.
LEAST_EF_SEARCH = 100

# Each row's text, as an embedder reads it.
_TEXTS: dict[Table, str] = {
    "concept_edges": (
        # With the names of its first fact: in it a canonical name may read wrong.
        # (With ORDER BY and LIMIT instead of array_agg the planner reads all facts in their order until one fits.)
        "SELECT e.id, "
        "(SELECT (array_agg(concat_ws(' ', subject, f.relation, object) ORDER BY f.id))[1] FROM stated f "
        "WHERE f.src_id = e.src_id AND dst_id = e.dst_id AND canonical = e.relation) "
        "FROM concept_edges e WHERE {which}"
    ),
    "statements": "SELECT e.id, e.statement FROM statements e WHERE {which}",
}


def pending(connection: Connection, after: Mapping[Table, int], *, limit: int) -> dict[Table, list[tuple[int, str]]]:
    """Rows without a vector, each with its text, of some tables, from an id on."""
    which = "e.embedding IS NULL AND e.id > %s ORDER BY e.id LIMIT %s"
    with connection.pipeline():
        asked = {
            table: connection.execute(_TEXTS[table].format(which=which), (last, limit)) for table, last in after.items()
        }
    return {table: rows.fetchall() for table, rows in asked.items()}


def guard(store: Store, rows: Rows) -> StoreGuard:
    """Guard names, facts and statements on their way to an embedder: texts that are still what was read."""

    def all_unchanged(connection: Connection) -> bool:
        return all(len(_unchanged(connection, table, pairs)) == len(pairs) for table, pairs in rows.items() if pairs)

    return name_rows.guard(store, all_unchanged)


def _unchanged(connection: Connection, table: Table, rows: Sequence[tuple[int, str]]) -> list[int]:
    """The places of the rows whose texts are still what was read: no memory that they came from has gone."""
    ids = [key for key, _ in rows]
    now = dict(connection.execute(_TEXTS[table].format(which="e.id = ANY(%s)"), (ids,)).fetchall())
    return [place for place, (key, text) in enumerate(rows) if now.get(key) == text]


def write_unchanged(rows: Rows, made: NDArray[np.float32], connection: Connection) -> None:
    """Store the vectors of texts, table after table, except of rows that changed while they were embedded."""
    version.lock(connection)
    for table, pairs in rows.items():
        vectors_of, made = made[: len(pairs)], made[len(pairs) :]
        places = _unchanged(connection, table, pairs) if pairs else []
        vectors.set_vectors(connection, table, [pairs[place][0] for place in places], vectors_of[places])


def count_pending(connection: Connection, table: Table) -> int:
    """How many rows have no vector."""
    return int(value(connection, f"SELECT count(*) FROM {table} WHERE embedding IS NULL"))


def ensure_index(connection: Connection) -> None:
    """Build the HNSW indexes of facts and statements, once there are enough of them."""
    missing = "SELECT to_regclass(%s) IS NULL AND EXISTS (SELECT FROM {} WHERE embedding IS NOT NULL OFFSET %s)"
    due = [table for table in _TEXTS if value(connection, missing.format(table), (f"{table}_embedding", EXACT_BELOW))]
    if due:
        # Building one lets nobody write: not in the middle of somebody's change of several tables.
        version.lock(connection)
    for table in due:
        vectors.create_index(connection, table)


class Nearest(NamedTuple):
    """So many rows nearest a vector; with every one compared, or by an index, where there is one."""

    vector: NDArray[np.float32]
    limit: int
    exact: bool = False


def nearest(
    connection: Connection, key: str, source: str, given: Mapping[str, Any], asked: Nearest
) -> list[tuple[int, float]]:
    """The rows of `source` nearest a vector as (key, cosine), best first.

    An index gives up before the conditions are satisfied where these let little through: then all of that is compared.
    """
    given = {**given, "vector": to_sql(asked.vector), "limit": asked.limit}
    if not asked.exact:
        vectors.search_wide(connection, max(2 * asked.limit, LEAST_EF_SEARCH))
    rows = connection.execute(nearest_rows(key, source, exact=asked.exact), given).fetchall()
    if not asked.exact and len(rows) < asked.limit:
        rows = connection.execute(nearest_rows(key, source, exact=True), given).fetchall()
    return rows


def nearest_rows(key: str, source: str, *, exact: bool) -> str:
    """The statement of `nearest`.

    The distance is computed once a row: in the list of columns and in ORDER BY it would be computed twice. `+ 0` keeps
    the planner off the HNSW index: the sum is the same distance, but not the expression that is indexed.
    """
    distance = "(embedding <=> %(vector)s::halfvec) + 0" if exact else "embedding <=> %(vector)s::halfvec"
    tie = ", id" if exact else ""
    return (
        f"WITH nearest AS MATERIALIZED (SELECT id, {key} AS key, {distance} AS distance FROM {source} "
        f"ORDER BY distance{tie} LIMIT %(limit)s) SELECT key, 1 - distance FROM nearest ORDER BY distance, id"
    )


def near_facts(connection: Connection, view: View, asked: Nearest) -> list[tuple[int, float]]:
    """The edges in view whose facts are nearest, with their cosines."""
    source = f"concept_edges WHERE embedding IS NOT NULL AND {view.edges()}"
    return nearest(connection, "id", source, view.parameters(), asked)


def near_statements(
    connection: Connection, view: View, condition: str, parameters: Mapping[str, Any], asked: Nearest
) -> list[tuple[int, float]]:
    """The memories, of those that meet a condition, of the nearest statements; a memory for each of its own."""
    source = (
        "statements WHERE embedding IS NOT NULL AND (%(as_of)s::timestamptz IS NULL OR (valid_from IS NULL "
        "OR valid_from <= %(as_of)s) AND (valid_to IS NULL OR valid_to > %(as_of)s)) "
        f"AND memory_id IN (SELECT id FROM memories WHERE {condition})"
    )
    return nearest(connection, "memory_id", source, {**parameters, "as_of": view.as_of}, asked)


class StatementRow(NamedTuple):
    """A statement about one memory, recorded when the memory was made."""

    memory_id: int
    statement: str
    subject: str | None
    weight: float
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime


def add_statements(connection: Connection, rows: Iterable[StatementRow]) -> int:
    """Store statements; one that a memory has already is left as it is. Give how many are new."""
    return insert(connection, "statements", rows)
