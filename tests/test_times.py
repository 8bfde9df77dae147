"""One rule for time: a date without a zone is UTC, wherever one comes in."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from graph_content import Scripted
from hypothesis import given
from hypothesis import strategies as st

import hopgate
from hopgate.errors import HopgateError
from hopgate.extract.extraction import Fact, found
from hopgate.memory import Memory
from hopgate.times import moment, utc


@given(st.datetimes())
def test_a_naive_time_is_the_same_clock_in_utc(naive):
    assert utc(naive) == naive.replace(tzinfo=UTC)
    assert utc(naive.date()) == datetime(naive.year, naive.month, naive.day, tzinfo=UTC)


@given(st.datetimes(), st.integers(-1439, 1439))
def test_any_zone_is_one_that_postgresql_knows(clock, minutes):
    given = clock.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    offset = utc(given).utcoffset()
    assert offset is not None and abs(offset) < timedelta(hours=16)
    if datetime(2, 1, 1) < clock < datetime(9998, 1, 1):
        assert utc(given) == given


def test_a_text_is_read_as_the_moment_at_which_it_begins():
    assert moment("2024-05") == moment("2024-05-01") == moment("2024-05-01T00:00") == datetime(2024, 5, 1, tzinfo=UTC)
    assert moment("2024-05-01T02:00+02:00") == datetime(2024, 5, 1, tzinfo=UTC)
    assert moment("2024-13") is None and moment("soon") is None


@pytest.fixture
def moved(kb, dsn):
    """Sessions far from UTC: a naive time that is not made UTC in Python would be read in the session's zone."""
    database = dsn.rpartition("dbname=")[2]
    with kb.store.transaction() as connection:
        connection.execute(f"ALTER DATABASE {database} SET timezone TO 'Pacific/Kiritimati'")
    with hopgate.open(dsn) as fresh:
        with fresh.store.transaction() as connection:
            assert connection.execute("SHOW timezone").fetchone() == ("Pacific/Kiritimati",)
        made = datetime(2024, 5, 1)
        fresh.add(Memory("a", "Ada lives in Berlin.", created_at=made), Memory("b", "Ada moved.", created_at=made))
        berlin = Fact("Ada", "lives in", "Berlin", "2020-01-01", "2024-05-01")
        fresh.build(
            Scripted({"a": found([], [berlin]), "b": found([], [Fact("Ada", "lives in", "Munich", "2024-05-01")])})
        )
        yield fresh


@pytest.mark.parametrize(
    ("naive", "city"), [(datetime(2024, 4, 30, 23, 59), "Berlin"), (datetime(2024, 5, 1), "Munich")]
)
def test_everything_that_takes_a_time_takes_a_naive_one(moved, naive, city):
    aware = naive.replace(tzinfo=UTC)
    for when in (naive, aware):
        assert [edge.target for edge in moved.graph.edges(as_of=when)] == [city]
        graph = moved.graph.to_networkx(as_of=when)
        assert [graph.nodes[target]["name"] for _, target in graph.edges()] == [city]
        known = 2 if city == "Munich" else 0
        assert len(moved.graph.edges(known_at=when)) == known
        assert len(moved.recall("Ada", legs=("lexical",), known_at=when)) == known
        assert len(moved.graph.curate(since=when)) == 2
    assert moved.graph.curate(since=datetime(2024, 5, 1, 0, 1)) == []
    assert [hit.external_id for hit in moved.recall("Ada", legs=("graph",), as_of=naive)] == [
        hit.external_id for hit in moved.recall("Ada", legs=("graph",), as_of=aware)
    ]


@pytest.mark.parametrize("name", ["as_of", "known_at"])
def test_a_text_is_taken_where_a_time_is_and_what_is_no_date_is_one_sentence(kb, name):
    kb.add(Memory("m1", "Ada Lovelace lives in London.", scope="home"))
    kb.build()

    def calls(text: Any) -> Iterator[Callable[[], object]]:
        when = {name: text}
        yield lambda: Memory("z", "x", created_at=text)
        yield lambda: Memory("z", "x", superseded_by="m1", superseded_at=text)
        yield lambda: kb.written(text)
        yield lambda: kb.written("1024", text)
        yield lambda: kb.graph.changes("1024", text)
        yield lambda: kb.graph.curate(since=text)
        yield lambda: kb.recall("Ada", **when)
        yield lambda: kb.explain("Ada", "m1", **when)
        yield lambda: kb.graph.edges(**when)
        yield lambda: kb.graph.concepts(scope="home", **when)
        yield lambda: kb.graph.concept("Ada Lovelace", **when)
        yield lambda: kb.graph.neighbourhood(**when)
        yield lambda: kb.graph.to_networkx(**when)

    for call in calls("2924-02"):
        call()
    for wrong in ("soon", 5):
        for call in calls(wrong):
            with pytest.raises(HopgateError, match=rf"{wrong}'? is no date: write one like 2024-05-01"):
                call()
    assert Memory("z", "x", created_at="2024-02").created_at == datetime(2024, 2, 1, tzinfo=UTC)
