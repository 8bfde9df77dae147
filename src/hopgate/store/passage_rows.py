"""Rows of passages: where each of a long memory's begins and ends, and its vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.passages import Extent, passage_text, passages
from hopgate.store import vectors
from hopgate.store.vectors import run_with

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

    from hopgate.memory import Cleared


class PassageRow(NamedTuple):
    """A passage of a memory, by its number in it, and what an embedder reads of it."""

    memory_id: int
    number: int
    span: Extent
    text: Cleared


def rows_of(memory_id: int, content: Cleared) -> list[PassageRow]:
    """Give the passages of a memory's content; none where it is short."""
    spans = passages(content)
    return [PassageRow(memory_id, number, span, passage_text(content, span)) for number, span in enumerate(spans)]


def write(
    connection: Connection[Any], rows: Sequence[PassageRow], made: NDArray[np.float32], *, column: str = "embedding"
) -> None:
    """Store passages with their vectors; their memories were written in the same transaction."""
    if not rows:
        return
    vectors.check_rows(connection, made, column=column)
    run_with(
        connection,
        f"INSERT INTO passages (memory_id, number, starts, ends, {column}) "
        "SELECT p.memory_id, p.number, p.starts, p.ends, v.vector "
        "FROM unnest(%(memories)s::bigint[], %(numbers)s::integer[], %(starts)s::integer[], %(ends)s::integer[]) "
        "WITH ORDINALITY AS p (memory_id, number, starts, ends, place) JOIN copied_vectors v ON v.id = p.place - 1 "
        "ON CONFLICT (memory_id, number) DO UPDATE "
        f"SET starts = excluded.starts, ends = excluded.ends, {column} = excluded.{column}",
        range(len(rows)),
        made,
        parameters={
            "memories": [row.memory_id for row in rows],
            "numbers": [row.number for row in rows],
            "starts": [row.span.start for row in rows],
            "ends": [row.span.end for row in rows],
        },
    )
