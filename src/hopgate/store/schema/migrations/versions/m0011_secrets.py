"""Nothing of a text outlives its memory: readings go with it, relations say who named them, no content is sampled."""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

revision = "0011"
down_revision = "0010"

# Each can be done again: an upgrade that is ended while the index is built begins here anew.
CHANGES = """
-- A relation that somebody declared stays; one that was read in a text goes with the last fact that has it.
ALTER TABLE relations ADD COLUMN IF NOT EXISTS declared boolean NOT NULL DEFAULT false;
UPDATE relations SET declared = true WHERE single_valued;

-- Rows of memories that were deleted before this, and cached extractions that no memory is known to have.
DELETE FROM extraction_readings r WHERE NOT EXISTS (SELECT 1 FROM memories m WHERE m.id = r.memory_id);
DELETE FROM extraction_cache c WHERE NOT EXISTS (SELECT 1 FROM extraction_readings r WHERE r.text_hash = c.text_hash);
ALTER TABLE extraction_readings DROP CONSTRAINT IF EXISTS extraction_readings_memory;
ALTER TABLE extraction_readings ADD CONSTRAINT extraction_readings_memory
  FOREIGN KEY (memory_id) REFERENCES memories ON DELETE CASCADE;
CREATE INDEX IF NOT EXISTS extraction_readings_text ON extraction_readings (text_hash);

-- Which roles of the server may read which scopes, where row-level security is on.
CREATE TABLE IF NOT EXISTS scope_roles (role name NOT NULL, scope text NOT NULL, PRIMARY KEY (role, scope));

-- Who may use an endpoint is not a part of which embedder made the vectors.
UPDATE embedding_space SET
  identity = jsonb_set(identity, '{spec}', to_jsonb(regexp_replace(identity->>'spec', '://[^/?#]*@', '://'))),
  next_identity = CASE WHEN next_identity IS NOT NULL THEN
    jsonb_set(next_identity, '{spec}', to_jsonb(regexp_replace(next_identity->>'spec', '://[^/?#]*@', '://'))) END;

-- The planner never compares whole contents, and its samples would hold sensitive ones.
ALTER TABLE memories ALTER COLUMN content SET STATISTICS 0;
DO $$
BEGIN
  DELETE FROM pg_statistic s USING pg_attribute a WHERE s.starelid = 'memories'::regclass
    AND a.attrelid = s.starelid AND a.attnum = s.staattnum AND a.attname = 'content';
EXCEPTION WHEN insufficient_privilege THEN NULL; -- an ordinary user's stay until the server's owner removes them
END $$;
"""
THREADS = "memories_thread ON memories (thread, created_at) WHERE thread IS NOT NULL"


def upgrade() -> None:
    """Add the column, the key and the indexes; on a table with rows beside its owner's writers."""
    op.execute(CHANGES)
    if op.get_bind().execute(text("SELECT 1 FROM memories LIMIT 1")).first() is None:
        op.execute(f"CREATE INDEX IF NOT EXISTS {THREADS}")
        return
    with op.get_context().autocommit_block():
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS memories_thread")
        op.execute(f"CREATE INDEX CONCURRENTLY {THREADS}")


def downgrade() -> None:
    """Take them away, and row-level security where it was turned on."""
    op.execute("DROP POLICY IF EXISTS hopgate_scope ON memories")
    if op.get_bind().execute(text("SELECT to_regprocedure('hopgate_may_see(name, text)') IS NOT NULL")).scalar():
        op.execute("ALTER TABLE memories DISABLE ROW LEVEL SECURITY")
        for table in ("word_counts", "word_changes", "word_totals"):
            op.execute(f"DROP POLICY IF EXISTS hopgate_scope ON {table}")
        op.execute("DROP FUNCTION IF EXISTS hopgate_allow(name, text), hopgate_disallow(name, text)")
        op.execute("DROP FUNCTION IF EXISTS hopgate_may_see(name, text)")
    op.execute("DROP TABLE scope_roles")
    op.execute("DROP INDEX IF EXISTS memories_thread, extraction_readings_text")
    op.execute("ALTER TABLE extraction_readings DROP CONSTRAINT extraction_readings_memory")
    op.execute("ALTER TABLE memories ALTER COLUMN content SET STATISTICS -1")
    op.execute("ALTER TABLE relations DROP COLUMN declared")
