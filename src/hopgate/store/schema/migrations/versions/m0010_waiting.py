"""What waits for a vector or for the graph stands in two lists, so that nobody reads the table to find it."""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

from hopgate.passages import LONG_BYTES

revision = "0010"
down_revision = "0009"

# Whoever writes a memory puts it on the lists, and whoever embeds or links it takes it off: what waits then costs what
# it is, however many memories there are. A list may hold one that waits no more (it turned sensitive, say): whoever
# reads it looks at the memory too.
TABLES = """
CREATE TABLE waiting_vectors (memory_id bigint PRIMARY KEY);
CREATE TABLE waiting_links (memory_id bigint PRIMARY KEY);
-- Whose extraction is another extractor's, and whose did not end.
CREATE INDEX extractions_extractor ON extractions (extractor_hash);
CREATE INDEX extractions_unfinished ON extractions (memory_id) WHERE state NOT IN ('complete', 'empty');
"""

TRIGGERS = """
CREATE FUNCTION hopgate_wait() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    TRUNCATE waiting_vectors, waiting_links;
  ELSIF TG_OP = 'DELETE' THEN
    DELETE FROM waiting_vectors w USING went WHERE w.memory_id = went.id;
    DELETE FROM waiting_links w USING went WHERE w.memory_id = went.id;
  ELSE
    INSERT INTO waiting_vectors SELECT id FROM came WHERE NOT is_sensitive ON CONFLICT DO NOTHING;
    INSERT INTO waiting_links SELECT id FROM came WHERE NOT is_sensitive ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END
$body$;
ALTER FUNCTION hopgate_wait() SET search_path FROM CURRENT;
CREATE TRIGGER hopgate_wait_came AFTER INSERT ON memories REFERENCING NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_wait();
CREATE TRIGGER hopgate_wait_went AFTER DELETE ON memories REFERENCING OLD TABLE AS went
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_wait();
CREATE TRIGGER hopgate_wait_emptied AFTER TRUNCATE ON memories
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_wait();

CREATE FUNCTION hopgate_wait_again() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  IF NEW.is_sensitive IS NOT FALSE THEN
    DELETE FROM waiting_vectors WHERE memory_id = NEW.id;
    DELETE FROM waiting_links WHERE memory_id = NEW.id;
  ELSE
    INSERT INTO waiting_vectors VALUES (NEW.id) ON CONFLICT DO NOTHING;
    INSERT INTO waiting_links VALUES (NEW.id) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END
$body$;
ALTER FUNCTION hopgate_wait_again() SET search_path FROM CURRENT;
CREATE TRIGGER hopgate_wait_sensitive AFTER UPDATE OF is_sensitive ON memories FOR EACH ROW
  WHEN (OLD.is_sensitive IS DISTINCT FROM NEW.is_sensitive) EXECUTE FUNCTION hopgate_wait_again();

CREATE FUNCTION hopgate_linked() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  IF TG_OP = 'INSERT' THEN
    DELETE FROM waiting_links w USING came WHERE w.memory_id = came.memory_id;
  ELSE
    INSERT INTO waiting_links SELECT m.id FROM went JOIN memories m ON m.id = went.memory_id
      WHERE NOT m.is_sensitive ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END
$body$;
ALTER FUNCTION hopgate_linked() SET search_path FROM CURRENT;
CREATE TRIGGER hopgate_linked_came AFTER INSERT ON extractions REFERENCING NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_linked();
CREATE TRIGGER hopgate_linked_went AFTER DELETE ON extractions REFERENCING OLD TABLE AS went
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_linked();

-- A long memory without its passages waits for a vector too.
CREATE FUNCTION hopgate_passages_went() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  INSERT INTO waiting_vectors SELECT DISTINCT m.id FROM went JOIN memories m ON m.id = went.memory_id
    WHERE NOT m.is_sensitive ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$body$;
ALTER FUNCTION hopgate_passages_went() SET search_path FROM CURRENT;
CREATE TRIGGER hopgate_passages_went AFTER DELETE ON passages REFERENCING OLD TABLE AS went
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_passages_went();
"""


def upgrade() -> None:
    """Make the lists, and put on them what waits now."""
    op.execute(TABLES)
    op.execute(TRIGGERS)
    connection = op.get_bind()
    missing = "true"
    if connection.execute(text("SELECT 1 FROM embedding_space")).first():
        missing = (
            f"(m.embedding IS NULL OR octet_length(m.content) > {LONG_BYTES} AND NOT EXISTS (SELECT 1 FROM passages p "
            "WHERE p.memory_id = m.id AND p.embedding IS NOT NULL))"
        )
        op.execute("CREATE INDEX IF NOT EXISTS statements_unembedded ON statements (id) WHERE embedding IS NULL")
    op.execute(f"INSERT INTO waiting_vectors SELECT m.id FROM memories m WHERE NOT m.is_sensitive AND {missing}")
    op.execute(
        "INSERT INTO waiting_links SELECT m.id FROM memories m WHERE NOT m.is_sensitive "
        "AND NOT EXISTS (SELECT 1 FROM extractions x WHERE x.memory_id = m.id)"
    )


def downgrade() -> None:
    """Take the lists away."""
    for name in ("came", "went", "emptied", "sensitive"):
        op.execute(f"DROP TRIGGER IF EXISTS hopgate_wait_{name} ON memories")
    op.execute("DROP TRIGGER IF EXISTS hopgate_linked_came ON extractions")
    op.execute("DROP TRIGGER IF EXISTS hopgate_linked_went ON extractions")
    op.execute("DROP TRIGGER IF EXISTS hopgate_passages_went ON passages")
    op.execute("DROP FUNCTION hopgate_wait, hopgate_wait_again, hopgate_linked, hopgate_passages_went")
    op.execute("DROP INDEX IF EXISTS extractions_extractor, extractions_unfinished")
    op.execute("DROP INDEX IF EXISTS statements_unembedded")
    op.execute("DROP TABLE waiting_vectors, waiting_links")
