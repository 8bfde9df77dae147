"""Memories into parts by scope, or back into one table, while others read and write them; what was stopped goes on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg

from hopgate.errors import HopgateError
from hopgate.store import connect, index_memory
from hopgate.store.partition import copy_rows, layout, next_table, swap
from hopgate.store.partition.layout import KEYS
from hopgate.store.schema import OWN, search_path

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.store.store import Store

Progress = Callable[[int], None]
# How long another run or an upgrade is waited for.
PATIENCE = "5s"


@dataclass(frozen=True, slots=True)
class Partitioned:
    """What a run did.

    Parameters
    ----------
    parts : int
        Into how many parts memories are divided now; 1 is one table.
    copied : int
        How many rows this run copied.
    resumed : bool
        Whether it went on where another had stopped.
    """

    parts: int
    copied: int
    resumed: bool = False


def partition(store: Store, parts: int, progress: Progress | None = None) -> Partitioned:
    """Divide memories into parts by the hash of their scope, or make one table of them again with 1.

    A copy is filled beside the table in batches, what changes meanwhile is read again, indexes are built on the copy,
    and one short transaction puts it in the table's place. A run that was killed goes on where it stopped.
    """
    if isinstance(parts, bool) or not isinstance(parts, int) or not 1 <= parts <= layout.MOST_PARTS:
        raise HopgateError(f"parts is a number from 1, which is one table, to {layout.MOST_PARTS:,}, not {parts!r}")
    with _alone(store) as connection:
        with _committed(connection):
            layout.check(connection)
            state, before = layout.run_state(connection), layout.parts(connection)
        if state is None and before == parts:
            with _committed(connection):
                swap.validate(connection)
            return Partitioned(parts, 0)
        if state is not None and state.parts != parts:
            raise HopgateError(
                f"a run into {state.parts} parts was not finished: go on with --parts {state.parts}, or give it up "
                "with hopgate db partition --undo"
            )
        copied = 0
        while True:
            copied += _fill(connection, parts, progress)
            with _committed(connection):
                if swap.swap(connection, parts):
                    break
        with _committed(connection):
            swap.validate(connection)
        with _committed(connection):
            connection.execute(f"ANALYZE {OWN}, {KEYS}")
    return Partitioned(parts, copied, state is not None)


def abandon(store: Store) -> bool:
    """Give up what a run that was stopped has copied; say whether there was any."""
    with _alone(store) as connection, _committed(connection):
        state = layout.run_state(connection)
        if state is not None:
            next_table.drop(connection)
        return state is not None


def _fill(connection: Connection[Any], parts: int, progress: Progress | None) -> int:
    """Make the copy, or go on with it, until it has all rows and indexes, or the memories got other columns."""
    with _committed(connection):
        state = layout.run_state(connection)
        if state is not None and not next_table.current(connection):
            next_table.drop(connection)
            state = None
        if state is None:
            next_table.make(connection, parts)
    copied = 0
    while more := _copy_some(connection):
        copied += more
        if progress:
            progress(more)
    with _committed(connection):
        missing = next_table.missing_indexes(connection, parts) if next_table.current(connection) else []
    for statement in missing:
        with _committed(connection):
            _index(connection, statement)
    # What came while the indexes were built, so that little is left for the swap.
    return copied + _copy_some(connection)


def _copy_some(connection: Connection[Any]) -> int:
    """Copy the next rows; none where all are copied, or the copy is of no use any more."""
    with _committed(connection):
        copy_rows.hold(connection)
        return copy_rows.copy(connection, copy_rows.BATCH) if next_table.current(connection) else 0


def _index(connection: Connection[Any], statement: str) -> None:
    """Make an index of the copy."""
    if "USING hnsw" in statement:
        index_memory.build(connection, layout.NEXT, statement)
    else:
        connection.execute(statement)


@contextlib.contextmanager
def _alone(store: Store) -> Iterator[Connection[Any]]:
    """A connection of one's own, while no other run and no upgrade is under way."""
    with connect.explained(), contextlib.closing(connect.connect(store.dsn)) as connection:
        with _committed(connection):
            # The server takes a moment to notice that a process was killed.
            connection.execute("SELECT set_config('lock_timeout', %s, true)", (PATIENCE,))
            try:
                connection.execute("SELECT pg_advisory_lock(hashtext('hopgate schema'))")
            except psycopg.errors.LockNotAvailable:
                raise HopgateError(
                    "another process partitions or upgrades this store: wait until it has ended"
                ) from None
            if path := search_path(connection):
                connection.execute(f"SET search_path = {path}")
        try:
            yield connection
        finally:
            # The server notices some time later that a connection is closed.
            with contextlib.suppress(psycopg.Error), _committed(connection):
                connection.execute("SELECT pg_advisory_unlock(hashtext('hopgate schema'))")


@contextlib.contextmanager
def _committed(connection: Connection[Any]) -> Iterator[None]:
    """One transaction: committed at the end, rolled back on an error."""
    try:
        yield
    except BaseException:
        if not connection.closed:
            connection.rollback()
        raise
    connection.commit()
