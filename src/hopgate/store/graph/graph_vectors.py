"""Vectors of concepts (by name), of edges (the fact as text) and of statements."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from hopgate.store import vectors
from hopgate.store.graph import name_rows
from hopgate.store.graph.edge_rows import NAME_INSIDE
from hopgate.store.graph.visible import time_parameters, visible_edges

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

Table = Literal["concepts", "concept_edges", "statements"]
INDEX = "concepts_embedding"

_PENDING: dict[Table, str] = {
    "concepts": "SELECT id, canonical_name FROM concepts WHERE embedding IS NULL AND id > %s ORDER BY id LIMIT %s",
    "concept_edges": (
        # With the names of its first fact: in it a canonical name may read wrong.
        # (With ORDER BY and LIMIT instead of array_agg the planner reads all facts in their order until one fits.)
        "SELECT e.id, (SELECT (array_agg(concat_ws(' ', s.name, f.relation, o.name) ORDER BY f.id))[1] "
        "FROM concept_names s JOIN facts f ON f.subject_id = s.id JOIN concept_names o ON o.id = f.object_id "
        "JOIN relations r ON r.raw = f.relation WHERE s.concept_id = e.src_id AND o.concept_id = e.dst_id "
        "AND r.canonical = e.relation) FROM concept_edges e "
        f"WHERE e.embedding IS NULL AND e.relation <> '{NAME_INSIDE}' AND e.id > %s ORDER BY e.id LIMIT %s"
    ),
    "statements": "SELECT id, statement FROM statements WHERE embedding IS NULL AND id > %s ORDER BY id LIMIT %s",
}


def pending(connection: Connection[Any], table: Table, *, after: int, limit: int) -> list[tuple[int, str]]:
    """Rows without a vector, each with its text."""
    return connection.execute(_PENDING[table], (after, limit)).fetchall()


def write(connection: Connection[Any], table: Table, ids: Sequence[int], rows: NDArray[np.float32]) -> None:
    """Store vectors, one row of the array for each id."""
    with vectors.copied(connection, ids, rows):
        connection.execute(f"UPDATE {table} t SET embedding = v.vector FROM copied_vectors v WHERE t.id = v.id")


def forget(connection: Connection[Any], concept_ids: Sequence[int]) -> None:
    """Drop the vectors that were made of these concepts' names."""
    if not concept_ids or vectors.space(connection) is None:
        return
    ids = list(concept_ids)
    connection.execute("UPDATE concepts SET embedding = NULL WHERE id = ANY(%s)", (ids,))
    connection.execute(
        "UPDATE concept_edges SET embedding = NULL WHERE src_id = ANY(%s) OR dst_id = ANY(%s)", (ids, ids)
    )


def ensure_index(connection: Connection[Any]) -> None:
    """Build the HNSW index over concepts' names, so that resolving a new name costs the same however many there are."""
    row = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (INDEX,)).fetchone()
    if row and row[0]:
        return
    # Building one lets nobody write: not in the middle of somebody's change of both tables.
    name_rows.lock(connection)
    connection.execute("SET LOCAL maintenance_work_mem = '1GB'")
    connection.execute(
        f"CREATE INDEX IF NOT EXISTS {INDEX} ON concepts USING hnsw (embedding halfvec_cosine_ops) "
        "WITH (m = 16, ef_construction = 64)"
    )
    # So that rows without a vector are found without reading all that have one.
    connection.execute("CREATE INDEX IF NOT EXISTS concepts_unembedded ON concepts (id) WHERE embedding IS NULL")
    connection.execute(
        "CREATE INDEX IF NOT EXISTS concept_edges_unembedded ON concept_edges (id) "
        f"WHERE embedding IS NULL AND relation <> '{NAME_INSIDE}'"
    )


def near_concepts(connection: Connection[Any], vector: NDArray[np.float32], limit: int) -> list[tuple[int, float]]:
    """The concepts whose names are nearest a vector as (concept, cosine), best first."""
    return connection.execute(
        "SELECT id, 1 - (embedding <=> %(vector)s::halfvec) FROM concepts WHERE embedding IS NOT NULL "
        "ORDER BY embedding <=> %(vector)s::halfvec LIMIT %(limit)s",
        {"vector": vectors.to_sql(vector), "limit": limit},
    ).fetchall()


def cosines(connection: Connection[Any], vector: NDArray[np.float32], concept_ids: Sequence[int]) -> dict[int, float]:
    """How near these concepts are to a vector; those without one are left out."""
    rows = connection.execute(
        "SELECT id, 1 - (embedding <=> %s::halfvec) FROM concepts WHERE id = ANY(%s) AND embedding IS NOT NULL",
        (vectors.to_sql(vector), list(concept_ids)),
    )
    return dict(rows.fetchall())


def sample(connection: Connection[Any], limit: int) -> NDArray[np.float32]:
    """Vectors of the first concepts, as rows: a sample of how alike unrelated names are."""
    rows = connection.execute(
        "SELECT embedding::text FROM concepts WHERE embedding IS NOT NULL ORDER BY id LIMIT %s", (limit,)
    ).fetchall()
    return vectors.from_sql([row[0] for row in rows])


def near_facts(
    connection: Connection[Any],
    vector: NDArray[np.float32],
    limit: int,
    *,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    among: Sequence[int] | None = None,
) -> list[tuple[int, float]]:
    """The facts nearest a query as (edge, cosine), best first; with `among` only of these edges."""
    of_these = "true" if among is None else "id = ANY(%(among)s)"
    return connection.execute(
        "SELECT id, 1 - (embedding <=> %(vector)s::halfvec) FROM concept_edges "
        f"WHERE embedding IS NOT NULL AND {visible_edges(as_of, known_at)} AND {of_these} "
        "ORDER BY embedding <=> %(vector)s::halfvec, id LIMIT %(limit)s",
        {
            **time_parameters(as_of, known_at),
            "vector": vectors.to_sql(vector),
            "limit": limit,
            "among": None if among is None else list(among),
        },
    ).fetchall()
