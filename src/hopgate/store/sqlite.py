"""The lexical leg over SQLite: read-only, FTS5, no server.

For a memory system that lives in one SQLite file. The leg's order is FTS5's own: one query, ordered by
``-bm25() * 0.7 + importance * 0.3``, and fusing that single leg keeps it.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Collection, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from hopgate.errors import HopgateError
from hopgate.files import new_file
from hopgate.memory import Memory

# The filters run inside the query, before LIMIT: whatever they remove, the leg is filled from further down. A file may
# have its ids in `id` alone, and no scopes.
_FILTERS = """
    (:scope IS NULL OR {scope} = :scope)
    AND {key} NOT IN (SELECT value FROM json_each(:exclude))
ORDER BY score DESC, {key} LIMIT :depth
"""
_MATCH = f"""
SELECT {{key}}, -bm25(memories_fts) * 0.7 + m.importance * 0.3 AS score
FROM memories_fts JOIN memories m ON m.id = memories_fts.rowid
WHERE memories_fts MATCH :query AND {_FILTERS}
"""
_LIKE = rf"""
SELECT {{key}}, m.importance * 0.3 AS score FROM memories m
WHERE (m.content LIKE :query ESCAPE '\' OR m.expanded_keywords LIKE :query ESCAPE '\'
    OR m.tags LIKE :query ESCAPE '\' OR m.category LIKE :query ESCAPE '\') AND {_FILTERS}
"""

# What unicode61 takes for a token: letters and digits, then also the combining marks it folds away.
_WORD = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u0331])*")

# FTS5 takes a run of Chinese, Japanese or Korean for one word.
_UNSPACED = re.compile(r"[\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")

# FTS5 walks one list per word of an OR query; the distinct words of a long text past this many cost time and no
# longer change the order of a 50-deep leg (a memory is short).
MAX_WORDS = 256
# SQLite refuses a LIKE pattern of more than 50,000 bytes; a character is at most four, an escaped one two.
MAX_LITERAL = 10_000


class SqliteLexical:
    r"""The lexical leg of one SQLite file that `create` made, or one of the same shape, opened read-only.

    Examples
    --------
    >>> import tempfile
    >>> from hopgate.memory import Memory
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name, "notes.db")
    >>> create(file, [Memory("a", "The NAS hums."), Memory("b", "The NAS is in the cellar.")])
    2
    >>> with SqliteLexical(file) as lexical:
    ...     [memory for memory, score in lexical.leg("nas cellar", depth=1)]
    ['b']
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise HopgateError(f"{self.path} is not a file: make one with hopgate.store.sqlite.create")
        try:
            self._connection = sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro", uri=True)
        except sqlite3.OperationalError as error:
            raise HopgateError(f"cannot read {self.path}: {error}") from error
        try:
            require_fts5(self._connection)
            columns = {row[1] for row in self._connection.execute("PRAGMA table_info(memories)")}
            own = {"key": "m.external_id" if "external_id" in columns else "CAST(m.id AS TEXT)"}
            own["scope"] = "m.scope" if "scope" in columns else "NULL"
            self._match, self._like = _MATCH.format(**own), _LIKE.format(**own)
            for statement in (self._match, self._like):
                self._connection.execute(statement, {"query": '"shape"', "depth": 1, "scope": None, "exclude": "[]"})
        except sqlite3.DatabaseError as error:
            self.close()
            raise HopgateError(
                f"{self.path} is not a database of memories ({error}): make one with hopgate.store.sqlite.create"
            ) from error

    def leg(
        self, query: str, *, depth: int = 50, scope: str | None = None, exclude: Collection[str] = ()
    ) -> list[tuple[str, float]]:
        """Rank the memories that match, of a scope or all, best first, ties by id: external ids and scores.

        All words must match, and none of them is an operator; when no memory has them all, any word may. A query in
        which FTS5 finds no word, and Chinese, Japanese or Korean that stands inside a longer run, is looked for
        literally and ranked by importance. Memories to `exclude` are not given, such as those already in context.
        """
        if depth < 1:
            raise HopgateError(f"depth must be at least 1, not {depth}")
        if not query.strip():
            return []
        query = query.encode("utf-8", "replace").decode()  # half a surrogate pair is no text for SQLite
        words = list({word.casefold(): f'"{word}"' for word in _WORD.findall(query)}.values())[:MAX_WORDS]
        if words:
            for operator in (" AND ", " OR "):
                if rows := self._rows(self._match, operator.join(words), depth, scope, exclude):
                    return rows
        if words and not _UNSPACED.search(query):
            return []
        # LIKE's own signs are taken literally.
        literal = re.sub(r"([\\%_])", r"\\\1", query[:MAX_LITERAL])
        return self._rows(self._like, f"%{literal}%", depth, scope, exclude)

    def _rows(
        self, sql: str, query: str, depth: int, scope: str | None, exclude: Collection[str]
    ) -> list[tuple[str, float]]:
        parameters = {"query": query, "depth": depth, "scope": scope, "exclude": json.dumps(sorted(exclude))}
        try:
            rows = self._connection.execute(sql, parameters).fetchall()
        except sqlite3.DatabaseError as error:
            raise HopgateError(f"cannot search {self.path}: {error}") from error
        return [(str(key), float(score)) for key, score in rows]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> SqliteLexical:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


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
    """Write a new database of memories that `SqliteLexical` can open, all or nothing; give how many it holds."""
    target = Path(path)
    try:
        with new_file(target) as draft, closing(sqlite3.connect(draft)) as connection:
            require_fts5(connection)
            connection.executescript(_SCHEMA)
            count = 0
            for memory in memories:
                values = to_values(memory)
                try:
                    connection.execute(insertion(values), values)
                except sqlite3.IntegrityError as error:
                    key = memory.external_id[:80]
                    raise HopgateError(f"memory {key!r} comes twice: ids must be unique") from error
                count += 1
            connection.execute("INSERT INTO memories_fts(memories_fts) VALUES ('rebuild')")
            connection.commit()
    except sqlite3.OperationalError as error:
        raise HopgateError(f"cannot write {target}: {error}") from error
    return count


def require_fts5(connection: sqlite3.Connection) -> None:
    """Refuse a Python whose SQLite was built without FTS5."""
    if connection.execute("SELECT count(*) FROM pragma_module_list WHERE name = 'fts5'").fetchone()[0] == 0:
        raise HopgateError("this Python's sqlite3 was built without FTS5: use a Python from python.org, or PostgreSQL")


def to_values(memory: Memory) -> dict[str, Any]:
    """A memory as a row: lists are JSON."""
    return {
        "external_id": memory.external_id,
        "content": memory.content,
        "expanded_keywords": json.dumps(memory.expanded_keywords, ensure_ascii=False),
        "tags": json.dumps(memory.tags, ensure_ascii=False),
        "category": memory.category or "",
        "importance": memory.importance,
        "is_sensitive": memory.is_sensitive,
        "scope": memory.scope,
        "created_at": memory.created_at.isoformat() if memory.created_at else None,
    }


def insertion(columns: Iterable[str]) -> str:
    """The statement that inserts a row with these columns."""
    names = list(columns)
    return f"INSERT INTO memories ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"
