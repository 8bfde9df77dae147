"""Long memories are compared by their passages: where each begins and ends, and its vector."""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

revision = "0006"
down_revision = "0005"

# The memory's text holds the passage's; only memories that are too long to be read whole have rows.
TABLE = """
CREATE TABLE passages (
  memory_id bigint NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
  number integer NOT NULL,
  starts integer NOT NULL,
  ends integer NOT NULL,
  PRIMARY KEY (memory_id, number)
)
"""


def upgrade() -> None:
    """Add the table, with room for the vectors of the store's embedder; `hopgate embed` fills it."""
    op.execute(TABLE)
    connection = op.get_bind()
    dimension = connection.execute(text("SELECT dimension FROM embedding_space")).scalar()
    if dimension is not None:
        op.execute(f"ALTER TABLE passages ADD COLUMN embedding halfvec({int(dimension)})")
    following = connection.execute(text("SELECT (next_identity->>'dimension')::integer FROM embedding_space")).scalar()
    if following is not None:
        op.execute(f"ALTER TABLE passages ADD COLUMN next_embedding halfvec({int(following)})")


def downgrade() -> None:
    """Take the passages away; the memories' own vectors stay."""
    op.execute("DROP TABLE passages")
