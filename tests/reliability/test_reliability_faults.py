"""Faults at transaction boundaries of every command that writes: the connection ends there, and the command with it.

The suite takes one boundary of some, `make full` of each; `make soak` (`HOPGATE_SOAK`) kills a process of its own at
all of them, and at a hundred points between them.
"""

import contextlib
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import psycopg
import pytest
from reliability.canary import left_over
from reliability.oracle import broken, digest
from reliability.watch import AFTER_COMMIT, BEFORE_COMMIT, ROLLBACK, watched
from reliability.world import ALL, Command, Databases, commands
from word_endpoint import serving

SOAK = "HOPGATE_SOAK" in os.environ
KILLS = 100
FEW = ("embed", "build", "change", "delete", "mark")
NAMES = [
    command.name if command.name in FEW else pytest.param(command.name, marks=pytest.mark.full)
    for command in commands("", "")
]
ORIGINALS = {memory.external_id: memory.content for memory in ALL}
Connection = psycopg.Connection[Any]


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
def test_a_fault_at_a_boundary_tears_and_loses_nothing(name, databases, specs):
    (command,) = (command for command in commands(*specs) if command.name == name)
    way = walked(command, databases)
    points, kill = [way.boundaries[len(way.boundaries) // 2]], in_process
    if SOAK:
        between = sorted(set(range(way.points)) - set(way.boundaries))
        points, kill = [*way.boundaries, *between[:: max(1, len(between) // KILLS)]], in_child
    kills, wrong = 0, list[str]()
    for point in points:
        with databases.of(command.state) as dsn:
            if kill(command, dsn, point):
                kills += 1
                wrong += [f"{name} at {point}: {what}" for what in judged(command, dsn, way)]
    # Where threads race a run has a point more or less, and the last may not be reached.
    assert len(points) - kills <= len(points) // 20
    assert wrong == []
    sys.stdout.write(f"{name}: {len(way.boundaries)} boundaries, {kills} kills\n")


def test_a_word_that_is_left_is_found(databases):
    with databases.of("built") as dsn:
        found = left_over(dsn, {"n0": "a text that it no longer has"})
    assert {"memories", "concept_names"} <= {place.split()[2].split(".")[0] for place in found}, found


@dataclass
class Way:
    """The points of an uninterrupted run, the state after each of its commits, and the state at its end."""

    points: int = 0
    boundaries: list[int] = field(default_factory=list)
    states: list[dict[str, str]] = field(default_factory=list)
    end: dict[str, str] = field(default_factory=dict)


def walked(command: Command, databases: Databases) -> Way:
    """Run a command to its end."""
    way = Way()
    comparing = command.name != "upgrade"
    with databases.of(command.state) as dsn:
        busy = threading.local()

        def note(connection: Connection, statement: str) -> None:
            if getattr(busy, "looking", False) or statement == ROLLBACK:
                return
            # Where a transaction ends or has just ended; outside one, every statement is a transaction.
            if statement in (BEFORE_COMMIT, AFTER_COMMIT) or connection.autocommit:
                way.boundaries.append(way.points)
                if comparing and (statement == AFTER_COMMIT or connection.autocommit):
                    busy.looking = True
                    if (now := state_of(dsn)[0]) not in way.states:
                        way.states.append(now)
                    busy.looking = False
            way.points += 1

        if comparing:
            way.states.append(state_of(dsn)[0])
        with own_cache(), watched(note):
            command.run(dsn)
        way.end, _ = state_of(dsn)
    return way


def state_of(dsn: str) -> tuple[dict[str, str], dict[str, list[Any]]]:
    """What a store says, and the invariants that do not hold."""
    with psycopg.connect(dsn) as connection:
        return digest(connection), broken(connection)


@contextlib.contextmanager
def own_cache() -> Iterator[Path]:
    """An empty cache of vectors: what is in it is not sent, and so not looked up, which would be another way."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, HOPGATE_CACHE=folder):
        yield Path(folder)


def kill_at(command: Command, dsn: str, point: int, end: Callable[[Connection], None]) -> bool:
    """Run a command up to one of its points, and end it there; say whether it got there."""
    passed = 0

    def count(connection: Connection, statement: str) -> None:
        nonlocal passed
        if statement == ROLLBACK:
            return
        passed += 1
        if passed == point + 1:
            end(connection)

    try:
        with own_cache(), watched(count):
            command.run(dsn)
    except BaseException:
        if passed <= point:
            raise
    return passed > point


class Killed(BaseException):
    """No `except Exception` may save it."""


def in_process(command: Command, dsn: str, point: int) -> bool:
    """End the connection as a killed process does, and what runs by an exception that nothing catches."""

    def end(connection: Connection) -> None:
        connection.close()
        raise Killed

    return kill_at(command, dsn, point, end)


def in_child(command: Command, dsn: str, point: int) -> bool:
    """Kill a process of its own: nothing of it is cleaned up."""
    child = os.fork()
    if child == 0:
        try:
            kill_at(command, dsn, point, lambda _: os.kill(os.getpid(), signal.SIGKILL))
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def judged(command: Command, dsn: str, way: Way) -> Iterator[str]:
    """What is wrong with a store after a kill, and once the command was run again.

    States between two commits, broken invariants, another end than without a kill, and the words of memories that are
    gone or sensitive, wherever they may be left. An upgrade begins without our tables.
    """
    comparing = command.name != "upgrade"
    if comparing:
        state, wrong = state_of(dsn)
        if wrong or state not in way.states:
            yield str(wrong or "a state between two commits")
        yield from left_over(dsn, ORIGINALS)
    with own_cache() as cache:
        command.run(dsn)
        if comparing:
            yield from left_over(dsn, ORIGINALS, cache)
    state, wrong = state_of(dsn)
    if wrong or state != way.end:
        yield f"again: {wrong or [name for name in way.end if state.get(name) != way.end[name]]}"
