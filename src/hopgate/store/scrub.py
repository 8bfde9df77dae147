"""What deletion leaves on the disk: dead rows, statistics and the write-ahead log, made anew or recycled.

A deleted row stays in its page until the page is written anew, and what was written stays in the log until its file is
used again. This is the one place that deals with both, and it says what it cannot reach.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, LiteralString

from psycopg import errors

from hopgate.store import connect, index_memory, schema
from hopgate.store.partition import layout

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.store.store import Store

# The tables that hopgate reads and writes; an owner's others are left alone. One in parts has samples of its own, and
# its rows are in the parts.
_TABLES = (
    f"SELECT c.oid::regclass::text, c.relkind = 'p', EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid "
    f"AND attname = 'embedding' AND NOT attisdropped) FROM pg_class c WHERE c.relkind IN ('r', 'p') "
    f"AND ({schema.IS_OWN}) AND pg_has_role(c.relowner, 'USAGE') ORDER BY 2, 1"
)
BEYOND = (
    "backups, exports, replicas and archives of the log keep what they copied",
    "the file system and the disk may keep blocks of files that were removed",
)
# A checkpoint removes the log's files that the one before it no longer needed.
ROUNDS = 3
SETTLED_S = 10.0


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """What was made anew, and what may still hold something."""

    tables: int
    done: tuple[str, ...]
    left: tuple[str, ...]


def scrub(store: Store) -> Scrubbed:
    """Write every table anew, and let the log go on to fresh files; each table is locked while it is written."""
    done, left = [], list(BEYOND)
    with connect.explained(), contextlib.closing(connect.connect(store.dsn)) as connection:
        with connection.transaction():
            if path := schema.search_path(connection):
                connection.execute(f"SET search_path = {path}")
            tables = connection.execute(_TABLES).fetchall()
            if layout.run_state(connection) is not None:
                left.append("a copy that hopgate db partition did not finish: go on with it, or give it up with --undo")
        connection.autocommit = True
        for table, in_parts, embedded in tables:
            statement = f"ANALYZE {table}" if in_parts else f"VACUUM (FULL, ANALYZE) {table}"
            if embedded and not in_parts:
                # Its indexes are built anew.
                index_memory.build(connection, table, statement)
            else:
                connection.execute(statement)
        done.append(f"{len(tables)} tables were written anew, with their statistics")
        for what, statements in (
            ("the planner's statistics were written anew", ("VACUUM FULL pg_statistic",)),
            ("the log goes on in a new file", ("SELECT pg_switch_wal()",)),
        ):
            if not _allowed(connection, *statements):
                left.append(f"not allowed to this user: {statements[0]}")
            else:
                done.append(what)
        if store.directory is None:
            if _allowed(connection, *["CHECKPOINT"] * ROUNDS):
                done.append("a checkpoint freed the log's old files")
            left.append("old files of the server's log are used again only as it goes on writing")
        else:
            with _without_recycling(connection):
                for _ in range(ROUNDS):
                    connection.execute("SELECT pg_switch_wal()")
                    connection.execute("CHECKPOINT")
            done.append("the log's old files were removed")
    return Scrubbed(len(tables), tuple(done), tuple(left))


def _allowed(connection: Connection[Any], *statements: LiteralString) -> bool:
    """Run what an ordinary user of a server may not; say whether it ran."""
    try:
        for statement in statements:
            connection.execute(statement)
    except errors.InsufficientPrivilege:
        return False
    return True


@contextlib.contextmanager
def _without_recycling(connection: Connection[Any]) -> Iterator[None]:
    """Let the embedded server remove its log's old files for a while, instead of keeping them to write over."""
    changed = {"wal_recycle": "off", "min_wal_size": "32MB"}
    try:
        for name, value in changed.items():
            connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        _reload(connection, "off")
        yield
    finally:
        for name in changed:
            connection.execute(f"ALTER SYSTEM RESET {name}")
        _reload(connection, "on")


def _reload(connection: Connection[Any], recycling: str) -> None:
    """Read the settings again, and wait until they hold."""
    connection.execute("SELECT pg_reload_conf()")
    until = time.monotonic() + SETTLED_S
    while time.monotonic() < until:
        row = connection.execute("SELECT current_setting('wal_recycle')").fetchone()
        if row == (recycling,):
            return
        time.sleep(0.02)
