"""Two writers at once: one waits before one of its locks until the other has ended, or waits for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psycopg
from reliability.oracle import broken
from reliability.watch import taken, watched
from reliability.world import DAY, LATER, NOTES, backfill

import hopgate
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory
from hopgate.store import connect

Work = Callable[[KnowledgeBase], object]
# A pause ends at the latest after so many seconds: then the other is neither done nor seen to wait, and it goes on.
AT_MOST = 20.0


def writers(first: str, second: str) -> dict[str, Work]:
    """What is raced against each other, and against itself."""
    turned = [Memory(note.external_id, note.text + " So it is.", created_at=DAY) for note in reversed(NOTES)]
    return {
        "load": lambda kb: kb.load(iter(turned)),
        "add": lambda kb: kb.add(*reversed(turned[:4])),
        "add one": lambda kb: kb.add(LATER[1]),
        "catch up": lambda kb: (kb.add(LATER[0]), kb.upkeep.catch_up([LATER[0].external_id])),
        "embed": lambda kb: kb.embed(first),
        "build": lambda kb: kb.build(single_valued=["lives in"]),
        "rebuild": lambda kb: kb.build(rebuild=True),
        "mark": lambda kb: kb.mark_sensitive(["n3", "n0"]),
        "delete": _delete,
        "merge": _merge,
        "reembed": lambda kb: kb.reembed(second),
        "backfill": lambda kb: backfill(kb, first),
        "language": lambda kb: kb.language("german"),
    }


def _delete(kb: KnowledgeBase) -> None:
    if keys := [key for key in ("n9", "n1") if kb.get(key) is not None]:
        try:
            kb.delete(keys)
        except hopgate.HopgateError as error:
            # The other one was quicker.
            assert "there is no memory" in str(error)


def _merge(kb: KnowledgeBase) -> None:
    try:
        kb.graph.merge("Redis", "Postgres")
    except hopgate.HopgateError as error:
        assert "merged with itself" in str(error) or "there is no concept" in str(error)


@dataclass(frozen=True)
class Raced:
    """What came of a race: how many locks the first one took, how often either began again, and what broke."""

    locks: int
    conflicts: int
    errors: tuple[str, ...]


def race(dsn: str, one: Work, other: Work, pause: int) -> Raced:
    """Let one writer pause before its lock of this number, and the other run meanwhile."""
    locks, conflicts = 0, 0
    errors: list[str] = []
    started, ended = threading.Event(), threading.Event()
    ours = threading.local()

    def hook(_: psycopg.Connection[Any], statement: str) -> None:
        nonlocal locks
        if getattr(ours, "pauses", False) and taken(statement):
            if locks == pause:
                started.set()
                _wait(dsn, ended)
            locks += 1

    def run(work: Work, pauses: bool) -> None:
        ours.pauses = pauses
        try:
            with hopgate.open(dsn) as kb:
                if not pauses:
                    started.wait(AT_MOST)
                work(kb)
        except BaseException as error:
            errors.append(f"{type(error).__name__}: {error}")
        finally:
            (started if pauses else ended).set()

    class Counted(connect.ConflictError):  # type: ignore[misc, name-defined]
        def __init__(self, *arguments: object) -> None:
            nonlocal conflicts
            conflicts += 1
            super().__init__(*arguments)

    before = connect.ConflictError
    connect.ConflictError = Counted  # type: ignore[misc, assignment]
    try:
        with watched(hook):
            both = [
                threading.Thread(target=run, args=(work, work is one_)) for work, one_ in ((one, one), (other, None))
            ]
            for thread in both:
                thread.start()
            for thread in both:
                thread.join()
    finally:
        connect.ConflictError = before  # type: ignore[misc]
    with psycopg.connect(dsn) as connection:
        errors += [f"{name}: {rows}" for name, rows in broken(connection).items()]
    return Raced(locks, conflicts, tuple(errors))


def _wait(dsn: str, ended: threading.Event) -> None:
    """Until the other one has ended, or waits for a lock."""
    deadline = time.monotonic() + AT_MOST
    with psycopg.connect(dsn, autocommit=True) as connection:
        while not ended.wait(0.01) and time.monotonic() < deadline:
            row = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            ).fetchone()
            if row and row[0]:
                return
