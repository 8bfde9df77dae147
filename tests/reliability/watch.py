"""See every statement before it is sent, and every commit before and after it: where pauses and faults go in.

And which locks a statement takes, in the order of docs/reliability.md.
"""

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
from psycopg import sql

Hook = Callable[[psycopg.Connection[Any], str], None]

BEFORE_COMMIT, AFTER_COMMIT, ROLLBACK = "-- before commit", "-- after commit", "-- rollback"


@contextlib.contextmanager
def watched(hook: Hook) -> Iterator[None]:
    """Call `hook` with each connection and statement of this process, for as long as the block runs."""
    cursor, connection = psycopg.Cursor, psycopg.Connection
    execute, copy, executemany = cursor.execute, cursor.copy, cursor.executemany
    commit, rollback = connection.commit, connection.rollback

    def text(where: psycopg.Connection[Any], query: Any) -> str:
        if isinstance(query, sql.Composable):
            return query.as_string(where)
        return query.decode() if isinstance(query, bytes) else str(query)

    def watching(call: Any) -> Any:
        def wrapped(self: Any, query: Any, *rest: Any, **options: Any) -> Any:
            hook(self.connection, text(self.connection, query))
            return call(self, query, *rest, **options)

        return wrapped

    def committing(self: Any) -> None:
        hook(self, BEFORE_COMMIT)
        commit(self)
        hook(self, AFTER_COMMIT)

    def rolling_back(self: Any) -> None:
        hook(self, ROLLBACK)
        rollback(self)

    cursor.execute, cursor.copy, cursor.executemany = map(watching, (execute, copy, executemany))
    connection.commit, connection.rollback = committing, rolling_back
    try:
        yield
    finally:
        cursor.execute, cursor.copy, cursor.executemany = execute, copy, executemany
        connection.commit, connection.rollback = commit, rollback


GRAPH_TABLES = "concepts|concept_names|concept_edges|mentions|facts|relations|memory_concepts"

LOCKS = {
    "build": re.compile(r"hopgate build"),
    "load": re.compile(r"hopgate load"),
    "embedding space": re.compile(r"LOCK TABLE embedding_space"),
    "memories": re.compile(
        r"FOR NO KEY UPDATE|LOCK TABLE memories|(UPDATE|INSERT INTO|DELETE FROM|COPY) memories\b", re.IGNORECASE
    ),
    "graph": re.compile(r"hopgate graph"),
    "graph's rows": re.compile(
        rf"(UPDATE|INSERT INTO|DELETE FROM|COPY) ({GRAPH_TABLES})\b"
        "|hopgate_(revoke|spell_names|name_concepts|drop_relations)",
        re.IGNORECASE,
    ),
    "graph's version": re.compile(r"UPDATE graph_state"),
}


def taken(statement: str) -> list[str]:
    """The locks that a statement takes, in the order of the page; a statement may take two, in this order."""
    return [name for name, pattern in LOCKS.items() if pattern.search(statement)]
