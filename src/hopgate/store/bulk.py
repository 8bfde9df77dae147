"""Read many rows as arrays: the server sends each column as one value, so that no row becomes a Python object.

`COPY … (FORMAT BINARY)` would do the same on paper, but libpq hands it over row by row: on 310,000 rows of
(bigint, bigint, real) it took four times as long as `fetchall`, and this a third of it (benchmarks/matrix.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError

if TYPE_CHECKING:
    from psycopg import Connection

Arrays = dict[str, NDArray[Any]]

# The function by which the server writes a value of each fixed width as bytes.
_SEND = {"i8": "int8send", "i4": "int4send", "f8": "float8send", "f4": "float4send"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of fixed width that is never null.

    Parameters
    ----------
    type : str
        "i8", "i4", "f8" or "f4": what the expression gives in SQL (bigint, integer, double precision, real) and what
        the array holds.
    sql : str
        The expression.
    only : str, optional
        A condition: the column has an entry for the rows that meet it, and none for the others.
    """

    type: str
    sql: str
    only: str | None = None

    def aggregate(self) -> str:
        """The expression that gathers the column into one value."""
        gathered = f"string_agg({_SEND[self.type]}({self.sql}), ''::bytea)"
        return f"{gathered} FILTER (WHERE {self.only})" if self.only else gathered


def read(
    connection: Connection[Any],
    columns: Mapping[str, Column],
    source: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    parts: int = 1,
    by: str = "id",
) -> Arrays:
    """Read columns of a FROM clause; row ``i`` is entry ``i`` of each array.

    Parameters
    ----------
    source : str
        Tables, joins and a WHERE clause. The rows come in no particular order, and in the same one for every column.
    parts : int
        A power of two: read in so many statements, divided by the bigint `by`. PostgreSQL's values end at 1 GiB.

    Examples
    --------
    >>> Column("f4", "weight").aggregate()
    "string_agg(float4send(weight), ''::bytea)"
    """
    gathered = ", ".join(column.aggregate() for column in columns.values())
    rows: list[tuple[bytes | None, ...]] = []
    for part in range(parts):
        glue = "AND" if " where " in source.lower() else "WHERE"
        chosen = f"{source} {glue} {by} & {parts - 1} = {part}" if parts > 1 else source
        rows += _execute(connection, f"SELECT {gathered} FROM {chosen}", parameters)
    return _arrays(columns, rows)


def read_groups(
    connection: Connection[Any],
    key: str,
    columns: Mapping[str, Column],
    source: str,
    parameters: Mapping[str, Any] | None = None,
) -> tuple[tuple[Any, ...], NDArray[np.int32], Arrays]:
    """Read columns group by group, where few groups share a key that has no fixed width.

    Returns
    -------
    keys : tuple
        The groups' keys in ascending order.
    group : array of int32
        For each row the number of its key.
    columns : dict
        As `read` gives them.
    """
    gathered = ", ".join(column.aggregate() for column in columns.values())
    found = _execute(connection, f"SELECT {key}, count(*), {gathered} FROM {source} GROUP BY {key}", parameters)
    # Sorted here: with ORDER BY the server would sort every row by its key, and by the rules of a language.
    found.sort(key=lambda row: row[0])
    group = np.repeat(np.arange(len(found), dtype=np.int32), [row[1] for row in found])
    return tuple(row[0] for row in found), group, _arrays(columns, [row[2:] for row in found])


def _execute(connection: Connection[Any], statement: str, parameters: Mapping[str, Any] | None) -> list[Any]:
    with connection.cursor(binary=True) as cursor:
        # The statement is made of this package's constants; what comes from outside is in the parameters.
        return cursor.execute(statement, parameters).fetchall()


def _arrays(columns: Mapping[str, Column], rows: Iterable[tuple[bytes | None, ...]]) -> Arrays:
    pieces = list(zip(*rows, strict=True)) or [()] * len(columns)
    arrays = {
        # Over the wire the first byte is the highest; `astype` turns it into the machine's own order.
        name: np.frombuffer(b"".join(piece or b"" for piece in parts), ">" + column.type).astype(column.type)
        for (name, column), parts in zip(columns.items(), pieces, strict=True)
    }
    lengths = {len(arrays[name]) for name, column in columns.items() if column.only is None}
    if len(lengths) > 1:
        raise HopgateError(f"one of the columns {', '.join(columns)} holds a null, which no array can: read others")
    return arrays
