"""What two memories tell together stands beside what one of them allows by itself."""

from __future__ import annotations

from alembic import op

revision = "0024"
down_revision = "0023"

# A memory that says only that something may have changed has a tentative fact of it, which had kept out the one that it
# tells together with another memory.
_ONCE = """
CREATE UNIQUE INDEX facts_once ON facts (
  memory_id, subject_id, relation, object_id, coalesce(valid_from, '-infinity'), coalesce(valid_to, 'infinity'){joint}
)
"""


def upgrade() -> None:
    """Let a fact that is told together stand beside an equal one; what was kept out is derived with the next build."""
    op.execute("DROP INDEX facts_once")
    op.execute(_ONCE.format(joint=", joint"))
    op.execute("UPDATE graph_state SET derived = false WHERE EXISTS (SELECT 1 FROM stated_values WHERE is_change)")


def downgrade() -> None:
    """Keep one of equal facts."""
    op.execute(
        "DELETE FROM facts WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY memory_id, "
        "subject_id, relation, object_id, valid_from, valid_to ORDER BY joint, weight DESC, id) AS number FROM facts) "
        "AS numbered WHERE number > 1)"
    )
    op.execute("DROP INDEX facts_once")
    op.execute(_ONCE.format(joint=""))
    op.execute("UPDATE graph_state SET derived = false WHERE EXISTS (SELECT 1 FROM stated_values WHERE is_change)")
