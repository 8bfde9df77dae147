"""Vectors of concepts (by name) and of edges (the fact as text)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from hopgate.store.edges import NAME_INSIDE
from hopgate.store.graph_rows import visible_edges

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

Table = Literal["concepts", "concept_edges"]

_PENDING: dict[Table, str] = {
    "concepts": "SELECT id, canonical_name FROM concepts WHERE embedding IS NULL AND id > %s ORDER BY id LIMIT %s",
    "concept_edges": (
        "SELECT e.id, concat_ws(' ', s.canonical_name, e.relation, d.canonical_name) FROM concept_edges e "
        "JOIN concepts s ON s.id = e.src_id JOIN concepts d ON d.id = e.dst_id "
        f"WHERE e.embedding IS NULL AND e.relation <> '{NAME_INSIDE}' AND e.id > %s ORDER BY e.id LIMIT %s"
    ),
}


def pending(connection: Connection[Any], table: Table, *, after: int, limit: int) -> list[tuple[int, str]]:
    """Rows without a vector, each with its text."""
    return connection.execute(_PENDING[table], (after, limit)).fetchall()


def write(connection: Connection[Any], table: Table, ids: Sequence[int], vectors: NDArray[np.float32]) -> None:
    """Store vectors."""
    from pgvector import HalfVector
    from pgvector.psycopg import register_vector

    register_vector(connection)
    connection.execute(f"CREATE TEMP TABLE made (id bigint, vector halfvec({vectors.shape[1]})) ON COMMIT DROP")
    with connection.cursor() as cursor, cursor.copy("COPY made FROM STDIN WITH (FORMAT BINARY)") as copy:
        copy.set_types(["int8", "halfvec"])
        for key, vector in zip(ids, vectors, strict=True):
            copy.write_row((key, HalfVector(vector)))
    connection.execute(f"UPDATE {table} t SET embedding = made.vector FROM made WHERE t.id = made.id")
    connection.execute("DROP TABLE made")


def near_facts(
    connection: Connection[Any],
    vector: NDArray[np.float32],
    limit: int,
    *,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
) -> list[tuple[int, int, int, float]]:
    """The facts nearest a query as (edge, source concept, target concept, cosine), best first."""
    text = "[" + ",".join(f"{value:.7g}" for value in vector.tolist()) + "]"
    return connection.execute(
        "SELECT id, src_id, dst_id, 1 - (embedding <=> %(vector)s::halfvec) FROM concept_edges "
        f"WHERE embedding IS NOT NULL AND {visible_edges(as_of, known_at)} "
        "ORDER BY embedding <=> %(vector)s::halfvec, id LIMIT %(limit)s",
        {"vector": text, "limit": limit, "as_of": as_of, "known_at": known_at},
    ).fetchall()
