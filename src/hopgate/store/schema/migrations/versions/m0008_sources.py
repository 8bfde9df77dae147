"""A memory that gave way says why, and a store says when rows come in."""

from __future__ import annotations

from alembic import op

from hopgate.store.schema.migrations.versions import m0001_memories

revision = "0008"
down_revision = "0007"

# One notification a statement, however many rows it writes, so that a bulk load is not slowed down: `hopgate watch`
# looks for itself what is pending.
CHANGES = """
CREATE FUNCTION hopgate_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('hopgate_memories', '');
  RETURN NULL;
END $$;
CREATE TRIGGER hopgate_memories_written AFTER INSERT ON memories
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_notify();
"""


def upgrade() -> None:
    """Add the column, which rewrites nothing, and the trigger."""
    # Why a memory gave way, in the words of whoever decided: a rule, or a model.
    m0001_memories.add_column("superseded_reason", "text")
    op.execute(CHANGES)


def downgrade() -> None:
    """Take them away."""
    op.execute("DROP TRIGGER IF EXISTS hopgate_memories_written ON memories")
    op.execute("DROP FUNCTION IF EXISTS hopgate_notify()")
    m0001_memories.drop_column("superseded_reason")
