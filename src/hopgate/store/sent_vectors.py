"""Vectors on their way to the server: a few within the statement that stores them, many by COPY."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection, Cursor

# So many vectors at most are sent as text within their statement.
FEW = 64
_GIVEN = (
    "WITH copied_vectors AS MATERIALIZED (SELECT id, hash, vector::halfvec AS vector FROM "
    "unnest(%(ids_)s::bigint[], %(hashes_)s::text[], %(vectors_)s::text[]) AS given (id, hash, vector)) "
)


def run_with(
    connection: Connection[Any],
    statement: str,
    ids: Sequence[int],
    vectors: NDArray[np.float32],
    *,
    hashes: Sequence[str] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> list[tuple[Any, ...]]:
    """Run a statement that reads `copied_vectors (id, hash, vector)`, and give the rows that it returns, if any.

    Few vectors go along with the statement as text; many by COPY into a temporary table, which the server takes some
    milliseconds to make and to drop.
    """
    marks = hashes or [""] * len(ids)
    if len(ids) <= FEW:
        given = {"ids_": list(ids), "hashes_": list(marks), "vectors_": [*map(to_sql, vectors)]}
        return _rows(connection.execute(_GIVEN + statement, {**given, **(parameters or {})}))
    from pgvector import HalfVector
    from pgvector.psycopg import register_vector

    register_vector(connection)
    connection.execute(
        f"CREATE TEMP TABLE copied_vectors (id bigint, hash text, vector halfvec({vectors.shape[1]})) ON COMMIT DROP"
    )
    with connection.cursor() as cursor, cursor.copy("COPY copied_vectors FROM STDIN WITH (FORMAT BINARY)") as copy:
        copy.set_types(["int8", "text", "halfvec"])
        for key, content_hash, vector in zip(ids, marks, vectors, strict=True):
            copy.write_row((key, content_hash, HalfVector(vector)))
    returned = _rows(connection.execute(statement, parameters))
    connection.execute("DROP TABLE copied_vectors")
    return returned


def to_sql(vector: NDArray[np.float32]) -> str:
    """A vector as `halfvec` reads it: five digits tell each half from the next.

    Examples
    --------
    >>> import numpy as np
    >>> to_sql(np.array([0.1, -0.75], dtype=np.float32))
    '[0.099976,-0.75]'
    """
    halves = vector.astype("float16").tolist()
    return f"[{','.join(['%.5g'] * len(halves))}]" % tuple(halves)


def _rows(cursor: Cursor[Any]) -> list[tuple[Any, ...]]:
    return cursor.fetchall() if cursor.description else []
