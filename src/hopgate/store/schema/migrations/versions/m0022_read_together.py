"""What a memory states as it is read together with another one; and which wait to be read so."""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

revision = "0022"
down_revision = "0021"

# A statement that was read in two memories together goes with either of them. Of one memory there may be several, read
# with different others, at the same place.
TOGETHER = """
CREATE TABLE waiting_changes (memory_id bigint PRIMARY KEY REFERENCES {memories} ON DELETE CASCADE);
ALTER TABLE stated_values ADD COLUMN read_with bigint REFERENCES {memories} ON DELETE CASCADE;
ALTER TABLE stated_values DROP CONSTRAINT stated_values_pkey;
CREATE UNIQUE INDEX stated_values_key ON stated_values (memory_id, place, coalesce(read_with, 0));
CREATE INDEX stated_values_read_with ON stated_values (read_with) WHERE read_with IS NOT NULL;
"""


def upgrade() -> None:
    """Make the list and the column."""
    parts = op.get_bind().execute(text("SELECT 1 FROM pg_class WHERE oid = 'memories'::regclass AND relkind = 'p'"))
    # Parts have no key of their own: docs/adr/0008.
    op.execute(TOGETHER.format(memories="memories" if parts.first() is None else "memory_keys"))


def downgrade() -> None:
    """Forget what was read together; what it told is derived anew by the next build."""
    op.execute(
        "UPDATE graph_state SET derived = false WHERE EXISTS (SELECT 1 FROM stated_values WHERE read_with IS NOT NULL)"
    )
    op.execute("DELETE FROM stated_values WHERE read_with IS NOT NULL")
    op.execute("DROP INDEX stated_values_key")
    op.execute("ALTER TABLE stated_values DROP COLUMN read_with")
    op.execute("ALTER TABLE stated_values ADD PRIMARY KEY (memory_id, place)")
    op.execute("DROP TABLE waiting_changes")
