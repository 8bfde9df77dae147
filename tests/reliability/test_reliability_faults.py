"""Faults at transaction boundaries of every command that writes.

The suite takes one boundary of some, `make full` of each; `make soak` (`HOPGATE_SOAK`) kills a process of its own at
all of them, and at a hundred points between them.
"""

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from reliability.canary import left_over
from reliability.faults import Count, in_child, in_process, walked
from reliability.world import Databases, commands
from word_endpoint import serving

SOAK = "HOPGATE_SOAK" in os.environ
KILLS = 100
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
def databases(new_database: Any, specs: tuple[str, str]) -> Iterator[Databases]:
    with Databases(new_database, specs[0]) as made:
        yield made


@pytest.mark.timeout(0 if SOAK else 900)
@pytest.mark.parametrize("name", NAMES)
def test_a_fault_at_a_boundary_tears_and_loses_nothing(name: str, databases: Databases, specs: tuple[str, str]) -> None:
    (command,) = (command for command in commands(*specs) if command.name == name)
    way, expected = walked(command, databases)
    count, points, kill = Count(), [way.boundaries[len(way.boundaries) // 2]], in_process
    if SOAK:
        between = sorted(set(range(way.points)) - set(way.boundaries))
        points, kill = [*way.boundaries, *between[:: max(1, len(between) // KILLS)]], in_child
    for point in points:
        with databases.of(command.state) as dsn:
            if kill(command, dsn, point):
                count.judge(command, dsn, point, way, expected)
    # Where threads race a run has a point more or less, and the last may not be reached.
    assert len(points) - count.kills <= len(points) // 20
    assert (count.wrong, count.left) == ([], [])
    sys.stdout.write(f"{name}: {len(way.boundaries)} boundaries, {count.kills} kills\n")


def test_a_word_that_is_left_is_found(databases: Databases) -> None:
    with databases.of("built") as dsn:
        found = left_over(dsn, {"n0": "a text that it no longer has"})
    assert {"memories", "concept_names"} <= {place.split()[2].split(".")[0] for place in found}, found
