"""Rows of a source that no memory could be made of: where each lies, and why; never its text."""

from __future__ import annotations

from alembic import op

revision = "0016"
down_revision = "0015"

TABLES = """
CREATE TABLE set_aside (
  source text NOT NULL,
  place text NOT NULL,
  external_id text,
  stage text NOT NULL,
  reason text NOT NULL,
  noted_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (source, place)
);
"""


def upgrade() -> None:
    """Make the table."""
    op.execute(TABLES)


def downgrade() -> None:
    """Take the table away."""
    op.execute("DROP TABLE set_aside")
