"""What is stated of a name is found without reading what is merely said beside it: of a hub that is thousands."""

from __future__ import annotations

from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Let the index of subjects and relations know the weights, too."""
    op.execute("DROP INDEX facts_subject")
    op.execute("CREATE INDEX facts_subject ON facts (subject_id, relation, weight)")


def downgrade() -> None:
    """Let it know subjects and relations alone."""
    op.execute("DROP INDEX facts_subject")
    op.execute("CREATE INDEX facts_subject ON facts (subject_id, relation)")
