"""Which memories end what others say, and whether they still seem to when both are read together."""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

revision = "0023"
down_revision = "0022"

# Of a pair that was read `is_end` is null where that showed neither.
NOTED_ENDS = """
CREATE TABLE noted_ends (
  later_id bigint NOT NULL REFERENCES {memories} ON DELETE CASCADE,
  earlier_id bigint NOT NULL REFERENCES {memories} ON DELETE CASCADE,
  is_read boolean NOT NULL DEFAULT false,
  is_end boolean,
  PRIMARY KEY (later_id, earlier_id)
);
CREATE INDEX noted_ends_earlier ON noted_ends (earlier_id);
CREATE INDEX noted_ends_unread ON noted_ends (later_id, earlier_id) WHERE NOT is_read;
"""


def upgrade() -> None:
    """Make the table."""
    parts = op.get_bind().execute(text("SELECT 1 FROM pg_class WHERE oid = 'memories'::regclass AND relkind = 'p'"))
    # Parts have no key of their own: docs/adr/0008.
    op.execute(NOTED_ENDS.format(memories="memories" if parts.first() is None else "memory_keys"))


def downgrade() -> None:
    """Drop it; what it kept from ending something is derived anew by the next build."""
    op.execute("UPDATE graph_state SET derived = false WHERE EXISTS (SELECT 1 FROM noted_ends WHERE NOT is_end)")
    op.execute("DROP TABLE noted_ends")
