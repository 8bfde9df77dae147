"""Clusters of concepts: which concepts each one has, under ids that stay."""

from __future__ import annotations

from alembic import op

revision = "0014"
down_revision = "0013"

# Of the whole store where `scopes` is empty, else of what these scopes alone say: nothing of one scope is in another's
# rows, their numbers included. Members are numbers of concepts and no names: what is forgotten leaves no word here.
TABLES = """
CREATE TABLE cluster_partitions (
  scopes text[] NOT NULL,
  resolution double precision NOT NULL,
  level integer NOT NULL,
  graph_version bigint NOT NULL,
  made_at timestamptz NOT NULL DEFAULT now(),
  modularity double precision NOT NULL,
  PRIMARY KEY (scopes, resolution, level)
);
CREATE TABLE concept_clusters (
  scopes text[] NOT NULL,
  id integer NOT NULL,
  resolution double precision NOT NULL,
  level integer NOT NULL,
  -- The cluster of the level above that this one is a part of.
  parent integer,
  -- The most central first.
  concept_ids bigint[] NOT NULL,
  PRIMARY KEY (scopes, id)
);
-- The last id that was given: none is given again.
CREATE TABLE cluster_numbers (scopes text[] PRIMARY KEY, last_id integer NOT NULL);
"""


def upgrade() -> None:
    """Make room for them."""
    op.execute(TABLES)


def downgrade() -> None:
    """Forget them: the next look finds them again, under new ids."""
    op.execute("DROP TABLE IF EXISTS cluster_partitions, concept_clusters, cluster_numbers")
