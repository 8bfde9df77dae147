"""A store and a SQLite file in step: what is new, changed, gone or sensitive on one side becomes so on the other.

The file remembers in `hopgate_sync` what both sides had the last time: a side that differs from it was changed since.
The store is written first and the file last, in one transaction with what it remembers, so that a run that is killed is
finished by the next.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopgate.corpus import parse_memory
from hopgate.errors import HopgateError
from hopgate.memory import Memory
from hopgate.memory_writer import once_each
from hopgate.sources.database import connected, own_record
from hopgate.sources.source import ReadOptions
from hopgate.store import memories, setting_rows
from hopgate.store.sqlite import insertion, to_values

if TYPE_CHECKING:
    from hopgate.guard import SensitivityRules
    from hopgate.memory_writer import MemoryWriter
    from hopgate.store.store import Store

# What stands for a memory that is sensitive, whatever it says; of others a digest does.
SENSITIVE = "sensitive"
# When a memory was written down does not change, and a side that does not know gives another time.
_LEFT_OUT = ("external_id", "is_sensitive", "created_at")


@dataclass(frozen=True, slots=True)
class Synced:
    """How many memories were written, removed or marked to make both sides equal."""

    to_store: int = 0
    to_file: int = 0
    deleted: int = 0
    marked: int = 0
    both_changed: tuple[str, ...] = ()  # ids that both sides had changed: the store's stands

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        parts = [f"{self.to_store:,} into the store", f"{self.to_file:,} into the file", f"{self.deleted:,} deleted"]
        parts.append(f"{self.marked:,} marked sensitive")
        if self.both_changed:
            first = ", ".join(self.both_changed[:5])
            parts.append(f"{len(self.both_changed):,} changed on both sides, where the store's stands: {first}")
        return "; ".join(parts)


def sync(store: Store, writer: MemoryWriter, path: Path) -> Synced:
    """Bring a store and a SQLite file of memories in step.

    A sensitive memory never moves: where the other side has it, it is marked there. What is gone on one side goes on
    the other, even where that had changed it.
    """
    with store.transaction() as connection:
        rules = setting_rows.sensitivity(connection)
        here = {memory.external_id: memory for memory in rules.applied(memories.stream(connection))}
    with _locked(path) as file:
        there = file.memories(rules)
        plan = Plan.of(file.states(here), file.states(there), file.remembered())
        if new := [_with_fields(there[key], here.get(key)) for key in plan.to_store]:
            writer.write(new)
        if opened := [key for key in plan.to_store if key in here and here[key].is_sensitive]:
            writer.unmark_sensitive(opened)
        if gone := [key for key in plan.deleted if key in here]:
            writer.delete(gone)
        if marked := [key for key in plan.marked if not here[key].is_sensitive]:
            writer.mark_sensitive(marked)
        file.write([here[key] for key in plan.to_file], plan.deleted, plan.marked)
        file.remember(plan.remembered)
    return Synced(len(plan.to_store), len(plan.to_file), len(plan.deleted), len(plan.marked), tuple(plan.both_changed))


def _with_fields(memory: Memory, known: Memory | None) -> Memory:
    """A memory of the file with the fields that the file has no columns for, as the store knows them."""
    if known is None:
        return memory
    same = memory.content == known.content
    title, text = (known.title, known.text) if same else ("", memory.text)
    kept = {name: getattr(memory, name) for name in ("tags", "expanded_keywords", "category", "importance", "scope")}
    return replace(known, title=title, text=text, is_sensitive=False, **kept)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done to make two sides equal: ids."""

    to_store: list[str]
    to_file: list[str]
    deleted: list[str]
    marked: list[str]
    both_changed: list[str]
    remembered: dict[str, str]  # what both sides have then

    @classmethod
    def of(cls, here: Mapping[str, str], there: Mapping[str, str], remembered: Mapping[str, str]) -> Plan:
        """Compare the states of the store, of the file, and of both the last time.

        Examples
        --------
        >>> plan = Plan.of({"a": "1", "b": "1", "c": "2"}, {"a": "1", "c": "1", "d": "1"}, {"b": "1", "c": "1"})
        >>> plan.to_store, plan.to_file, plan.deleted
        (['d'], ['c'], ['b'])
        """
        plan = cls([], [], [], [], [], {})
        for key in sorted({*here, *there}):
            mine, theirs, before = here.get(key), there.get(key), remembered.get(key)
            if mine is None or theirs is None:
                only = mine or theirs
                if before is not None:
                    plan.deleted.append(key)
                elif only is not None and only != SENSITIVE:
                    (plan.to_file if mine else plan.to_store).append(key)
                    plan.remembered[key] = only
                continue
            changed = mine != theirs
            both = changed and before not in (mine, theirs)
            state = theirs if mine == before else SENSITIVE if both and theirs == SENSITIVE else mine
            plan.remembered[key] = state
            if both and state != SENSITIVE:
                plan.both_changed.append(key)
            if changed and state == SENSITIVE:
                plan.marked.append(key)
            elif changed:
                (plan.to_file if state == mine else plan.to_store).append(key)
        return plan


@contextmanager
def _locked(path: Path) -> Iterator[_File]:
    """Open a SQLite file of memories so that nobody else writes it until it is done."""
    if not path.is_file():
        raise HopgateError(f"{path} is not a file: make one with hopgate export --format sqlite --out {path}")
    try:
        with closing(connected(path.resolve().as_uri(), timeout=30)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield _File(connection, path)
            connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise HopgateError(f"{path} cannot be kept in step ({error}): is it a SQLite file of memories?") from error


class _File:
    """The side of the file, within one transaction."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection, self._path = connection, path
        self._columns = [row[1] for row in connection.execute("PRAGMA table_info(memories)")]
        self._key = "external_id" if "external_id" in self._columns else "id"
        kind = connection.execute("SELECT type FROM sqlite_master WHERE name = 'memories'").fetchone()
        if kind != ("table",):
            raise HopgateError(f"{path} has no table memories: is it a SQLite file of memories?")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS hopgate_sync (external_id TEXT PRIMARY KEY, state TEXT NOT NULL)"
        )

    def memories(self, rules: SensitivityRules) -> dict[str, Memory]:
        """Read all rows; one that is no memory ends it."""
        found = self._connection.execute("SELECT * FROM memories")
        names = [column[0] for column in found.description]
        read = []
        try:
            for row in found:
                record = own_record(dict(zip(names, row, strict=True)), ReadOptions())
                read.append(parse_memory(record, keep_unknown=True))
        except HopgateError as error:
            raise HopgateError(f"{self._path}, row {len(read) + 1}: {error}") from None
        return {memory.external_id: memory for memory in rules.applied(once_each(read))}

    def states(self, side: Mapping[str, Memory]) -> dict[str, str]:
        """Say in short what a side holds, as far as the file has columns for it."""
        compared = [name for name in self._columns if name not in _LEFT_OUT]

        def state(memory: Memory) -> str:
            values = to_values(memory)
            held = json.dumps([values[name] for name in compared if name in values])
            return hashlib.sha256(held.encode("utf-8", "surrogatepass")).hexdigest()[:32]

        return {key: SENSITIVE if memory.is_sensitive else state(memory) for key, memory in side.items()}

    def remembered(self) -> dict[str, str]:
        """What both sides had the last time."""
        return dict(self._connection.execute("SELECT external_id, state FROM hopgate_sync"))

    def remember(self, states: Mapping[str, str]) -> None:
        """Note what both sides have now."""
        self._connection.execute("DELETE FROM hopgate_sync")
        self._connection.executemany("INSERT INTO hopgate_sync VALUES (?, ?)", states.items())

    def write(self, new: Iterable[Memory], deleted: Iterable[str], marked: Iterable[str]) -> None:
        """Write and remove rows and mark others, and bring the index of words up where no trigger of the file does."""
        execute = self._connection.execute
        for memory in new:
            values = {name: value for name, value in to_values(memory).items() if name in (*self._columns, self._key)}
            if self._key == "id":
                if not re.fullmatch("[0-9]{1,18}", memory.external_id):
                    raise HopgateError(
                        f"{self._path} has no column external_id for the store's memory {memory.external_id[:80]!r}: "
                        "add one"
                    )
                values["id"] = int(memory.external_id)
            changes = ", ".join(f"{name} = :{name}" for name in values if name != self._key)
            if not execute(f"UPDATE memories SET {changes} WHERE {self._key} = :{self._key}", values).rowcount:
                execute(insertion(values), values)
        for key in deleted:
            execute(f"DELETE FROM memories WHERE {self._key} = ?", (key,))
        for key in marked:
            execute(f"UPDATE memories SET is_sensitive = 1 WHERE {self._key} = ?", (key,))
        if not execute("SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'memories'").fetchone():
            execute("INSERT INTO memories_fts(memories_fts) VALUES ('rebuild')")
