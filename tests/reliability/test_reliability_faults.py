"""A fault at every transaction boundary of every command that writes: nothing torn, nothing lost, the same end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from reliability.faults import Count, in_process, kill_at, walked
from reliability.world import Databases, commands
from word_endpoint import serving

from hopgate.store.server.process import EmbeddedServer

NAMES = [command.name for command in commands("", "")]


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
def test_a_fault_at_a_boundary(name: str, databases: Databases, specs: tuple[str, str]) -> None:
    """The suite takes a few boundaries of each command; `make soak` takes all, and points between them."""
    (command,) = (command for command in commands(*specs) if command.name == name)
    way, expected = walked(command, databases)
    count = Count()
    points = way.boundaries[:: max(1, len(way.boundaries) // 3)][-3:]
    for point in points:
        with databases.of(command.state) as dsn:
            assert kill_at(command, dsn, point, in_process)
            count.judge(command, dsn, point, way, expected)
    assert (count.kills, count.torn, count.lost) == (len(points), 0, 0), count.examples
