"""A SQLite file of memories with its FTS5 index, written whole or not at all."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.memory import Memory

_SCHEMA = """
CREATE TABLE memories (
    id INTEGER PRIMARY KEY, external_id TEXT NOT NULL UNIQUE, content TEXT NOT NULL,
    expanded_keywords TEXT NOT NULL, tags TEXT NOT NULL, category TEXT NOT NULL,
    importance REAL NOT NULL, is_sensitive INTEGER NOT NULL, scope TEXT, created_at TEXT
);
CREATE VIRTUAL TABLE memories_fts USING fts5(
    content, expanded_keywords, tags, category,
    content='memories', content_rowid='id', tokenize='unicode61 remove_diacritics 2'
);
"""


def create(path: str | os.PathLike[str], memories: Iterable[Memory]) -> int:
    """Write a new database of memories that `SqliteLexical` can open, all or nothing.

    Parameters
    ----------
    path : str or path
        A file that does not exist yet.
    memories : iterable of Memory
        External ids must be unique.

    Returns
    -------
    int
        How many memories it holds.
    """
    target = Path(path)
    if target.exists():
        raise HopgateError(f"{target} exists already: remove it or choose another name")
    if not target.parent.is_dir():
        raise HopgateError(f"the folder {target.parent} does not exist: create it first")
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:64]}.", suffix=".part")
    except OSError as error:
        raise HopgateError(f"cannot write in {target.parent}: {error.strerror}") from error
    os.close(handle)
    draft = Path(name)
    try:
        with closing(sqlite3.connect(draft)) as connection:
            require_fts5(connection)
            count = _fill(connection, memories)
        draft.replace(target)
    except sqlite3.OperationalError as error:
        raise HopgateError(f"cannot write {target}: {error}") from error
    finally:
        draft.unlink(missing_ok=True)
    return count


def require_fts5(connection: sqlite3.Connection) -> None:
    """Refuse a Python whose SQLite was built without FTS5."""
    if connection.execute("SELECT count(*) FROM pragma_module_list WHERE name = 'fts5'").fetchone()[0] == 0:
        raise HopgateError("this Python's sqlite3 was built without FTS5: use a Python from python.org, or PostgreSQL")


def _fill(connection: sqlite3.Connection, memories: Iterable[Memory]) -> int:
    count = 0
    with connection:
        connection.executescript(_SCHEMA)
        for memory in memories:
            try:
                connection.execute("INSERT INTO memories VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _row(memory))
            except sqlite3.IntegrityError as error:
                raise HopgateError(f"memory {memory.external_id[:80]!r} comes twice: ids must be unique") from error
            count += 1
        connection.execute("INSERT INTO memories_fts(memories_fts) VALUES ('rebuild')")
    return count


def _row(memory: Memory) -> tuple[object, ...]:
    return (
        memory.external_id,
        memory.content,
        "\n".join(memory.expanded_keywords),
        "\n".join(memory.tags),
        memory.category or "",
        memory.importance,
        memory.is_sensitive,
        memory.scope,
        memory.created_at.isoformat() if memory.created_at else None,
    )
