"""Names know how often and how they are used; the graph knows whether it follows from all that was said."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"

# A name's spelling, kind and use follow from its mentions, so that revoking a memory takes back what it alone told.
# `uses` is counted as mentions come and go: naming a hub then costs what is added and not what is there.
CHANGES = """
ALTER TABLE mentions ADD COLUMN spelling text;
INSERT INTO mentions (memory_id, name_id)
  SELECT memory_id, subject_id FROM facts UNION SELECT memory_id, object_id FROM facts ON CONFLICT DO NOTHING;
UPDATE mentions m SET spelling = n.name FROM concept_names n WHERE n.id = m.name_id;
ALTER TABLE mentions ALTER COLUMN spelling SET NOT NULL;
DROP INDEX mentions_name;
CREATE INDEX mentions_name ON mentions (name_id, memory_id);
CREATE INDEX mentions_kind ON mentions (name_id, memory_id) WHERE kind IS NOT NULL;

ALTER TABLE concept_names ADD COLUMN uses integer NOT NULL DEFAULT 0, ADD COLUMN initials text;
UPDATE concept_names n SET uses = m.uses
  FROM (SELECT name_id, count(*) AS uses FROM mentions GROUP BY name_id) m WHERE m.name_id = n.id;
-- Every new name is looked up here at once: a list of pending entries would be read through each time.
CREATE INDEX concept_names_words ON concept_names USING gin (string_to_array(normal_name, ' '))
  WITH (fastupdate = off);
CREATE INDEX concept_names_initials ON concept_names (initials) WHERE initials IS NOT NULL;

-- An edge of a hub is found without reading the hub's others.
DROP INDEX concept_edges_src;
CREATE INDEX concept_edges_src ON concept_edges (src_id, relation, dst_id);

-- Extracting comes first and deriving once, at the end of a backfill: until then nothing follows from what was said.
ALTER TABLE graph_state ADD COLUMN derived boolean NOT NULL DEFAULT false;
UPDATE graph_state SET derived = EXISTS (SELECT 1 FROM memory_concepts);
"""


def upgrade() -> None:
    """Count what there is."""
    op.execute(CHANGES)


def downgrade() -> None:
    """Forget the counts; they can be made again."""
    op.execute("ALTER TABLE graph_state DROP COLUMN derived")
    op.execute("DROP INDEX concept_edges_src")
    op.execute("CREATE INDEX concept_edges_src ON concept_edges (src_id, relation)")
    op.execute("DROP INDEX concept_names_words")
    op.execute("ALTER TABLE concept_names DROP COLUMN uses, DROP COLUMN initials")
    op.execute("DROP INDEX mentions_name, mentions_kind")
    op.execute("CREATE INDEX mentions_name ON mentions (name_id)")
    op.execute("ALTER TABLE mentions DROP COLUMN spelling")
