"""Many rows whose keys were just looked up, written without the server looking up each of them once more."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection


@contextlib.contextmanager
def keys_known(connection: Connection[Any]) -> Iterator[bool]:
    """Let the server not check foreign keys, nor call triggers, where its user is allowed that; say whether it is.

    A fact has four keys, and to check them takes longer than to write it. For statements that take every key from the
    table it points into, whose rows are locked: memories by the caller, the graph's by its lock. In this transaction
    alone. The user of an embedded server is allowed it; one of a server's database seldom is, and pays for the checks.
    """
    row = connection.execute(
        "SELECT set_config('session_replication_role', 'replica', true) WHERE current_setting('is_superuser') = 'on' "
        "AND current_setting('session_replication_role') = 'origin'"
    ).fetchone()
    yield row is not None
    # After an error there is nothing to do: it ends the transaction, and with it the setting.
    if row is not None:
        connection.execute("SET LOCAL session_replication_role = origin")
