"""Statements: what a model or a person wrote about a memory in one self-contained sentence, with that memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.store.graph import graph_vectors
from hopgate.store.vectors import to_sql

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection


@dataclass(frozen=True, slots=True)
class StatementRow:
    """A statement about one memory, recorded when the memory was made."""

    memory_id: int
    statement: str
    subject: str | None
    weight: float
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime


def add(connection: Connection[Any], rows: Iterable[StatementRow]) -> int:
    """Store statements; one that a memory has already is left as it is. Give how many are new."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO statements (memory_id, statement, subject, weight, valid_from, valid_to, recorded_at) "
            "VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
            [
                (row.memory_id, row.statement, row.subject, row.weight, row.valid_from, row.valid_to, row.recorded_at)
                for row in rows
            ],
        )
        return max(0, cursor.rowcount)


def remove(connection: Connection[Any], memory_ids: Sequence[int]) -> None:
    """Forget what was stated about memories."""
    connection.execute("DELETE FROM statements WHERE memory_id = ANY(%s)", (list(memory_ids),))


def texts_of_memories(connection: Connection[Any], memory_ids: Sequence[int]) -> list[str]:
    """What was stated about memories, as it was embedded."""
    rows = connection.execute("SELECT statement FROM statements WHERE memory_id = ANY(%s)", (list(memory_ids),))
    return [row[0] for row in rows]


def all_rows(connection: Connection[Any]) -> list[tuple[Any, ...]]:
    """Every statement: the memory's external id, sentence, subject, weight, and when it is true."""
    return connection.execute(
        "SELECT m.external_id, s.statement, s.subject, s.weight, s.valid_from, s.valid_to "
        "FROM statements s JOIN memories m ON m.id = s.memory_id WHERE NOT m.is_sensitive ORDER BY s.id"
    ).fetchall()


def statements_near(
    vector: NDArray[np.float32],
    limit: int,
    *,
    exact: bool,
    condition: str,
    parameters: Mapping[str, Any],
    as_of: datetime | None = None,
) -> tuple[str, dict[str, Any]]:
    """The statement for the memories of the nearest statements with their cosines, and its parameters.

    Best first; a memory comes once for each of its statements.

    Parameters
    ----------
    exact : bool
        Whether every statement is compared; otherwise the index is asked where there is one.
    condition, parameters : str, mapping
        Which memories; sensitive ones have no statements.
    as_of : datetime, optional
        Only statements that were true then.
    """
    valid = "true"
    if as_of is not None:
        valid = "(valid_from IS NULL OR valid_from <= %(as_of)s) AND (valid_to IS NULL OR valid_to > %(as_of)s)"
    source = (
        f"statements WHERE embedding IS NOT NULL AND {valid} "
        f"AND memory_id IN (SELECT id FROM memories WHERE {condition})"
    )
    values = {**parameters, "vector": to_sql(vector), "limit": limit, "as_of": as_of}
    return graph_vectors.nearest_rows("memory_id", source, exact=exact), values
