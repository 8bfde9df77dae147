"""Rows of a statement: one value, a column, values of a type, or arrays where they are many.

For arrays the server sends each column as one value, so that no row becomes a Python object: a third of the time of
`fetchall`, where `COPY … (FORMAT BINARY)`, which libpq hands over row by row, takes four times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from hopgate.errors import HopgateError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection, Cursor

Row = TypeVar("Row")
Parameters: TypeAlias = Mapping[str, Any] | Sequence[Any] | None
Arrays: TypeAlias = "dict[str, NDArray[Any]]"

# The function by which the server writes a value of each fixed width as bytes.
_SEND = {"i8": "int8send", "i4": "int4send", "f8": "float8send", "f4": "float4send"}


def value(connection: Connection[Any], statement: str, parameters: Parameters = None) -> Any:
    """Give the first value of a statement's first row; none where it has no row."""
    row = connection.execute(statement, parameters).fetchone()
    return None if row is None else row[0]


def values(connection: Connection[Any], statement: str, parameters: Parameters = None) -> list[Any]:
    """Give the first value of each of a statement's rows."""
    return [row[0] for row in connection.execute(statement, parameters)]


def columns_of(rows: Sequence[Sequence[Any]], width: int) -> list[list[Any]]:
    """Give rows as so many columns, each a parameter that a statement unnests."""
    return [[row[place] for row in rows] for place in range(width)]


def fetch(connection: Connection[Any], kind: type[Row], statement: str, parameters: Parameters = None) -> list[Row]:
    """Give the rows of a statement as values of a type, a column for each of its fields; arrays come as tuples."""

    def factory(cursor: Cursor[Any]) -> Callable[[Sequence[Any]], Row]:
        names = [column.name for column in cursor.description or ()]
        return lambda row: kind(**{name: tuple(value) if isinstance(value, list) else value
                                   for name, value in zip(names, row, strict=True)})  # fmt: skip

    with connection.cursor(row_factory=factory) as cursor:
        return cursor.execute(statement, parameters).fetchall()


@dataclass(frozen=True, slots=True)
class Column:
    """A column of fixed width that is never null."""

    type: str  # what the expression gives, and the array holds: "i8" (bigint), "i4", "f8" (double precision) or "f4"
    sql: str  # the expression


def read(
    connection: Connection[Any], columns: Mapping[str, Column], source: str, parameters: Parameters = None
) -> Arrays:
    """Read columns of a FROM clause (`source`); row ``i`` is entry ``i`` of each array, in no particular order."""
    return _arrays(columns, _execute(connection, f"SELECT {_gathered(columns)} FROM {source}", parameters))


def read_groups(
    connection: Connection[Any], key: str, columns: Mapping[str, Column], source: str, parameters: Parameters = None
) -> tuple[tuple[Any, ...], NDArray[np.int32], Arrays]:
    """Read columns group by group, where few groups share a key that has no fixed width.

    Gives the groups' keys in ascending order, for each row the number of its key, and the columns as `read` does.
    """
    import numpy as np

    statement = f"SELECT {key}, count(*), {_gathered(columns)} FROM {source} GROUP BY {key}"
    found = _execute(connection, statement, parameters)
    # Sorted here: with ORDER BY the server would sort every row by its key, and by the rules of a language.
    found.sort(key=lambda row: row[0])
    group = np.repeat(np.arange(len(found), dtype=np.int32), [row[1] for row in found])
    return tuple(row[0] for row in found), group, _arrays(columns, [row[2:] for row in found])


def _gathered(columns: Mapping[str, Column]) -> str:
    """The expressions that gather each column into one value."""
    return ", ".join(f"string_agg({_SEND[column.type]}({column.sql}), ''::bytea)" for column in columns.values())


def _execute(connection: Connection[Any], statement: str, parameters: Parameters) -> list[Any]:
    with connection.cursor(binary=True) as cursor:
        # The statement is made of this package's constants; what comes from outside is in the parameters.
        return cursor.execute(statement, parameters).fetchall()


def _arrays(columns: Mapping[str, Column], rows: Sequence[Sequence[bytes | None]]) -> Arrays:
    import numpy as np

    pieces = list(zip(*rows, strict=True)) or [()] * len(columns)
    arrays = {
        # Over the wire the first byte is the highest; `astype` turns it into the machine's own order.
        name: np.frombuffer(b"".join(piece or b"" for piece in parts), ">" + column.type).astype(column.type)
        for (name, column), parts in zip(columns.items(), pieces, strict=True)
    }
    if len({len(array) for array in arrays.values()}) > 1:
        raise HopgateError(f"one of the columns {', '.join(columns)} holds a null, which no array can: read others")
    return arrays
