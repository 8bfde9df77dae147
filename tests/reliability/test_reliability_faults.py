"""Faults at transaction boundaries of every command that writes, and pairs of writers raced before their locks.

The suite takes one boundary of some and some pairs, `make full` of each; `make soak` takes all of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from reliability.canary import Search
from reliability.faults import Count, in_process, kill_at, walked
from reliability.races import race, writers
from reliability.world import Databases, commands
from word_endpoint import serving

from hopgate.store.server import EmbeddedServer

FEW = ("embed", "build", "change", "delete", "mark")
NAMES = [
    command.name if command.name in FEW else pytest.param(command.name, marks=pytest.mark.full)
    for command in commands("", "")
]


@pytest.fixture(scope="module")
def specs() -> Iterator[tuple[str, str]]:
    with serving() as first, serving("others") as second:
        yield first.spec, second.spec


@pytest.fixture(scope="module")
def databases(server: EmbeddedServer, specs: tuple[str, str]) -> Iterator[Databases]:
    made = Databases(server.dsn, specs[0])
    yield made
    made.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_fault_at_a_boundary_tears_and_loses_nothing(name: str, databases: Databases, specs: tuple[str, str]) -> None:
    (command,) = (command for command in commands(*specs) if command.name == name)
    way, expected = walked(command, databases)
    count = Count()
    point = way.boundaries[len(way.boundaries) // 2]
    with databases.of(command.state) as dsn:
        assert kill_at(command, dsn, point, in_process)
        count.judge(command, dsn, point, way, expected)
    assert (count.kills, count.torn, count.lost) == (1, 0, 0), count.examples
    assert count.search.found == []


# Those that deadlocked or made facts twice.
@pytest.mark.filterwarnings("ignore::hopgate.store.build_lock.BuildWaitsWarning")
@pytest.mark.parametrize(
    ("one", "other", "pause"),
    [
        ("mark", "embed", 2),
        ("load", "add", 2),
        pytest.param("embed", "reembed", 0, marks=pytest.mark.full),
        pytest.param("build", "catch up", 1, marks=pytest.mark.full),
        pytest.param("rebuild", "reembed", 4, marks=pytest.mark.full),
        pytest.param("language", "load", 1, marks=pytest.mark.full),
    ],
)
def test_a_pair_of_writers_gets_along(
    one: str, other: str, pause: int, databases: Databases, specs: tuple[str, str]
) -> None:
    known = writers(*specs)
    with databases.of("grown") as dsn:
        raced = race(dsn, known[one], known[other], pause)
    assert raced.errors == ()
    assert raced.conflicts == 0
    assert raced.locks > pause, "the pause was never reached"


def test_a_word_that_is_left_is_found(databases: Databases) -> None:
    search = Search()
    with databases.of("built") as dsn:
        search.look(dsn, {"n0": "a text that it no longer has"})
    assert {place for place in search.found if "memories" in place or "names" in place or "extraction" in place}
