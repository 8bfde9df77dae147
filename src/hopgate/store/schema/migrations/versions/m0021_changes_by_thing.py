"""Changes by the thing that they are of: whether anything tells of one is asked with every addition."""

from __future__ import annotations

from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    """Make the index."""
    op.execute("CREATE INDEX IF NOT EXISTS stated_values_changed ON stated_values (thing_key) WHERE is_change")


def downgrade() -> None:
    """Drop it."""
    op.execute("DROP INDEX IF EXISTS stated_values_changed")
