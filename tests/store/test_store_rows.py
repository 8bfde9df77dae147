"""Columns in bulk: the same values as row by row, for every type, with nothing lost."""

from __future__ import annotations

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.store.rows import Column, read, read_groups

ROWS = st.lists(
    st.tuples(
        st.integers(-(2**63), 2**63 - 1),
        st.integers(-(2**31), 2**31 - 1),
        st.floats(allow_nan=False),
        st.floats(allow_nan=False, width=32),
        st.sampled_from(["a", "b", "ä b", ""]),
    ),
    max_size=30,
)
COLUMNS = {"i8": Column("i8", "a"), "i4": Column("i4", "b"), "f8": Column("f8", "c"), "f4": Column("f4", "d")}
SOURCE = "unnest(%(a)s::bigint[], %(b)s::integer[], %(c)s::float8[], %(d)s::real[], %(e)s::text[]) AS t (a, b, c, d, e)"


@given(rows=ROWS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_arrays_hold_what_the_rows_hold(dsn: str, rows: list[tuple[int, int, float, float, str]]) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)] or [[]] * 5
    parameters = dict(zip("abcde", columns, strict=True))
    with psycopg.connect(dsn) as connection:
        told = read(connection, COLUMNS, SOURCE, parameters)
        keys, group, grouped = read_groups(connection, "e", COLUMNS, SOURCE, parameters)
    assert [array.dtype for array in told.values()] == ["i8", "i4", "f8", "f4"]
    assert list(zip(*(array.tolist() for array in told.values()), strict=True)) == [row[:4] for row in rows]
    assert list(keys) == sorted({row[4] for row in rows})
    back = zip(*(array.tolist() for array in grouped.values()), [keys[number] for number in group], strict=True)
    assert sorted(back) == sorted(rows)


def test_a_null_is_refused(dsn: str) -> None:
    columns = {"a": Column("i8", "a"), "b": Column("i8", "b")}
    with psycopg.connect(dsn) as connection, pytest.raises(HopgateError, match="holds a null"):
        read(connection, columns, "(VALUES (1::bigint, 2::bigint), (3, NULL)) AS t (a, b)")
