"""A memory states a fact once: what the code relies on stands in the schema."""

from __future__ import annotations

from alembic import op

revision = "0012"
down_revision = "0011"

# Two builds at once had written facts twice and more often. Edges never counted them twice, so that nothing follows.
CHANGES = """
DELETE FROM facts WHERE id IN (
  SELECT id FROM (
    SELECT id, row_number() OVER (
      PARTITION BY memory_id, subject_id, relation, object_id, valid_from, valid_to ORDER BY weight DESC, id
    ) AS number FROM facts
  ) AS numbered WHERE number > 1
);
CREATE UNIQUE INDEX facts_once ON facts (
  memory_id, subject_id, relation, object_id, coalesce(valid_from, '-infinity'), coalesce(valid_to, 'infinity')
);
-- The new one begins with the memory too.
DROP INDEX facts_memory;
"""


def upgrade() -> None:
    """Keep one of equal facts, and let no second one in."""
    op.execute(CHANGES)


def downgrade() -> None:
    """Let facts be written twice again."""
    op.execute("CREATE INDEX facts_memory ON facts (memory_id)")
    op.execute("DROP INDEX facts_once")
