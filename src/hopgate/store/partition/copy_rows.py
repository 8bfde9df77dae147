"""Rows into the copy: what changed since, then the next ones by id, as of one moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hopgate.store.partition import layout
from hopgate.store.partition.layout import CHANGED, KEYS, NEXT, RUN
from hopgate.store.schema import OWN

if TYPE_CHECKING:
    from psycopg import Connection

# Rows of one transaction: a second or two of work, most of it words.
BATCH = 2000


def copy(connection: Connection[Any], limit: int | None) -> int:
    """Bring the copy up to this transaction's snapshot and on by so many rows, or by all; give how many that were.

    Afterwards it holds the memories as the snapshot shows them, up to the id that the run has come to. The copy must be
    locked against whoever else writes to it before the snapshot is taken: `hold`, or the lock on the memories.
    """
    state = layout.run_state(connection)
    assert state is not None  # whoever copies has made one
    keyed = state.parts > 1 and layout.parts(connection) == 1
    # What is changed beyond that id comes as it is when the copy gets there.
    changed = [
        row[0]
        for row in connection.execute(
            f"WITH gone AS (DELETE FROM {CHANGED} RETURNING id) SELECT DISTINCT id FROM gone WHERE id <= %s",
            (state.copied_to,),
        )
    ]
    last = connection.execute(
        f"SELECT max(id) FROM (SELECT id FROM {OWN} WHERE id > %s ORDER BY id LIMIT %s) AS following",
        (state.copied_to, limit),
    ).fetchone()
    until = state.copied_to if last is None or last[0] is None else int(last[0])
    which = {"ids": changed, "after": state.copied_to, "until": until}
    these = "id = ANY(%(ids)s) OR id > %(after)s AND id <= %(until)s"
    if changed:
        connection.execute(f"DELETE FROM {NEXT} WHERE id = ANY(%(ids)s)", which)
    if changed and keyed:
        connection.execute(f"DELETE FROM {KEYS} WHERE id = ANY(%(ids)s)", which)
    names = ", ".join(f'"{column.name}"' for column in layout.columns(connection, NEXT) if not column.generated)
    for part in ("id = ANY(%(ids)s)", "id > %(after)s AND id <= %(until)s"):
        connection.execute(f"INSERT INTO {NEXT} ({names}) SELECT {names} FROM {OWN} WHERE {part}", which)
    if keyed:
        connection.execute(f"INSERT INTO {KEYS} SELECT id, external_id FROM {NEXT} WHERE {these}", which)
    connection.execute(f"UPDATE {RUN} SET copied_to = %(until)s", which)
    counted = connection.execute(
        f"SELECT count(*) FROM {NEXT} WHERE id > %(after)s AND id <= %(until)s", which
    ).fetchone()
    return int(counted[0]) if counted else 0


def hold(connection: Connection[Any]) -> None:
    """Begin a transaction's work on the copy: alone, and as of one moment, which comes after the locks.

    The memories keep their columns until it ends.
    """
    connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    connection.execute(f"LOCK TABLE {OWN} IN ACCESS SHARE MODE")
    connection.execute(f"LOCK TABLE {NEXT} IN SHARE ROW EXCLUSIVE MODE")
