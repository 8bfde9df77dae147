"""Memories know their thread, their language and what they answer; a store has settings, and says when rows come in."""

from __future__ import annotations

from alembic import op

revision = "0008"
down_revision = "0003"

# One notification a statement, however many rows it writes, so that a bulk load is not slowed down: `hopgate watch`
# looks for itself what is pending.
CHANGES = """
ALTER TABLE memories ADD COLUMN IF NOT EXISTS thread text;
ALTER TABLE memories ADD COLUMN IF NOT EXISTS reply_to text;
ALTER TABLE memories ADD COLUMN IF NOT EXISTS language text;
-- Why a memory gave way, in the words of whoever decided: a rule, or a model.
ALTER TABLE memories ADD COLUMN IF NOT EXISTS superseded_reason text;

CREATE TABLE IF NOT EXISTS store_settings (
  name text PRIMARY KEY,
  value jsonb NOT NULL,
  source text NOT NULL,
  set_at timestamptz NOT NULL DEFAULT now()
);

CREATE FUNCTION hopgate_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('hopgate_memories', '');
  RETURN NULL;
END $$;
CREATE TRIGGER hopgate_memories_written AFTER INSERT ON memories
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_notify();
"""


def upgrade() -> None:
    """Add columns, which rewrites nothing, the table of settings and the trigger."""
    op.execute(CHANGES)


def downgrade() -> None:
    """Take them away."""
    op.execute("DROP TRIGGER IF EXISTS hopgate_memories_written ON memories")
    op.execute("DROP FUNCTION IF EXISTS hopgate_notify()")
    op.execute("DROP TABLE IF EXISTS store_settings")
    for name in ("thread", "reply_to", "language", "superseded_reason"):
        op.execute(f"ALTER TABLE memories DROP COLUMN IF EXISTS {name}")
