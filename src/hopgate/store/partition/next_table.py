"""The copy beside the memories: made empty, noted in a list what changes meanwhile, indexed, or given up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hopgate.store.partition import layout
from hopgate.store.partition.layout import CHANGED, KEYS, NEXT, RUN
from hopgate.store.schema import OWN, SCHEMA

if TYPE_CHECKING:
    from psycopg import Connection

NOTING = ("came", "changed", "went", "emptied")

# Which memories changed, and no more: whoever copies reads them again, so that index builds on the copy hold up no
# writer. What a memory was is taken out of the copy at once where nobody is at work on it, so that a run that was
# killed keeps nothing that was deleted or marked since; who is at work reads the list before it ends.
_NOTE = f"""
CREATE FUNCTION {SCHEMA}.hopgate_note_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = {SCHEMA}, pg_temp AS $body$
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    TRUNCATE memories_next, memories_changed;
    DELETE FROM memory_keys;
    RETURN NULL;
  ELSIF TG_OP = 'INSERT' THEN
    INSERT INTO memories_changed SELECT id FROM came;
    RETURN NULL;
  END IF;
  INSERT INTO memories_changed SELECT id FROM went;
  BEGIN
    LOCK TABLE memories_next IN ROW EXCLUSIVE MODE NOWAIT;
    DELETE FROM memories_next n USING went WHERE n.id = went.id;
    IF TG_OP = 'DELETE' THEN
      DELETE FROM memory_keys k USING went WHERE k.id = went.id;
    END IF;
  EXCEPTION WHEN lock_not_available THEN NULL;
  END;
  RETURN NULL;
END
$body$;
CREATE TRIGGER hopgate_copy_came AFTER INSERT ON {OWN} REFERENCING NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION {SCHEMA}.hopgate_note_changed();
CREATE TRIGGER hopgate_copy_changed AFTER UPDATE ON {OWN} REFERENCING OLD TABLE AS went
  FOR EACH STATEMENT EXECUTE FUNCTION {SCHEMA}.hopgate_note_changed();
CREATE TRIGGER hopgate_copy_went AFTER DELETE ON {OWN} REFERENCING OLD TABLE AS went
  FOR EACH STATEMENT EXECUTE FUNCTION {SCHEMA}.hopgate_note_changed();
CREATE TRIGGER hopgate_copy_emptied AFTER TRUNCATE ON {OWN}
  FOR EACH STATEMENT EXECUTE FUNCTION {SCHEMA}.hopgate_note_changed();
"""


def make(connection: Connection[Any], parts: int) -> None:
    """Make an empty copy in so many parts, and begin the list of what changes; in the caller's transaction."""
    by = " PARTITION BY HASH (scope)" if parts > 1 else ""
    connection.execute(f"CREATE TABLE {NEXT} (LIKE {OWN} INCLUDING ALL EXCLUDING INDEXES EXCLUDING STATISTICS){by}")
    for number in range(parts if parts > 1 else 0):
        connection.execute(
            f"CREATE TABLE {SCHEMA}.memories_{parts}_{number} PARTITION OF {NEXT} "
            f"FOR VALUES WITH (MODULUS {parts}, REMAINDER {number})"
        )
    # Before anybody could sample it: texts are not sampled (migration 0011).
    targets = connection.execute(
        "SELECT quote_ident(attname), attstattarget FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0 "
        "AND NOT attisdropped AND attstattarget >= 0",
        (OWN,) if layout.parts(connection) == 1 else (layout.leaves(connection)[0],),
    ).fetchall()
    for column, target in targets:
        connection.execute(f"ALTER TABLE {NEXT} ALTER COLUMN {column} SET STATISTICS {target}")
    if parts > 1:
        connection.execute(f"CREATE INDEX memories_next_id ON {NEXT} (id)")
    else:
        connection.execute(f"ALTER TABLE {NEXT} ADD CONSTRAINT memories_next_pkey PRIMARY KEY (id)")
    connection.execute(f"CREATE TABLE {CHANGED} (id bigint NOT NULL)")
    connection.execute(f"CREATE TABLE {RUN} (parts integer NOT NULL, copied_to bigint NOT NULL, made_of text NOT NULL)")
    connection.execute(f"INSERT INTO {RUN} VALUES (%s, %s, %s)", (parts, -(1 << 63), layout.made_of(connection)))
    # Waits for whoever writes memories now, so that what is not in the list is there to be read.
    connection.execute(_NOTE)


def current(connection: Connection[Any]) -> bool:
    """Whether the memories have the columns that the copy was made of.

    Vectors may have got theirs, or others', meanwhile, and no row that lost an old one with its column is on the list.
    """
    # A run of an earlier edition did not note it.
    row = connection.execute(f"SELECT to_jsonb(r) ->> 'made_of' FROM {RUN} AS r").fetchone()
    return row is not None and row[0] == layout.made_of(connection)


def missing_indexes(connection: Connection[Any], parts: int) -> list[str]:
    """The statements that make what indexes the copy lacks."""
    rows = connection.execute(
        "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = to_regclass(%s)",
        (NEXT,),
    )
    there = {row[0] for row in rows}
    wanted = layout.index_statements(connection, parts)
    return [statement for name, statement in wanted.items() if layout.next_name(name) not in there]


def stop_noting(connection: Connection[Any]) -> None:
    """Keep no more list of what changes."""
    for name in NOTING:
        connection.execute(f"DROP TRIGGER IF EXISTS hopgate_copy_{name} ON {OWN}")
    connection.execute(f"DROP FUNCTION IF EXISTS {SCHEMA}.hopgate_note_changed()")


def drop(connection: Connection[Any]) -> None:
    """Give the copy up; the memories stay as they are."""
    stop_noting(connection)
    connection.execute(f"DROP TABLE IF EXISTS {NEXT}, {CHANGED}, {RUN}")
    if layout.parts(connection) == 1:
        # Filled for the copy's sake; nothing refers to it yet.
        connection.execute(f"DELETE FROM {KEYS}")
