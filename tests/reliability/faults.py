"""Kill a command at a point of its way, by injection: the connection ends there, and the command with it."""

import contextlib
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import psycopg
from reliability.canary import left_over
from reliability.oracle import broken, digest
from reliability.watch import AFTER_COMMIT, BEFORE_COMMIT, ROLLBACK, watched
from reliability.world import ALL, Command, Databases

ORIGINALS = {memory.external_id: memory.content for memory in ALL}


class Killed(BaseException):
    """No `except Exception` may save it."""


def is_boundary(connection: psycopg.Connection[Any], statement: str) -> bool:
    """Whether a transaction ends or has just ended here; outside one, every statement is a transaction."""
    return statement in (BEFORE_COMMIT, AFTER_COMMIT) or (connection.autocommit and statement != ROLLBACK)


@dataclass
class Way:
    """The points of an uninterrupted run, and the state after each of its commits."""

    points: int = 0
    boundaries: list[int] = field(default_factory=list)
    states: list[dict[str, str]] = field(default_factory=list)


def state_of(dsn: str) -> dict[str, str]:
    with psycopg.connect(dsn) as connection:
        return digest(connection)


@contextlib.contextmanager
def _own_cache() -> Iterator[Path]:
    """An empty cache of vectors: what is in it is not sent, and so not looked up, which would be another way."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, HOPGATE_CACHE=folder):
        yield Path(folder)


def walked(command: Command, databases: Databases) -> tuple[Way, dict[str, str]]:
    """Run a command to its end; note its points, and what the store says after each commit and at the end."""
    way = Way()
    comparing = command.name != "upgrade"
    with databases.of(command.state) as dsn:
        busy = threading.local()

        def note(connection: psycopg.Connection[Any], statement: str) -> None:
            if getattr(busy, "looking", False) or statement == ROLLBACK:
                return
            if is_boundary(connection, statement):
                way.boundaries.append(way.points)
                if comparing and (statement == AFTER_COMMIT or connection.autocommit):
                    busy.looking = True
                    if (now := state_of(dsn)) not in way.states:
                        way.states.append(now)
                    busy.looking = False
            way.points += 1

        if comparing:
            way.states.append(state_of(dsn))
        with _own_cache(), watched(note):
            command.run(dsn)
        return way, state_of(dsn)


def kill_at(command: Command, dsn: str, point: int, end: Callable[[psycopg.Connection[Any]], None]) -> bool:
    """Run a command up to one of its points, and end it there; say whether it got there."""
    seen = 0

    def count(connection: psycopg.Connection[Any], statement: str) -> None:
        nonlocal seen
        if statement == ROLLBACK:
            return
        seen += 1
        if seen == point + 1:
            end(connection)

    try:
        with _own_cache(), watched(count):
            command.run(dsn)
    except BaseException:
        if seen <= point:
            raise
    return seen > point


def _end(connection: psycopg.Connection[Any]) -> None:
    """End the connection as a killed process does, and what runs."""
    connection.close()
    raise Killed


def in_process(command: Command, dsn: str, point: int) -> bool:
    """Kill the command by an exception that nothing catches."""
    return kill_at(command, dsn, point, _end)


def in_child(command: Command, dsn: str, point: int) -> bool:
    """Kill a process of its own: nothing of it is cleaned up."""
    child = os.fork()
    if child == 0:
        try:
            kill_at(command, dsn, point, lambda _: os._exit(9))
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


@dataclass
class Count:
    """What came of kills."""

    kills: int = 0
    # States between two commits, broken invariants, and other ends than without a kill.
    wrong: list[str] = field(default_factory=list)
    # The words of memories that are gone or sensitive, wherever they may be left: after the kill, and at the end.
    left: list[str] = field(default_factory=list)

    def judge(self, command: Command, dsn: str, point: int, way: Way, expected: dict[str, str]) -> None:
        """Look at a store after a kill, then run the command again and look at its end."""
        self.kills += 1
        # An upgrade begins without our tables.
        if command.name != "upgrade":
            with psycopg.connect(dsn) as connection:
                state, wrong = digest(connection), broken(connection)
            if wrong or state not in way.states:
                self.wrong.append(f"{command.name} at {point}: {wrong or 'a state between two commits'}")
            self.left += left_over(dsn, ORIGINALS)
        with _own_cache() as cache:
            command.run(dsn)
            if command.name != "upgrade":
                self.left += left_over(dsn, ORIGINALS, cache)
        with psycopg.connect(dsn) as connection:
            state, wrong = digest(connection), broken(connection)
        if wrong or state != expected:
            differing = [name for name in expected if state.get(name) != expected[name]]
            self.wrong.append(f"{command.name} again after {point}: {wrong or differing}")
