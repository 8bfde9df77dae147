"""The locks of whoever changes memories: by turns where many are new, and by ascending id where they are known."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from psycopg import errors

if TYPE_CHECKING:
    from psycopg import Connection


def lock(connection: Connection[Any], ids: Sequence[int]) -> None:
    """Lock memories for change, in the one order in which everybody locks them."""
    connection.execute("SELECT FROM memories WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE", (list(ids),))


def take_turns(connection: Connection[Any], *, alone: bool) -> None:
    """Let a load of many memories go alone, and smaller ones side by side: new ids have no order to lock them in."""
    shared = "" if alone else "_shared"
    connection.execute(f"SELECT pg_advisory_xact_lock{shared}(hashtext('hopgate load'))")


# So often the tables are asked for in passing; after about ten seconds they are waited for.
ATTEMPTS = 100


def lock_for_columns(connection: Connection[Any], tables: Sequence[str]) -> None:
    """Lock what a change of the vectors' columns rewrites, in the order of docs/reliability.md.

    Whoever reads takes tables in any order. So this does not wait for one while it holds another, longer than the
    server waits before it looks for a deadlock: it lets go of all and asks again, and no reader is ended for it.
    """
    connection.execute("LOCK TABLE embedding_space IN EXCLUSIVE MODE")
    for _ in range(ATTEMPTS):
        try:
            with connection.transaction():
                connection.execute("SET LOCAL lock_timeout = '100ms'")
                _lock_all(connection, tables)
                connection.execute("SET LOCAL lock_timeout = DEFAULT")
        except errors.LockNotAvailable:
            time.sleep(random.uniform(0.01, 0.1))
        else:
            return
    _lock_all(connection, tables)


def _lock_all(connection: Connection[Any], tables: Sequence[str]) -> None:
    connection.execute("LOCK TABLE memories IN ACCESS EXCLUSIVE MODE")
    connection.execute("SELECT pg_advisory_xact_lock(hashtext('hopgate graph'))")
    connection.execute(f"LOCK TABLE {', '.join(tables)} IN ACCESS EXCLUSIVE MODE")
