"""What deletion leaves on the disk: dead rows and old log files, of which the tables are written anew."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psycopg import errors

from hopgate.store import connect, schema, vectors

if TYPE_CHECKING:
    from hopgate.store.store import Store

_TABLES = (
    "SELECT c.oid::regclass::text, EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'embedding' "
    f"AND NOT attisdropped) FROM pg_class c WHERE c.relkind = 'r' AND {schema.IS_OWN} ORDER BY 1"
)
BEYOND = (
    "backups, exports and archives of the server's log keep what they copied",
    "old files of the server's log are used again only as it goes on writing",
    "the file system and the disk may keep blocks of files that were removed",
)


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """How many tables were written anew, what else was done, and what may still hold something."""

    tables: int
    done: tuple[str, ...]
    left: tuple[str, ...]


def scrub(store: Store) -> Scrubbed:
    """Write every table of hopgate's anew, each locked meanwhile, and let the server write out what it holds."""
    with connect.explained(), contextlib.closing(connect.connect(store.dsn)) as connection:
        tables = connection.execute(_TABLES).fetchall()
        connection.commit()
        connection.autocommit = True
        for table, embedded in tables:
            statement = f"VACUUM (FULL, ANALYZE) {table}"
            if embedded:
                # Its HNSW indexes are built anew.
                vectors.build_over(connection, table, statement)
            else:
                connection.execute(statement.encode())
        done = [f"{len(tables)} tables were written anew"]
        try:
            connection.execute("CHECKPOINT")
            done.append("the server wrote out what it held in memory")
        except errors.InsufficientPrivilege:
            return Scrubbed(len(tables), tuple(done), ("not allowed to this user: CHECKPOINT", *BEYOND))
    return Scrubbed(len(tables), tuple(done), BEYOND)
