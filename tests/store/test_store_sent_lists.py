"""Lists on their way to the server arrive as they were sent, as psycopg's own do, and with one type whatever is in."""

from __future__ import annotations

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hopgate.store.connect import connect

BIG = 2**63
texts = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(numbers=st.lists(st.integers(-BIG, BIG - 1)), words=st.lists(texts), gaps=st.lists(st.none() | texts))
def test_what_is_sent_comes_back(dsn: str, numbers: list[int], words: list[str], gaps: list[str | None]) -> None:
    with connect(dsn) as connection:
        row = connection.execute("SELECT %s::bigint[], %s::text[], %s::text[]", (numbers, words, gaps)).fetchone()
        assert row == (numbers, words, gaps)
        found = connection.execute("SELECT count(*) FROM unnest(%s::text[]) w WHERE w = ANY(%s)", (words, words))
        assert found.fetchone() == (len(words),)


def test_other_lists_go_psycopgs_way(dsn: str) -> None:
    with connect(dsn) as connection:
        sent = ([1.5, 2.0], [True, False], [[1, 2], [3, 4]], [b"x"], [None, None])
        row = connection.execute("SELECT %s::float8[], %s::bool[], %s::int[], %s::bytea[], %s::text[]", sent).fetchone()
        assert row == sent


def test_numbers_have_one_type_whatever_their_size(dsn: str) -> None:
    with connect(dsn) as connection:
        kinds = {
            connection.execute("SELECT pg_typeof(%s)::text", (numbers,)).fetchone()
            for numbers in ([1], [70_000], [2**40])
        }
    assert kinds == {("bigint[]",)}


def test_a_nul_is_refused_before_it_is_sent(dsn: str) -> None:
    with connect(dsn) as connection, pytest.raises(psycopg.DataError, match="NUL"):
        connection.execute("SELECT %s::text[]", (["a\x00b"],))
