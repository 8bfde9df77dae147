"""What BM25 counts: how many memories hold a word and how long memories are; and text search in many languages."""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

from hopgate.store.schema.migrations.versions import m0001_memories

revision = "0004"
down_revision = "0003"

# The language of memories that name none: replaced when the store's is set (store/store_language.py). A function
# and not a row, because a generated column may call it.
LANGUAGE = """
CREATE FUNCTION hopgate_language() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 'english'
"""

# The one way from a text to its words, for memories and for queries (`asked`). Beside the words as PostgreSQL's parser
# and the language's dictionaries give them stand those that they would be looked for by and that are not among them:
# without accents, the parts of what a sign joins ("51820/udp"), and for Chinese, Japanese and Korean, which have no
# spaces, each two neighbouring characters. A query's characters stand alone only where there is one: in two they would
# match everywhere. Nothing but pg_catalog is called: a restored dump computes this with an empty search path. What is
# added is cut, since a tsvector ends at 1 MiB.
TSVECTOR = r"""
CREATE FUNCTION hopgate_tsvector(language text, content text, asked boolean DEFAULT false) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $body$
DECLARE
  config regconfig := language;
  whole tsvector;
  ascii boolean := octet_length(content) = length(content);
  plain text := content;
  further text := '';
  cjk CONSTANT text := '\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff'
    '\U00020000-\U0003ffff';
BEGIN
  IF content IS NULL OR content = '' THEN
    RETURN ''::tsvector;
  END IF;
  whole := to_tsvector(config, content);
  IF NOT ascii THEN
    plain := normalize(regexp_replace(normalize(content, NFKD),
      '[\u0300-\u036f\u0591-\u05c7\u064b-\u0652\u0670]+', '', 'g'), NFC);
    plain := translate(plain, 'ıøØłŁđĐðÐħĦŧŦ', 'ioollddddhhtt');
    plain := replace(replace(replace(replace(replace(plain, 'ß', 'ss'), 'ẞ', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th');
    plain := replace(replace(replace(plain, 'Æ', 'ae'), 'Œ', 'oe'), 'Þ', 'th');
    IF plain ~ ('[' || cjk || ']') THEN
      SELECT string_agg(pairs.words, ' ') INTO further
      FROM regexp_matches(plain, '[' || cjk || ']+', 'g') AS run, LATERAL (
        SELECT string_agg(
          CASE WHEN asked AND length(run[1]) > 1 THEN '' ELSE one || ' ' END || coalesce(one || next, ''), ' ') AS words
        FROM (
          SELECT one, lead(one) OVER (ORDER BY n) AS next
          FROM unnest(string_to_array(run[1], NULL)) WITH ORDINALITY AS c (one, n)
        ) AS characters
      ) AS pairs;
      plain := regexp_replace(plain, '[' || cjk || ']+', ' ', 'g');
    END IF;
    further := plain || ' ' || further;
  END IF;
  IF plain ~ '[^\s!-/:-@\[-`{-~][-/_.@:~+=#%&?\\]+[^\s!-/:-@\[-`{-~]' THEN
    further := further || ' ' || (
      SELECT string_agg(regexp_replace(token[1], '[-/_.@:~+=#%&?\\]+', ' ', 'g'), ' ') FROM regexp_matches(plain,
        '[^\s!-/:-@\[-`{-~]+(?:[-/_.@:~+=#%&?\\]+[^\s!-/:-@\[-`{-~]+)+', 'g') AS token);
  END IF;
  IF further = '' THEN
    RETURN whole;
  END IF;
  RETURN whole || ts_delete(to_tsvector(config, left(further, 200000)), tsvector_to_array(whole));
END
$body$
"""

# How many positions a vector has. ts_rank divides by just that when told to (2), and gives 1e-20 where an AND of words
# finds none of them: two that no parser makes. Counting in SQL would take a hundred times as long.
LENGTH = r"""
CREATE FUNCTION hopgate_length(tsvector) RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(round(1e-20::float8
  / nullif(ts_rank('{1,1,1,1}', $1, E'''\x01'' & ''\x02'''::tsquery, 2), 0)::float8), 0)
"""

# A word is kept as its hash: half the size, and no word of a sensitive memory stands in a table of its own. Writers
# only ever add changes, so that no two of them wait for each other; now and then one of them folds the changes.
TABLES = """
CREATE TABLE word_counts (word bigint NOT NULL, scope text, memories bigint NOT NULL);
CREATE UNIQUE INDEX word_counts_key ON word_counts (word, coalesce(scope, ''), (scope IS NULL));
CREATE TABLE word_changes (word bigint NOT NULL, scope text, memories bigint NOT NULL);
CREATE INDEX word_changes_word ON word_changes (word);
CREATE TABLE word_totals (scope text, language text NOT NULL, memories bigint NOT NULL, length float8 NOT NULL);
"""

FOLD = """
CREATE FUNCTION hopgate_fold_words() RETURNS void LANGUAGE plpgsql AS $body$
BEGIN
  -- One at a time; and a transaction that sees an older state could not delete what another has folded since.
  IF current_setting('transaction_isolation') <> 'read committed'
    OR NOT pg_try_advisory_xact_lock(hashtext('hopgate words')) THEN
    RETURN;
  END IF;
  WITH gone AS (DELETE FROM word_changes RETURNING *)
  INSERT INTO word_counts AS known
  SELECT word, scope, sum(memories) FROM gone GROUP BY word, scope HAVING sum(memories) <> 0
  ON CONFLICT (word, coalesce(scope, ''), (scope IS NULL)) DO UPDATE SET memories = known.memories + excluded.memories;
  WITH gone AS (DELETE FROM word_totals RETURNING *)
  INSERT INTO word_totals
  SELECT scope, language, sum(memories), sum(length) FROM gone GROUP BY scope, language HAVING sum(memories) <> 0;
END
$body$;
ALTER FUNCTION hopgate_fold_words() SET search_path FROM CURRENT;
"""

# Once for each statement, whoever writes it. `sign` is 1 for rows that came and -1 for rows that went; an UPDATE of
# other columns leaves none. About every 50,000 changes are folded, by chance, which needs no counter to wait for.
TRIGGERS = """
CREATE FUNCTION hopgate_count_words() RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE
  written bigint;
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    TRUNCATE word_counts, word_changes, word_totals;
    RETURN NULL;
  ELSIF TG_OP = 'INSERT' THEN
    INSERT INTO word_totals SELECT scope, coalesce(search_language, hopgate_language()), count(*),
      coalesce(sum(hopgate_length(search_vector)), 0) FROM came GROUP BY 1, 2;
    INSERT INTO word_changes SELECT hashtextextended(lexeme, 0), scope, count(*)
      FROM came, unnest(tsvector_to_array(search_vector)) AS lexeme GROUP BY 1, 2;
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO word_totals SELECT scope, coalesce(search_language, hopgate_language()), -count(*),
      -coalesce(sum(hopgate_length(search_vector)), 0) FROM went GROUP BY 1, 2;
    INSERT INTO word_changes SELECT hashtextextended(lexeme, 0), scope, -count(*)
      FROM went, unnest(tsvector_to_array(search_vector)) AS lexeme GROUP BY 1, 2;
  ELSE
    WITH changed AS MATERIALIZED (
      SELECT went.scope AS old_scope, coalesce(went.search_language, hopgate_language()) AS old_language,
        went.search_vector AS old_vector, came.scope, coalesce(came.search_language, hopgate_language()) AS language,
        came.search_vector
      FROM went JOIN came USING (id) WHERE went.search_vector IS DISTINCT FROM came.search_vector
        OR went.scope IS DISTINCT FROM came.scope OR went.search_language IS DISTINCT FROM came.search_language
    ),
    signed AS MATERIALIZED (
      SELECT -1 AS sign, old_scope AS scope, old_language AS language, old_vector AS vector FROM changed
      UNION ALL SELECT 1, scope, language, search_vector FROM changed
    ),
    counted AS (
      INSERT INTO word_totals SELECT scope, language, sum(sign), coalesce(sum(sign * hopgate_length(vector)), 0)
      FROM signed GROUP BY 1, 2
    )
    INSERT INTO word_changes SELECT hashtextextended(lexeme, 0), scope, sum(sign)
      FROM signed, unnest(tsvector_to_array(vector)) AS lexeme GROUP BY 1, 2 HAVING sum(sign) <> 0;
  END IF;
  GET DIAGNOSTICS written = ROW_COUNT;
  IF random() < written / 50000.0 THEN
    PERFORM hopgate_fold_words();
  END IF;
  RETURN NULL;
END
$body$;
ALTER FUNCTION hopgate_count_words() SET search_path FROM CURRENT;
CREATE TRIGGER hopgate_words_came AFTER INSERT ON memories REFERENCING NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_count_words();
CREATE TRIGGER hopgate_words_went AFTER DELETE ON memories REFERENCING OLD TABLE AS went
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_count_words();
CREATE TRIGGER hopgate_words_changed AFTER UPDATE ON memories REFERENCING OLD TABLE AS went NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_count_words();
CREATE TRIGGER hopgate_words_emptied AFTER TRUNCATE ON memories
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_count_words();
"""

# Counting all anew: at the upgrade, and when the store's language changes.
RECOUNT = """
CREATE FUNCTION hopgate_recount_words() RETURNS void LANGUAGE plpgsql AS $body$
BEGIN
  LOCK TABLE memories IN SHARE ROW EXCLUSIVE MODE;
  TRUNCATE word_counts, word_changes, word_totals;
  INSERT INTO word_totals SELECT scope, coalesce(search_language, hopgate_language()), count(*),
    coalesce(sum(hopgate_length(search_vector)), 0) FROM memories GROUP BY 1, 2;
  INSERT INTO word_counts SELECT hashtextextended(lexeme, 0), scope, count(*)
    FROM memories, unnest(tsvector_to_array(search_vector)) AS lexeme GROUP BY 1, 2;
END
$body$;
ALTER FUNCTION hopgate_recount_words() SET search_path FROM CURRENT;
"""


def upgrade() -> None:
    """Make the vectors that are hopgate's own anew, and count what there is; an owner's vector stays as it is."""
    connection = op.get_bind()
    # Indexes on a table with rows are built outside the transaction: broken off there, it goes on with them.
    if connection.execute(text("SELECT to_regprocedure('hopgate_recount_words()')")).scalar() is None:
        for statement in (LANGUAGE, TSVECTOR, LENGTH, TABLES, FOLD):
            _run(statement)
        m0001_memories.add_column("search_language", "text")
        kinds = m0001_memories.columns_of_memories()
        if _ours(kinds):
            # Both in one statement: the table is written once.
            connection.execute(text(f"ALTER TABLE memories DROP COLUMN search_vector, {_search_vector(kinds)}"))
            m0001_memories.mark_added("search_vector")
        _run(TRIGGERS)
        _run(RECOUNT)
        connection.execute(text("SELECT hopgate_recount_words()"))
    m0001_memories.constrain(connection.execute(text("SELECT count(*) FROM memories")).scalar_one() == 0)


def downgrade() -> None:
    """Go back to the vectors of before; the counts go."""
    connection = op.get_bind()
    for name in ("came", "went", "changed", "emptied"):
        op.execute(f"DROP TRIGGER hopgate_words_{name} ON memories")
    op.execute("DROP FUNCTION hopgate_count_words, hopgate_recount_words, hopgate_fold_words")
    op.execute("DROP TABLE word_counts, word_changes, word_totals")
    kinds = m0001_memories.columns_of_memories()
    if "hopgate_tsvector" in _expression("memories"):
        connection.execute(text("ALTER TABLE memories DROP COLUMN search_vector"))
        connection.execute(text(m0001_memories.search_vector(kinds)))
        m0001_memories.mark_added("search_vector")
    m0001_memories.drop_column("search_language")
    op.execute("DROP FUNCTION hopgate_tsvector(text, text, boolean), hopgate_language(), hopgate_length(tsvector)")
    m0001_memories.constrain(connection.execute(text("SELECT count(*) FROM memories")).scalar_one() == 0)


def _run(statement: str) -> None:
    # Neither SQLAlchemy's nor the driver's parameters are in it.
    op.get_bind().exec_driver_sql(statement.replace("%", "%%"))


def _ours(kinds: dict[str, str]) -> bool:
    """Tell whether `search_vector` is what migration 0001 made, and not the owner's own."""
    connection = op.get_bind()
    named = ("content", "expanded_keywords", "tags", "category")
    columns = ", ".join(f"{name} {kinds[name]}" for name in named)
    connection.execute(text(f"CREATE TEMP TABLE hopgate_example ({columns})"))
    connection.execute(text(m0001_memories.search_vector(kinds).replace("memories", "hopgate_example", 1)))
    same = _expression("hopgate_example") == _expression("memories")
    connection.execute(text("DROP TABLE hopgate_example"))
    return same


def _expression(table: str) -> str:
    found = op.get_bind().execute(
        text(
            "SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid "
            "AND a.attnum = d.adnum WHERE d.adrelid = to_regclass(:table) AND a.attname = 'search_vector'"
        ),
        {"table": table},
    )
    return str(found.scalar_one_or_none() or "")


def _search_vector(kinds: dict[str, str]) -> str:
    """The weights of 0001 over every language's words."""
    language = "coalesce(search_language, hopgate_language())"
    parts = zip("ABCD", ("content", "expanded_keywords", "tags", "category"), strict=True)
    vector = " || ".join(
        f"setweight(hopgate_tsvector({language}, {m0001_memories.words(c, kinds)}), '{w}')" for w, c in parts
    )
    return f"ADD COLUMN search_vector tsvector GENERATED ALWAYS AS ({vector}) STORED"
