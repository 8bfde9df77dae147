"""Rows in and out: one value, a column, values of a type, or arrays where they are many.

For arrays the server sends each column as one value, so that no row becomes a Python object: a third of the time of
`fetchall`, where `COPY … (FORMAT BINARY)`, which libpq hands over row by row, takes four times as long.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import psycopg

from hopgate.errors import HopgateError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Connection: TypeAlias = psycopg.Connection[Any]
Row = TypeVar("Row")
Parameters: TypeAlias = Mapping[str, Any] | Sequence[Any] | None
Arrays: TypeAlias = "dict[str, NDArray[Any]]"

# The function by which the server writes a value of each fixed width as bytes.
_SEND = {"i8": "int8send", "i4": "int4send", "f8": "float8send", "f4": "float4send"}


def value(connection: Connection, statement: str, parameters: Parameters = None) -> Any:
    """Give the first value of a statement's first row; none where it has no row."""
    row = connection.execute(statement, parameters).fetchone()
    return None if row is None else row[0]


def values(connection: Connection, statement: str, parameters: Parameters = None) -> list[Any]:
    """Give the first value of each of a statement's rows."""
    return [row[0] for row in connection.execute(statement, parameters)]


def columns_of(rows: Sequence[Sequence[Any]], width: int) -> list[list[Any]]:
    """Give rows as so many columns, each a parameter that a statement unnests."""
    return [[row[place] for row in rows] for place in range(width)]


def fetch(connection: Connection, kind: Callable[..., Row], statement: str, parameters: Parameters = None) -> list[Row]:
    """Give the rows of a statement as values of a type, a column for each of its fields; arrays come as tuples."""
    with connection.cursor(row_factory=row_factory(kind)) as cursor:
        return cursor.execute(statement, parameters).fetchall()


def row_factory(kind: Callable[..., Row]) -> Callable[[psycopg.Cursor[Any]], Callable[[Sequence[Any]], Row]]:
    """Give what makes values of a type of a cursor's rows, as psycopg asks for it."""

    def factory(cursor: psycopg.Cursor[Any]) -> Callable[[Sequence[Any]], Row]:
        names = [column.name for column in cursor.description or ()]
        return lambda row: kind(**{name: tuple(value) if isinstance(value, list) else value
                                   for name, value in zip(names, row, strict=True)})  # fmt: skip

    return factory


def select(connection: Connection, kind: type[Row], source: str, parameters: Parameters = None) -> list[Row]:
    """Give what follows FROM as values of a type, whose fields are the columns to read."""
    return fetch(connection, kind, f"SELECT {columns(kind)} FROM {source}", parameters)


def columns(kind: Any) -> str:
    """The fields of a type, as a statement lists columns."""
    return ", ".join(kind.__match_args__)


def insert(connection: Connection, table: str, rows: Iterable[NamedTuple], *, key: str = "") -> int:
    """Add rows to a table, whose columns their fields are; give how many.

    What is there already stays, or is replaced where the columns of its `key` are named.
    """
    rows = list(rows)
    if not rows:
        return 0
    names = columns(rows[0])
    new = ", ".join(f"excluded.{name}" for name in rows[0]._fields)
    known = f"({key}) DO UPDATE SET ({names}) = ROW ({new})" if key else "DO NOTHING"
    statement = f"INSERT INTO {table} ({names}) SELECT {names} FROM {incoming(table)} ON CONFLICT {known}"
    return connection.execute(statement, {"rows": as_json(rows)}).rowcount


def incoming(table: str) -> str:
    """The rows `%(rows)s`, which `as_json` writes, as a part of FROM: with the columns of a table, in their order."""
    return f"json_populate_recordset(NULL::{table}, %(rows)s::json)"


def as_json(rows: Iterable[NamedTuple]) -> str:
    """Write rows as one text: to write an array for each column takes psycopg several times as long."""
    return json.dumps([row._asdict() for row in rows], ensure_ascii=False, default=str)


def read(
    connection: Connection,
    types: Mapping[str, str],
    statement: str,
    parameters: Parameters = None,
    *,
    key: str = "''",
) -> tuple[Arrays, NDArray[np.int32], tuple[Any, ...]]:
    """Read columns of a statement by their types; row ``i`` is entry ``i`` of each array, in no particular order.

    A column is "i8" (bigint), "i4" (integer), "f8" (double precision) or "f4" (real), and never null. Few rows may
    share a `key` that has no fixed width: beside the columns come the number of each row's key, and the keys in
    ascending order.
    """
    import numpy as np

    gathered = ", ".join(f"string_agg({_SEND[kind]}({name}), ''::bytea)" for name, kind in types.items())
    # The statement is made of this package's constants; what comes from outside is in the parameters.
    grouped = f"SELECT {key}, count(*), {gathered} FROM ({statement}) AS rows GROUP BY 1"
    with connection.cursor(binary=True) as cursor:
        # Sorted here: with ORDER BY the server would sort every row by its key, and by the rules of a language.
        groups = sorted(cursor.execute(grouped, parameters).fetchall(), key=lambda row: row[0])
    number = np.repeat(np.arange(len(groups), dtype=np.int32), [row[1] for row in groups])
    arrays = {
        # Over the wire the first byte is the highest; `astype` turns it into the machine's own order.
        name: np.frombuffer(b"".join(row[place] or b"" for row in groups), ">" + kind).astype(kind)
        for place, (name, kind) in enumerate(types.items(), start=2)
    }
    if any(len(array) != len(number) for array in arrays.values()):
        raise HopgateError(f"one of the columns {', '.join(types)} holds a null, which no array can: read others")
    return arrays, number, tuple(row[0] for row in groups)
