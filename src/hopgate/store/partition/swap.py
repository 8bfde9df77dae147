"""The copy into the memories' place, in one short transaction: names, foreign keys, triggers, rights and numbers."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg import errors

from hopgate.errors import HopgateError
from hopgate.store.partition import copy_rows, layout, next_table
from hopgate.store.partition.layout import CHANGED, KEYS, NEXT, RUN
from hopgate.store.schema import OWN, SCHEMA

if TYPE_CHECKING:
    from psycopg import Connection

OLD = f"{SCHEMA}.memories_before"
# So often the tables are asked for in passing: for about a minute.
ATTEMPTS = 300
# The first that look at a statement's rows: what refers to a memory may be written by the others.
_KEEP = """
CREATE TRIGGER hopgate_keys_{name} AFTER {event} ON hopgate.memories {tables}
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate.hopgate_keep_keys()
"""
_KEPT = {
    "came": ("INSERT", "REFERENCING NEW TABLE AS came"),
    "changed": ("UPDATE", "REFERENCING OLD TABLE AS went NEW TABLE AS came"),
    "went": ("DELETE", "REFERENCING OLD TABLE AS went"),
    "emptied": ("TRUNCATE", ""),
}


class ForeignKey(NamedTuple):
    """A table's reference to memories."""

    table: str
    name: str
    definition: str

    def added(self, target: str) -> str:
        """The statement that lets it refer to another table; rows that are there are not looked at again.

        Examples
        --------
        >>> key = ForeignKey("facts", "facts_key", "FOREIGN KEY (memory_id) REFERENCES memories(id) ON DELETE CASCADE")
        >>> key.added("hopgate.memory_keys").partition("REFERENCES ")[2]
        'hopgate.memory_keys(id) ON DELETE CASCADE NOT VALID'
        """
        known = self.definition.removesuffix(" NOT VALID")
        to = re.sub(r"REFERENCES \S+\(", f"REFERENCES {target}(", known)
        return f'ALTER TABLE {self.table} ADD CONSTRAINT "{self.name}" {to} NOT VALID'


def foreign_keys(connection: Connection[Any], target: str) -> list[ForeignKey]:
    """The foreign keys to a table."""
    rows = connection.execute(
        "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f' "
        "AND confrelid = to_regclass(%s) ORDER BY 1, 2",
        (target,),
    )
    return [ForeignKey(*row) for row in rows]


def lock(connection: Connection[Any], keys: Sequence[ForeignKey]) -> None:
    """Lock all that is swapped, in the order of docs/reliability.md; never waiting so long that readers queue behind.

    Whoever reads a snapshot holds `memory_keys` until it ends: to it the new table would be empty.
    """
    for _ in range(ATTEMPTS):
        try:
            with connection.transaction():
                connection.execute("SET LOCAL lock_timeout = '100ms'")
                connection.execute("LOCK TABLE embedding_space IN EXCLUSIVE MODE")
                connection.execute(f"LOCK TABLE {OWN} IN ACCESS EXCLUSIVE MODE")
                connection.execute("SELECT pg_advisory_xact_lock(hashtext('hopgate graph'))")
                tables = dict.fromkeys([KEYS, NEXT, *(key.table for key in keys)])
                connection.execute(f"LOCK TABLE {', '.join(tables)} IN ACCESS EXCLUSIVE MODE")
                connection.execute("SET LOCAL lock_timeout = DEFAULT")
        except errors.LockNotAvailable:
            time.sleep(random.uniform(0.05, 0.35))
        else:
            return
    raise HopgateError(
        "the copy is ready, but a gate, a backup or a long load has held the memories for a minute: run it again then"
    )


def swap(connection: Connection[Any], parts: int) -> bool:
    """Put the copy in the memories' place, in the caller's transaction; false where it lacks a column or an index."""
    before = layout.parts(connection)
    target = OWN if before == 1 else KEYS
    keys = foreign_keys(connection, target)
    lock(connection, keys)
    if not next_table.current(connection) or next_table.missing_indexes(connection, parts):
        return False
    copy_rows.copy(connection, None)
    try:
        _put(connection, parts, before, keys if min(parts, before) == 1 else [])
    except (errors.DependentObjectsStillExist, errors.FeatureNotSupported) as error:
        raise HopgateError(
            f"something of yours hangs on {OWN} ({str(error).splitlines()[0]}): drop it, and run this again"
        ) from None
    return True


def _put(connection: Connection[Any], parts: int, before: int, keys: Sequence[ForeignKey]) -> None:
    triggers = [
        row[0]
        for row in connection.execute(
            "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = to_regclass(%s) AND NOT tgisinternal "
            "AND tgname !~ '^hopgate_(copy|keys)_' ORDER BY tgname",
            (OWN,),
        )
    ]
    indexes = list(layout.index_statements(connection, parts))
    _take_rights(connection)
    _continue_numbers(connection)
    next_table.stop_noting(connection)
    for key in keys:
        connection.execute(f'ALTER TABLE {key.table} DROP CONSTRAINT "{key.name}"')
    connection.execute(f"ALTER TABLE {OWN} RENAME TO memories_before")
    connection.execute(f"ALTER TABLE {NEXT} RENAME TO memories")
    for key in keys:
        connection.execute(key.added(KEYS if parts > 1 else OWN))
    connection.execute(f"DROP TABLE {OLD}, {CHANGED}, {RUN}")
    for name in [*indexes, "memories_id" if parts > 1 else "memories_pkey", "memories_id_seq"]:
        kind = "SEQUENCE" if name == "memories_id_seq" else "INDEX"
        connection.execute(f'ALTER {kind} {SCHEMA}."{layout.next_name(name)}" RENAME TO "{name}"')
    if parts > 1:
        for name, (event, tables) in _KEPT.items():
            connection.execute(_KEEP.format(name=name, event=event, tables=tables))
    elif before > 1:
        connection.execute(f"DELETE FROM {KEYS}")
    for trigger in triggers:
        connection.execute(trigger)


def _take_rights(connection: Connection[Any]) -> None:
    """Give the copy the rights that others have been granted on the memories."""
    rows = connection.execute(
        "SELECT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END, "
        "a.privilege_type, a.is_grantable FROM pg_class c, aclexplode(c.relacl) a "
        "WHERE c.oid = to_regclass(%s) AND a.grantee <> c.relowner",
        (OWN,),
    ).fetchall()
    for grantee, privilege, grantable in rows:
        further = " WITH GRANT OPTION" if grantable else ""
        connection.execute(f"GRANT {privilege} ON {NEXT} TO {grantee}{further}")


def _continue_numbers(connection: Connection[Any]) -> None:
    """Let new memories have ids after all that were ever given."""
    row = connection.execute("SELECT pg_get_serial_sequence(%s, 'id')", (OWN,)).fetchone()
    assert row is not None and row[0] is not None  # hopgate's own table has one
    connection.execute(f"SELECT setval(pg_get_serial_sequence(%s, 'id'), last_value, is_called) FROM {row[0]}", (NEXT,))


def validate(connection: Connection[Any]) -> None:
    """Look at the rows that foreign keys were not asked about, beside running writers."""
    rows = connection.execute(
        "SELECT conrelid::regclass::text, conname FROM pg_constraint WHERE contype = 'f' AND NOT convalidated "
        "AND confrelid IN (to_regclass(%s), to_regclass(%s)) ORDER BY 1, 2",
        (OWN, KEYS),
    ).fetchall()
    for table, name in rows:
        connection.execute(f'ALTER TABLE {table} VALIDATE CONSTRAINT "{name}"')
