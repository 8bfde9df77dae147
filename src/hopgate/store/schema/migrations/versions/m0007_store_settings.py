"""A store has settings of its own: what a gate chose for it, and what its owner set."""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make room for them."""
    op.execute(
        "CREATE TABLE store_settings (name text PRIMARY KEY, value jsonb NOT NULL, source text NOT NULL, "
        "set_at timestamptz NOT NULL DEFAULT now())"
    )


def downgrade() -> None:
    """Forget them: recall goes on with its defaults."""
    op.execute("DROP TABLE store_settings")
