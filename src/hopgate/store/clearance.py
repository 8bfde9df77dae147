"""Which memories may be read now, asked of the store: for a page, before each request, and while it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hopgate.errors import WithdrawnError
from hopgate.memory import Memory
from hopgate.store import memories, setting_rows
from hopgate.store.rows import Connection, values

if TYPE_CHECKING:
    from hopgate.store.store import Store


def open_memories(connection: Connection, ids: Sequence[int], *, lock: bool = False) -> dict[int, Memory]:
    """Those of the memories that are sensitive neither by their own flag nor by a rule of the store, by id.

    With `lock` they stay so until the transaction ends: who marks, changes or deletes one waits.
    """
    if lock:
        shared = "SELECT id FROM memories WHERE id = ANY(%s) AND NOT is_sensitive ORDER BY id FOR SHARE"
        ids = values(connection, shared, (list(ids),))
    known = memories.fetch_by_id(connection, ids)
    # After the memories: a rule that came meanwhile holds, too.
    rules = setting_rows.sensitivity(connection)
    return {
        key: memory for key, memory in known.items() if not (memory.is_sensitive or (rules and rules.meets(memory)))
    }


def set_sensitive(connection: Connection, ids: Sequence[int], sensitive: bool = True) -> int:
    """Mark memories, or take the mark away; give how many changed. What was made of them is the caller's to remove."""
    done = connection.execute(
        "UPDATE memories SET is_sensitive = %(to)s WHERE id = ANY(%(ids)s) AND is_sensitive IS DISTINCT FROM %(to)s",
        {"ids": list(ids), "to": sensitive},
    )
    return done.rowcount


@dataclass(frozen=True, slots=True)
class StoreGuard:
    """Looks into a store whether texts on their way to a model may still be read.

    `still`, given a connection and whether to lock what it looks at, says whether all of them may. It is a function of
    a module with what it needs beside these, where texts go to another process, which looks for itself.
    """

    store: Store
    still: Callable[[Connection, bool], bool]

    def check(self) -> None:
        """Look now."""
        with self.holding(lock=False):
            pass

    @contextmanager
    def holding(self, *, lock: bool = True) -> Iterator[None]:
        """Look now, and let nothing of it change until the block ends."""
        with self.store.transaction() as connection:
            if not self.still(connection, lock):
                raise WithdrawnError(
                    "a memory turned sensitive, changed or was deleted while it was read: run this again"
                )
            yield


def memory_guard(store: Store, read: Mapping[int, Memory]) -> StoreGuard:
    """Guard memories on their way to a model: each must be open, and its content the one that was read."""

    def still(connection: Connection, lock: bool) -> bool:
        now = open_memories(connection, list(read), lock=lock)
        return all(key in now and now[key].content == memory.content for key, memory in read.items())

    return StoreGuard(store, still)
