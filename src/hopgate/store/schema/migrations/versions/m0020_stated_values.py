"""What memories state of things in any words, kept aside until another tells of a change; names that none mentions."""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

revision = "0020"
down_revision = "0019"

# The keys are folded texts, so that no name is made of what may never matter: a tenth of all names was (see
# docs/research/extraction.md). `former_key` is what a change names as over.
TABLE = """
CREATE TABLE stated_values (
  memory_id bigint NOT NULL REFERENCES {memories} ON DELETE CASCADE,
  place smallint NOT NULL,
  thing text NOT NULL,
  thing_key text NOT NULL,
  relation text NOT NULL,
  value text NOT NULL,
  value_key text NOT NULL,
  former_key text,
  is_change boolean NOT NULL,
  valid_from timestamptz,
  PRIMARY KEY (memory_id, place)
);
CREATE INDEX stated_values_thing ON stated_values (thing_key);
CREATE INDEX stated_values_value ON stated_values (value_key);
CREATE INDEX stated_values_former ON stated_values (former_key) WHERE former_key IS NOT NULL;
"""
# Most values are told once, and the planner's samples would keep the words of what goes.
UNSAMPLED = ("thing", "thing_key", "value", "value_key", "former_key")
# A fact that two memories tell together is told by each, and goes with the other. Its ends are names that the memory
# keeps and does not mention: they link nothing, and count nowhere.
FLAGS = {"facts": "joint", "mentions": "silent"}


def upgrade() -> None:
    """Make the table and the flags; none is set yet, so that no row is written anew."""
    parts = op.get_bind().execute(text("SELECT 1 FROM pg_class WHERE oid = 'memories'::regclass AND relkind = 'p'"))
    # Parts have no key of their own: docs/adr/0008.
    op.execute(TABLE.format(memories="memories" if parts.first() is None else "memory_keys"))
    for column in UNSAMPLED:
        op.execute(f"ALTER TABLE stated_values ALTER COLUMN {column} SET STATISTICS 0")
    for table, flag in FLAGS.items():
        op.execute(f"ALTER TABLE {table} ADD COLUMN {flag} boolean NOT NULL DEFAULT false")


def downgrade() -> None:
    """Forget what is told by two memories together, with the names that nothing else keeps, and its edges."""
    # What else is known of the same things is derived again by the next build.
    op.execute("UPDATE graph_state SET derived = false WHERE EXISTS (SELECT 1 FROM facts WHERE joint)")
    op.execute(
        "DELETE FROM concept_edges e USING facts f JOIN concept_names s ON s.id = f.subject_id "
        "JOIN relations r ON r.raw = f.relation "
        "WHERE f.joint AND e.src_id = s.concept_id AND e.relation = r.canonical"
    )
    op.execute("DELETE FROM facts WHERE joint")
    op.execute("DELETE FROM mentions WHERE silent")
    op.execute("DELETE FROM concept_names n WHERE NOT EXISTS (SELECT 1 FROM mentions m WHERE m.name_id = n.id)")
    op.execute("DELETE FROM concepts c WHERE NOT EXISTS (SELECT 1 FROM concept_names n WHERE n.concept_id = c.id)")
    for table, flag in FLAGS.items():
        op.execute(f"ALTER TABLE {table} DROP COLUMN {flag}")
    op.execute("DROP TABLE stated_values")
