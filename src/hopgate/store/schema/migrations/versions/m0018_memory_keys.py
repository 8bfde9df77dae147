"""Memories in parts: their ids in a table of their own; whose facts and mentions changed is recorded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from alembic import op

from hopgate.store.schema.migrations.versions import m0001_memories, m0010_waiting
from hopgate.store.schema.place import SCHEMA

if TYPE_CHECKING:
    from psycopg import Connection

revision = "0018"
down_revision = "0017"

# Empty while memories are one table, which keeps its ids unique itself. A partitioned one cannot: docs/adr/0008.
TABLE = "CREATE TABLE memory_keys (id bigint PRIMARY KEY, external_id text UNIQUE)"

KEEP = """
CREATE FUNCTION hopgate_keep_keys() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $body$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO memory_keys SELECT id, external_id FROM came;
  ELSIF TG_OP = 'DELETE' THEN
    DELETE FROM memory_keys k USING went WHERE k.id = went.id;
  ELSIF TG_OP = 'UPDATE' THEN
    UPDATE memory_keys k SET external_id = came.external_id FROM came JOIN went USING (id)
      WHERE k.id = came.id AND came.external_id IS DISTINCT FROM went.external_id;
  ELSE
    DELETE FROM memory_keys;
  END IF;
  RETURN NULL;
END
$body$
"""

# A row that moves to another part is no UPDATE to a trigger for each row, and it is to one for each statement.
WAIT = """
CREATE FUNCTION hopgate_wait_again() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $body$
DECLARE
  hidden bigint[];
  opened bigint[];
BEGIN
  SELECT array_agg(id) FILTER (WHERE came.is_sensitive IS NOT FALSE), array_agg(id) FILTER (WHERE NOT came.is_sensitive)
    INTO hidden, opened FROM went JOIN came USING (id) WHERE went.is_sensitive IS DISTINCT FROM came.is_sensitive;
  IF hidden IS NOT NULL THEN
    DELETE FROM waiting_vectors WHERE memory_id = ANY(hidden);
    DELETE FROM waiting_links WHERE memory_id = ANY(hidden);
  END IF;
  IF opened IS NOT NULL THEN
    INSERT INTO waiting_vectors SELECT unnest(opened) ON CONFLICT DO NOTHING;
    INSERT INTO waiting_links SELECT unnest(opened) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END
$body$
"""
WAIT_TRIGGER = """
CREATE TRIGGER hopgate_wait_sensitive AFTER UPDATE ON memories REFERENCING OLD TABLE AS went NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_wait_again()
"""
# What a scope's own matrix depends on beside the tables of 0009: its edges follow from its facts, which may change
# where those of the whole store do not; and what a relation means is decided for all.
RECORD_MEMORIES = """
CREATE FUNCTION hopgate_{table}_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  IF (SELECT version FROM graph_state) = 0 THEN RETURN NULL; END IF;
  PERFORM hopgate_record_changes('memory', (SELECT array_agg(DISTINCT memory_id) FROM changed));
  RETURN NULL;
END $$;
CREATE TRIGGER hopgate_{table}_inserted AFTER INSERT ON {table} REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_{table}_changed();
CREATE TRIGGER hopgate_{table}_updated AFTER UPDATE ON {table} REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_{table}_changed();
CREATE TRIGGER hopgate_{table}_deleted AFTER DELETE ON {table} REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_{table}_changed();
"""
RECORD_RELATIONS = """
CREATE FUNCTION hopgate_relations_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  IF (SELECT version FROM graph_state) > 0 AND EXISTS (SELECT 1 FROM gone o JOIN written n USING (raw)
    WHERE (o.canonical, o.single_valued) IS DISTINCT FROM (n.canonical, n.single_valued)) THEN
    INSERT INTO graph_changes (kind, id) VALUES ('all', 0);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER hopgate_relations_updated AFTER UPDATE ON relations REFERENCING OLD TABLE AS gone NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_relations_changed();
"""
RECORDED = ("facts", "mentions")


def upgrade() -> None:
    """Make the table and what keeps it, for whoever partitions the memories; and record what scopes depend on."""
    op.execute(TABLE)
    op.execute(KEEP)
    _find("hopgate_keep_keys()")
    op.execute("DROP FUNCTION hopgate_wait_again() CASCADE")
    op.execute(WAIT)
    op.execute(WAIT_TRIGGER)
    _find("hopgate_wait_again()")
    for table in RECORDED:
        op.execute(RECORD_MEMORIES.format(table=table))
        _find(f"hopgate_{table}_changed()")
    op.execute(RECORD_RELATIONS)
    _find("hopgate_relations_changed()")


def downgrade() -> None:
    """Make one table of the memories again, where they are partitioned; a copy that was not finished goes."""
    from hopgate.store.partition import partition_run

    partition_run.merge_at_once(cast("Connection[Any]", op.get_bind().connection.dbapi_connection))
    op.execute("DROP FUNCTION hopgate_keep_keys()")
    op.execute("DROP TABLE memory_keys")
    op.execute("DROP FUNCTION hopgate_wait_again() CASCADE")
    for pattern in (r"CREATE FUNCTION hopgate_wait_again.*?\$body\$;", r"CREATE TRIGGER hopgate_wait_sensitive.*?;"):
        made = re.search(pattern, m0010_waiting.TRIGGERS, re.DOTALL)
        assert made is not None
        op.execute(made[0])
    op.execute("ALTER FUNCTION hopgate_wait_again() SECURITY DEFINER")
    _find("hopgate_wait_again()")
    for table in (*RECORDED, "relations"):
        op.execute(f"DROP FUNCTION hopgate_{table}_changed() CASCADE")


def _find(function: str) -> None:
    """Let a function find its tables whatever the path of whoever writes, as 0013 does."""
    path = f"{SCHEMA}, {m0001_memories.schema_of_memories()}, pg_temp"
    op.execute(f"ALTER FUNCTION {function} SET search_path = {path}")
