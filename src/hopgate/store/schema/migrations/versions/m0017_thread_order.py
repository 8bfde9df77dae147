"""Indexes by which the neighbours of one memory are found: those before and after it, and its answers."""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

revision = "0017"
down_revision = "0016"

# Threads have theirs since 0011. A load without dates gives a whole category one time: then the id decides.
INDEXES = {
    "memories_category": "(category, created_at, id) WHERE thread IS NULL AND category IS NOT NULL",
    "memories_reply": "(reply_to) WHERE reply_to IS NOT NULL",
}


def upgrade() -> None:
    """Add them; on a table with rows beside its owner's writers."""
    empty = op.get_bind().execute(text("SELECT 1 FROM memories LIMIT 1")).first() is None
    for name, what in INDEXES.items():
        if empty:
            op.execute(f"CREATE INDEX IF NOT EXISTS {name} ON memories {what}")
            continue
        with op.get_context().autocommit_block():
            # One that was interrupted is there and of no use.
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
            op.execute(f"CREATE INDEX CONCURRENTLY {name} ON memories {what}")


def downgrade() -> None:
    """Take them away."""
    for name in INDEXES:
        op.execute(f"DROP INDEX IF EXISTS {name}")
