"""A record of what changed of the graph, so that a running process reads that and not the whole graph again."""

from __future__ import annotations

from alembic import op

revision = "0009"
down_revision = "0008"

# Written by triggers, so that no writer has to know. A row says which memory (with its mentions), concept or edge
# changed in which transaction; a reader asks for those that its snapshot did not see. A statement that changes many is
# recorded as one row of kind 'all': reading everything again is then quicker. Before the first graph nothing is
# recorded. Unlogged, because only running processes ask: they read all again after the server was started anew.
CHANGES = """
CREATE UNLOGGED TABLE graph_changes (
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  kind text NOT NULL CHECK (kind IN ('memory', 'concept', 'edge', 'all')),
  id bigint NOT NULL
);
CREATE INDEX graph_changes_xid ON graph_changes (xid);
-- What was recorded up to this transaction is gone.
CREATE UNLOGGED TABLE graph_changes_swept (one boolean PRIMARY KEY DEFAULT true CHECK (one), xid xid8 NOT NULL);

CREATE FUNCTION hopgate_record_changes(kind text, ids bigint[]) RETURNS void LANGUAGE sql AS $$
  INSERT INTO graph_changes (kind, id)
  SELECT kind, unnest(ids) WHERE cardinality(ids) BETWEEN 1 AND 1000
  UNION ALL SELECT 'all', 0 WHERE cardinality(ids) > 1000;
$$;
-- So that it is found whatever the search path of whoever writes.
ALTER FUNCTION hopgate_record_changes(text, bigint[]) SET search_path FROM CURRENT;
"""

# The columns of each table that a matrix depends on; the vectors are not among them.
COLUMNS = {
    "memories": (
        "memory",
        "id",
        ("is_sensitive", "superseded_at", "created_at", "dated", "scope", "thread", "category", "reply_to",
         "external_id"),
    ),
    "memory_concepts": ("memory", "memory_id", ("concept_id", "relation", "weight")),
    "concepts": ("concept", "id", ("kind",)),
    "concept_edges": (
        "edge",
        "id",
        ("src_id", "dst_id", "relation", "weight", "valid_from", "valid_to", "recorded_at", "retired_at"),
    ),
}  # fmt: skip
KEYS = {"memory_concepts": ("memory_id", "concept_id")}


def _function(table: str) -> str:
    kind, key, columns = COLUMNS[table]
    same = " AND ".join(f"o.{one} = n.{one}" for one in KEYS.get(table, ("id",)))
    before, after = (", ".join(f"{row}.{column}::text" for column in columns) for row in "on")
    return f"""
CREATE FUNCTION hopgate_{table}_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE ids bigint[];
BEGIN
  IF (SELECT version FROM graph_state) = 0 THEN RETURN NULL; END IF;
  IF TG_OP = 'INSERT' THEN
    SELECT array_agg(DISTINCT {key}) INTO ids FROM written;
  ELSIF TG_OP = 'DELETE' THEN
    SELECT array_agg(DISTINCT {key}) INTO ids FROM gone;
  ELSE
    SELECT array_agg(DISTINCT coalesce(n.{key}, o.{key})) INTO ids FROM gone o FULL JOIN written n ON {same}
    WHERE ROW({before}) IS DISTINCT FROM ROW({after});
  END IF;
  PERFORM hopgate_record_changes('{kind}', ids);
  RETURN NULL;
END $$;
ALTER FUNCTION hopgate_{table}_changed() SET search_path FROM CURRENT;
CREATE TRIGGER hopgate_{table}_inserted AFTER INSERT ON {table} REFERENCING NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_{table}_changed();
CREATE TRIGGER hopgate_{table}_updated AFTER UPDATE ON {table} REFERENCING OLD TABLE AS gone NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_{table}_changed();
CREATE TRIGGER hopgate_{table}_deleted AFTER DELETE ON {table} REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_{table}_changed();
"""


def upgrade() -> None:
    """Add the table, and the triggers that fill it."""
    op.execute(CHANGES)
    for table in COLUMNS:
        op.execute(_function(table))


def downgrade() -> None:
    """Take them away."""
    for table in COLUMNS:
        for event in ("inserted", "updated", "deleted"):
            op.execute(f"DROP TRIGGER IF EXISTS hopgate_{table}_{event} ON {table}")
        op.execute(f"DROP FUNCTION IF EXISTS hopgate_{table}_changed()")
    op.execute("DROP FUNCTION IF EXISTS hopgate_record_changes(text, bigint[])")
    op.execute("DROP TABLE IF EXISTS graph_changes, graph_changes_swept")
