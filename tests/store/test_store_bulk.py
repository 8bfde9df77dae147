"""Columns in bulk: the same values as row by row, for every type, with nothing lost."""

from __future__ import annotations

import numpy as np
import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.store.bulk import Column, read, read_groups
from hopgate.store.graph import arrays

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
        parted = read(connection, COLUMNS, SOURCE, parameters, parts=4, by="a")
        keys, group, grouped = read_groups(connection, "e", COLUMNS, SOURCE, parameters)
    assert [array.dtype for array in told.values()] == ["i8", "i4", "f8", "f4"]
    assert list(zip(*(array.tolist() for array in told.values()), strict=True)) == [row[:4] for row in rows]
    assert sorted(zip(*(array.tolist() for array in parted.values()), strict=True)) == sorted(row[:4] for row in rows)
    assert list(keys) == sorted({row[4] for row in rows})
    back = zip(*(array.tolist() for array in grouped.values()), [keys[number] for number in group], strict=True)
    assert sorted(back) == sorted(rows)


def test_parts_join_a_condition_that_is_there(dsn: str) -> None:
    with psycopg.connect(dsn) as connection:
        told = read(
            connection, {"n": Column("i8", "n::bigint")}, "generate_series(1, 100) n WHERE n > 40", parts=2, by="n"
        )
    assert sorted(told["n"].tolist()) == list(range(41, 101))


def test_a_column_may_hold_some_rows_only(dsn: str) -> None:
    columns = {"n": Column("i4", "n"), "even": Column("i4", "n", only="n % 2 = 0")}
    with psycopg.connect(dsn) as connection:
        told = read(connection, columns, "generate_series(1, 5) n")
    assert (told["n"].tolist(), told["even"].tolist()) == ([1, 2, 3, 4, 5], [2, 4])


def test_a_null_is_refused(dsn: str) -> None:
    columns = {"a": Column("i8", "a"), "b": Column("i8", "b")}
    with psycopg.connect(dsn) as connection, pytest.raises(HopgateError, match="holds a null"):
        read(connection, columns, "(VALUES (1::bigint, 2::bigint), (3, NULL)) AS t (a, b)")


@pytest.mark.parametrize("large", [0, 2**40, -7], ids=["small ids", "large ids", "negative ids"])
def test_mentions_and_edges_arrive_whole_whatever_the_ids(dsn: str, large: int) -> None:
    rows = [(1, 1, 1.0, "mentions"), (1, 2, 2.5, "mentions"), (2, 2, 1.0, "about"), (2, 1, 0.5, "about")]
    if large:
        rows.append((large, 2, 3.0, "mentions"))
    with psycopg.connect(dsn) as connection:
        connection.execute("INSERT INTO memories (id) SELECT unnest(%s::bigint[])", (sorted({row[0] for row in rows}),))
        connection.execute("INSERT INTO concepts (id, canonical_name) VALUES (1, 'one'), (2, 'two')")
        connection.cursor().executemany(
            "INSERT INTO memory_concepts (memory_id, concept_id, weight, relation) VALUES (%s, %s, %s, %s)", rows
        )
        connection.execute(
            "INSERT INTO concept_edges (id, src_id, dst_id, relation, weight, evidence_memory_ids) "
            "VALUES (7, 1, 2, 'knows', 0.5, '{}'), (8, 2, 1, 'is', 1, '{2}')"
        )
        told, edges = arrays.mentions(connection), arrays.edges(connection)
        evidence = arrays.evidence(connection, [8])
    columns = (told.memory, told.concept, told.weight, [told.relations[number] for number in told.relation])
    assert sorted(zip(*(np.asarray(column).tolist() for column in columns), strict=True)) == sorted(rows)
    named = [edges.relations[number] for number in edges.relation]
    rest = (edges.id, edges.source, edges.target, edges.weight, named)
    assert sorted(zip(*(np.asarray(column).tolist() for column in rest), strict=True)) == [
        (7, 1, 2, 0.5, "knows"),
        (8, 2, 1, 1.0, "is"),
    ]
    assert evidence == {8: (2,)}
