"""Statements can be found by the last word of what their thing is called: "rehearsal", of "band rehearsal"."""

from __future__ import annotations

from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    """Index last words; what a change tells of a thing that it calls by it alone is derived with the next build."""
    op.execute(
        "CREATE INDEX stated_values_head ON stated_values ((substring(thing_key FROM '[^ ]+$'))) "
        "WHERE thing_key LIKE '% %'"
    )
    op.execute("UPDATE graph_state SET derived = false WHERE EXISTS (SELECT 1 FROM stated_values WHERE is_change)")


def downgrade() -> None:
    """Drop the index."""
    op.execute("DROP INDEX stated_values_head")
    op.execute("UPDATE graph_state SET derived = false WHERE EXISTS (SELECT 1 FROM stated_values WHERE is_change)")
