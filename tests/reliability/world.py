"""Databases in the states that commands begin from, and the commands that change them."""

import atexit
import contextlib
import functools
import json
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
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
ALL = [*NOTES, SECRET]


@dataclass(frozen=True)
class Command:
    """A command that writes: the state that it begins from, and what it does; done twice it has done it once."""

    name: str
    state: str
    run: Callable[[str], object]


def _opened(work: Callable[[KnowledgeBase], object]) -> Callable[[str], None]:
    def run(dsn: str) -> None:
        with hopgate.open(dsn, upgrade=True) as kb:
            work(kb)

    return run


def _add(kb: KnowledgeBase) -> None:
    kb.add(LATER[0])
    # One after the other: side by side its commits have no order of their own.
    with mock.patch.object(upkeep, "FEW", 0):
        kb.upkeep.catch_up([LATER[0].external_id])
    kb.build()


def _delete(kb: KnowledgeBase) -> None:
    if keys := [key for key in ("n1", "n3", "n8") if kb.get(key) is not None]:
        kb.delete(keys)


def _mend(kb: KnowledgeBase) -> None:
    log = kb.upkeep.log()
    if not log:
        kb.graph.merge("Redis", "Postgres")
        log = kb.upkeep.log()
    if log[0].undone_at is None:
        kb.upkeep.undo(log[0].id)


@functools.cache
def _files() -> Path:
    """A folder of files to read from; it goes with the process that asked first, not with one that is killed."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    # Half of the notes a file.
    shards = Path(folder.name, "shards")
    shards.mkdir()
    for at in range(2):
        lines = [json.dumps(to_record(memory)) + "\n" for memory in ALL[at::2]]
        (shards / f"part-{at}.jsonl").write_text("".join(lines), encoding="utf-8")
    return Path(folder.name)


def _restore(kb: KnowledgeBase) -> None:
    if not len(kb):
        kb.upkeep.restore(_files() / "made.hopgate")


def commands(first: str, second: str) -> list[Command]:
    """Every command that writes; the two embedders are given by their specs."""
    return [
        Command("ingest", "empty", _opened(lambda kb: kb.load(iter(ALL)))),
        Command("embed", "loaded", _opened(lambda kb: kb.embed(first))),
        Command("build", "embedded", _opened(lambda kb: kb.build())),
        Command("add", "built", _opened(_add)),
        Command("change", "built", _opened(lambda kb: kb.add(Memory("n0", "Immich is gone.", created_at=DAY)))),
        Command("delete", "built", _opened(_delete)),
        Command("mark", "built", _opened(lambda kb: kb.mark_sensitive(["n1", "n2", "n8"]))),
        Command("reembed", "built", _opened(lambda kb: (kb.reembed(second), kb.build()))),
        Command("rebuild", "grown", _opened(lambda kb: kb.build(rebuild=True))),
        Command("backfill", "empty", _opened(lambda kb: kb.backfill(_files() / "shards", embedder=first, batch=4))),
        Command("mend", "built", _opened(_mend)),
        Command("restore", "restorable", _opened(_restore)),
        Command("upgrade", "owned", lambda dsn: schema.upgrade(dsn, memories="public.memories")),
    ]


def _owned(dsn: str, _: str) -> None:
    with psycopg.connect(dsn) as connection:
        connection.execute("CREATE TABLE memories (id serial PRIMARY KEY, external_id text, content text, scope text)")
        connection.execute(
            "INSERT INTO memories (external_id, content, scope) "
            "SELECT 'm' || n, 'backup ' || n || ' of atlas', 's' || n % 3 FROM generate_series(1, 50) n"
        )


# The state before, and what is done to come to this one, with an embedder.
STATES: dict[str, tuple[str, Callable[[str, str], None]]] = {
    "owned": ("", _owned),
    "empty": ("", lambda dsn, _: schema.upgrade(dsn)),
    "loaded": ("empty", lambda dsn, _: _opened(lambda kb: kb.load(iter(ALL)))(dsn)),
    "embedded": ("loaded", lambda dsn, spec: _opened(lambda kb: kb.embed(spec))(dsn)),
    "built": ("embedded", lambda dsn, _: _opened(lambda kb: kb.build())(dsn)),
    "grown": ("built", lambda dsn, _: _opened(lambda kb: kb.add(*LATER))(dsn)),
}


class Databases(contextlib.ExitStack):
    """Databases in such states, each a copy of one that was prepared once."""

    def __init__(self, new_database: Callable[[str], AbstractContextManager[str]], embedder: str) -> None:
        super().__init__()
        self._new, self._embedder = new_database, embedder
        self._names: dict[str, str] = {"": "template1"}
        _files()

    def of(self, state: str) -> AbstractContextManager[str]:
        """A database in a state, for one use."""
        if state == "restorable":
            if not (path := _files() / "made.hopgate").exists():
                with self.of("built") as built:
                    _opened(lambda kb: kb.upkeep.backup(path))(built)
            state = "empty"
        return self._new(self._name(state))

    def _name(self, state: str) -> str:
        if state not in self._names:
            before, prepare = STATES[state]
            dsn = self.enter_context(self._new(self._name(before)))
            prepare(dsn, self._embedder)
            self._names[state] = dsn.rpartition("dbname=")[2]
        return self._names[state]
