"""Rows of a statement as values of a type: a column for each of its fields, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

Row = TypeVar("Row")


def fetch(
    connection: Connection[Any],
    kind: type[Row],
    statement: str,
    parameters: Mapping[str, Any] | Sequence[Any] | None = None,
) -> list[Row]:
    """Give the rows of a statement as values of a type; arrays come as tuples."""

    def factory(cursor: Cursor[Any]) -> Callable[[Sequence[Any]], Row]:
        names = [column.name for column in cursor.description or ()]
        return lambda row: kind(**{name: tuple(value) if isinstance(value, list) else value
                                   for name, value in zip(names, row, strict=True)})  # fmt: skip

    with connection.cursor(row_factory=factory) as cursor:
        return cursor.execute(statement, parameters).fetchall()
