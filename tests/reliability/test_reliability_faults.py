"""Faults at transaction boundaries of every command that writes.

The suite takes one boundary of some, `make full` of each; `make soak` takes all of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from reliability.canary import Search
from reliability.faults import Count, in_process, kill_at, walked
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


def test_a_word_that_is_left_is_found(databases: Databases) -> None:
    search = Search()
    with databases.of("built") as dsn:
        search.look(dsn, {"n0": "a text that it no longer has"})
    assert {place for place in search.found if "memories" in place or "names" in place or "extraction" in place}
