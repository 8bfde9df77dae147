"""Databases in the states that commands begin from, and the commands that change them."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest import mock

import psycopg
from reliability.canary import planted

import hopgate
from hopgate import upkeep
from hopgate.corpus import to_record
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory
from hopgate.store import schema

DAY = datetime(2024, 1, 1, tzinfo=UTC)
_TEXTS = [
    "Immich runs on cedar.",
    "Immich moved from cedar to alder in March 2024.",
    "Ada Lovelace lives in London.",
    "Ada Lovelace moved to Leeds.",
    "Bea feeds the cat while Ada is away.",
    "Caddy depends on Redis and Postgres.",
    "The NAS is in the attic.",
    "Jellyfin runs on alder.",
    "The spare key hangs at Bea's house. " * 120,
    "Redis runs on cedar since 2023.",
]
# Each with a word of its own, which must be nowhere once its memory is gone or sensitive.
NOTES = [
    Memory(
        f"n{at}",
        f"{text} {planted(f'n{at}').title()} agrees.",
        created_at=DAY + timedelta(at),
        scope="home" if at % 3 else None,
        tags=("note",),
    )
    for at, text in enumerate(_TEXTS)
]
LATER = [
    Memory("l0", "Caddy runs on birch.", created_at=DAY + timedelta(40)),
    Memory("l1", "Ada Lovelace owns the NAS.", created_at=DAY + timedelta(41)),
]
SECRET = Memory("s0", f"The pin is {planted('s0')}.", is_sensitive=True, created_at=DAY)


@dataclass(frozen=True)
class Command:
    """A command that writes: the state that it begins from, and what it does; done twice it has done it once."""

    name: str
    state: str
    run: Callable[[str], object]


def _opened(work: Callable[[KnowledgeBase], object]) -> Callable[[str], object]:
    def run(dsn: str) -> None:
        with hopgate.open(dsn) as kb:
            work(kb)

    return run


def _there(kb: KnowledgeBase, keys: list[str]) -> list[str]:
    return [key for key in keys if kb.get(key) is not None]


def _add(kb: KnowledgeBase) -> None:
    kb.add(LATER[0])
    # One after the other: side by side its commits have no order of their own.
    with mock.patch.object(upkeep, "FEW", 0):
        kb.upkeep.catch_up([LATER[0].external_id])
    kb.build()


def _delete(kb: KnowledgeBase) -> None:
    if keys := _there(kb, ["n1", "n3", "n8"]):
        kb.delete(keys)


def _mend(kb: KnowledgeBase) -> None:
    log = kb.upkeep.log()
    if not log:
        kb.graph.merge("Redis", "Postgres")
        log = kb.upkeep.log()
    if log[0].undone_at is None:
        kb.upkeep.undo(log[0].id)


@functools.cache
def _files() -> tempfile.TemporaryDirectory[str]:
    """Files to read from; the folder lives as long as the process that asked first, not as one that is killed."""
    folder = tempfile.TemporaryDirectory()
    # Half of the notes a file.
    shards = Path(folder.name, "shards")
    shards.mkdir()
    memories = [*NOTES, SECRET]
    for at in range(2):
        lines = [json.dumps(to_record(memory)) + "\n" for memory in memories[at::2]]
        (shards / f"part-{at}.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder


def _backup() -> Path:
    return Path(_files().name, "made.hopgate")


def backfill(kb: KnowledgeBase, embedder: str) -> None:
    kb.backfill(Path(_files().name, "shards"), embedder=embedder, batch=4)


def _restore(kb: KnowledgeBase) -> None:
    if not len(kb):
        kb.upkeep.restore(_backup())


def commands(first: str, second: str) -> list[Command]:
    """Every command that writes; the two embedders are given by their specs."""
    return [
        Command("ingest", "empty", _opened(lambda kb: kb.load(iter([*NOTES, SECRET])))),
        Command("embed", "loaded", _opened(lambda kb: kb.embed(first))),
        Command("build", "embedded", _opened(lambda kb: kb.build())),
        Command("add", "built", _opened(_add)),
        Command("change", "built", _opened(lambda kb: kb.add(Memory("n0", "Immich is gone.", created_at=DAY)))),
        Command("delete", "built", _opened(_delete)),
        Command("mark", "built", _opened(lambda kb: kb.mark_sensitive(["n1", "n2", "n8"]))),
        Command("reembed", "built", _opened(lambda kb: (kb.reembed(second), kb.build()))),
        Command("rebuild", "grown", _opened(lambda kb: kb.build(rebuild=True))),
        Command("backfill", "empty", _opened(lambda kb: backfill(kb, first))),
        Command("mend", "built", _opened(_mend)),
        Command("restore", "restorable", _opened(_restore)),
        Command("upgrade", "owned", lambda dsn: schema.upgrade(dsn, memories="public.memories")),
    ]


class Databases:
    """Databases of one server, each a copy of a prepared state."""

    def __init__(self, dsn: str, first: str) -> None:
        self._dsn, self._first = dsn, first
        _files()
        self._numbers = itertools.count()
        self._states: dict[str, str] = {}
        self._admin = psycopg.connect(dsn, autocommit=True)

    def close(self) -> None:
        for name in self._states.values():
            self._admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
        self._admin.close()

    @contextlib.contextmanager
    def of(self, state: str) -> Iterator[str]:
        """A database in a state, for one use."""
        name = self._copy(self._state(state))
        try:
            yield self._at(name)
        finally:
            self._admin.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def _state(self, state: str) -> str:
        if state not in self._states:
            before = {"loaded": "empty", "embedded": "loaded", "built": "embedded", "grown": "built"}.get(state)
            name = self._copy(self._state(before) if before else "template1")
            self._prepare(state, self._at(name))
            self._states[state] = name
        return self._states[state]

    def _prepare(self, state: str, dsn: str) -> None:
        if state == "owned":
            with psycopg.connect(dsn) as connection:
                connection.execute(
                    "CREATE TABLE memories (id serial PRIMARY KEY, external_id text, content text, scope text)"
                )
                connection.execute(
                    "INSERT INTO memories (external_id, content, scope) "
                    "SELECT 'm' || n, 'backup ' || n || ' of atlas', 's' || n % 3 FROM generate_series(1, 50) n"
                )
            return
        if state == "restorable":
            with self.of("built") as built, hopgate.open(built) as kb:
                kb.upkeep.backup(_backup())
        with hopgate.open(dsn, upgrade=True) as kb:
            if state == "loaded":
                kb.load(iter([*NOTES, SECRET]))
            elif state == "embedded":
                kb.embed(self._first)
            elif state == "built":
                kb.build()
            elif state == "grown":
                kb.add(*LATER)

    def _copy(self, template: str) -> str:
        name = f"state_{next(self._numbers)}"
        self._admin.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def _at(self, name: str) -> str:
        return self._dsn.replace("dbname=postgres", f"dbname={name}")
