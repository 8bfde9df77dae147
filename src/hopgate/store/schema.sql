-- The schema, as it is: `create` in schema.py runs this file in one transaction, with `search_path` at the schema hopgate,
-- and `hopgate db schema` prints it. All that hopgate makes in a database is in that schema, but for the two triggers on
-- a table of an owner's that it follows (owners_table.py).
--
-- Part 1 is memories, their words and their vectors. Part 2 is the graph that is made of them.
--
-- Functions that name tables carry a search_path: whoever writes a memory need not know hopgate's schema.
-- `SET STATISTICS 0` stands at columns that hold words of a memory: the planner's samples of them would outlive what is
-- deleted or turns sensitive. A large store has samples of its search_vector: `tidy` in memories.py.

-- One row; a store that another version of this file made is refused.
CREATE TABLE schema_version (version integer NOT NULL);


------------------------------------------------------------------------------------------------------------------------
-- PART 1: MEMORIES
------------------------------------------------------------------------------------------------------------------------

-- ---- Words ----------------------------------------------------------------------------------------------------------

-- The language of memories that name none; `hopgate db language` replaces it. A function and not a row, because a
-- generated column may call it.
CREATE FUNCTION hopgate_language() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 'english';

-- A generated column accepts immutable functions only, and array_to_string is declared stable.
CREATE FUNCTION hopgate_words(text[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN array_to_string($1, ' ');

-- The one way from a text to its words, for memories and for queries (`asked`). Beside the words as PostgreSQL's parser
-- and the language's dictionaries give them stand those that they would be looked for by and that are not among them:
-- without accents, the parts of what a sign joins ("51820/udp"), and for Chinese, Japanese and Korean, which have no
-- spaces, each two neighbouring characters. A query's characters stand alone only where there is one: in two they would
-- match everywhere. Nothing but pg_catalog is called: a restored dump computes this with an empty search path. What is
-- added is cut, since a tsvector ends at 1 MiB.
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
$body$;

-- How many positions a vector has. ts_rank divides by just that when told to (2), and gives 1e-20 where an AND of words
-- finds none of them: two that no parser makes. Counting in SQL would take a hundred times as long.
CREATE FUNCTION hopgate_length(tsvector) RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(round(1e-20::float8
  / nullif(ts_rank('{1,1,1,1}', $1, E'''\x01'' & ''\x02'''::tsquery, 2), 0)::float8), 0);

-- The texts and numbers of an owner's own fields, however deep they lie.
CREATE FUNCTION hopgate_values(jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (SELECT string_agg(value #>> '{}', ' ')
  FROM jsonb_path_query($1, 'strict $.** ? (@.type() == "string" || @.type() == "number")') AS value);

-- ---- Memories -------------------------------------------------------------------------------------------------------

CREATE TABLE memories (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  external_id text NOT NULL DEFAULT gen_random_uuid()::text,
  row_key text,                                -- the key of the owner's row that this memory is, if it is one
  content text NOT NULL DEFAULT '',
  category text,
  tags text[] NOT NULL DEFAULT '{}',
  expanded_keywords text[] NOT NULL DEFAULT '{}',
  importance double precision NOT NULL DEFAULT 0.5,
  is_sensitive boolean NOT NULL DEFAULT false,
  scope text,
  created_at timestamptz NOT NULL DEFAULT now(),
  dated boolean NOT NULL DEFAULT true,         -- false where it came without a date: created_at is its arrival's then
  title_length integer NOT NULL DEFAULT 0,     -- how much of the content is its title
  extra jsonb NOT NULL DEFAULT '{}',           -- fields of the owner's own
  source json,                                 -- the other fields as they came in, so that an export gives them back
  thread text,                                 -- which memories are neighbours follows from these two and the dates
  reply_to text,
  superseded_at timestamptz,                   -- curation never deletes: what gave way stays, and is left out of recall
  superseded_by bigint,
  superseded_reason text,
  search_language text,
  search_vector tsvector GENERATED ALWAYS AS (
    setweight(hopgate_tsvector(coalesce(search_language, hopgate_language()), content), 'A')
    || setweight(hopgate_tsvector(coalesce(search_language, hopgate_language()), hopgate_words(expanded_keywords)), 'B')
    || setweight(hopgate_tsvector(coalesce(search_language, hopgate_language()), hopgate_words(tags)), 'C')
    || setweight(hopgate_tsvector(coalesce(search_language, hopgate_language()), coalesce(category, '')), 'D')
    || CASE WHEN extra = '{}' THEN '' ELSE setweight(
      hopgate_tsvector(coalesce(search_language, hopgate_language()), coalesce(hopgate_values(extra), '')), 'D') END
  ) STORED,
  embedding halfvec
);
ALTER TABLE memories ALTER content SET STATISTICS 0, ALTER tags SET STATISTICS 0,
  ALTER expanded_keywords SET STATISTICS 0, ALTER extra SET STATISTICS 0, ALTER search_vector SET STATISTICS 0;
CREATE UNIQUE INDEX memories_external_id ON memories (external_id);
CREATE INDEX memories_search_vector ON memories USING gin (search_vector);
CREATE INDEX memories_scope ON memories (scope) WHERE scope IS NOT NULL;
-- For filters by fields (recall/where.py).
CREATE INDEX memories_tags ON memories USING gin (tags);
CREATE INDEX memories_extra ON memories USING gin (extra jsonb_path_ops);
CREATE INDEX memories_category ON memories (category) WHERE category IS NOT NULL;
CREATE INDEX memories_created_at ON memories (created_at DESC, id);
CREATE INDEX memories_superseded_by ON memories (superseded_by) WHERE superseded_by IS NOT NULL;

-- Which memories are notes of a folder on somebody's disk; the folder and the memory's id are the file's path. What is
-- gone there is found by it, and where the ids of a note that is read alone begin.
CREATE TABLE folder_notes (
  memory_id bigint PRIMARY KEY REFERENCES memories ON DELETE CASCADE,
  folder text NOT NULL
);

-- Memories by the fields that they are made of.
CREATE VIEW memory_fields AS
  SELECT id, external_id, left(content, title_length) AS title,
    CASE WHEN title_length > 0 THEN substr(content, title_length + 2) ELSE content END AS text,
    tags, category, expanded_keywords, least(greatest(importance, 0), 1) AS importance, is_sensitive, scope, created_at,
    thread, reply_to, search_language AS language,
    (SELECT external_id FROM memories WHERE id = m.superseded_by) AS superseded_by, superseded_at, extra, source
  FROM memories m;

-- Those that may be read and hold still.
CREATE VIEW current_memories AS
  SELECT id, scope, content, created_at FROM memories WHERE NOT is_sensitive AND superseded_at IS NULL;

-- What the front matter of notes says that their titles are called beside.
CREATE VIEW title_aliases AS
  SELECT id AS memory_id, left(content, title_length) AS title,
    ARRAY(SELECT jsonb_array_elements_text(extra -> 'aliases')) AS aliases
  FROM memories
  WHERE NOT is_sensitive AND title_length > 0 AND jsonb_typeof(extra -> 'aliases') = 'array';

-- Memories are one thread only where somebody says so: by a thread, or by a category that calls itself a session. One
-- category and the same hour are no conversation: a bulk import made neighbours of plumber, boiler, ladder and drill.
CREATE FUNCTION hopgate_thread(thread text, category text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(thread, CASE WHEN category ~* '^(session|conversation|thread|chat)[ _-]*[0-9]+$' THEN category END);

-- The memories of threads, sensitive ones too. Those of one scope and thread follow each other by (created_at, id).
CREATE VIEW turns AS
SELECT id, scope, hopgate_thread(thread, category) AS thread, created_at, content, is_sensitive
FROM memories WHERE hopgate_thread(thread, category) IS NOT NULL;
CREATE INDEX memories_thread ON memories (hopgate_thread(thread, category), created_at, id)
  WHERE hopgate_thread(thread, category) IS NOT NULL;
CREATE INDEX memories_reply ON memories (reply_to) WHERE reply_to IS NOT NULL;

-- Which memories were said just before one another (kind 0, up to two steps and so many seconds apart), and which answers
-- which (kind 1), in these scopes or in all. Sensitive memories keep their places, so that nobody is joined over them: an
-- arc of two steps is left out where the one between is sensitive. An answer that follows at once is an answer alone.
-- Without a search_path of its own, so that it becomes a part of the query and reads these scopes alone.
CREATE FUNCTION hopgate_arcs(scopes text[])
RETURNS TABLE (source bigint, target bigint, kind integer, steps integer, gap float8) LANGUAGE sql STABLE AS $body$
  WITH placed AS (
    SELECT id, created_at, lead(id) OVER thread AS next, lead(created_at) OVER thread AS next_at,
      lead(is_sensitive) OVER thread AS next_hidden,
      lead(id, 2) OVER thread AS later, lead(created_at, 2) OVER thread AS later_at
    FROM turns WHERE scopes IS NULL OR scope = ANY(scopes)
    WINDOW thread AS (PARTITION BY scope, thread ORDER BY created_at, id)
  ), following AS (
    SELECT id, other, steps, extract(epoch FROM other_at - created_at)::float8 AS gap
    FROM placed CROSS JOIN LATERAL (
      VALUES (next, next_at, 1), (CASE WHEN NOT next_hidden THEN later END, later_at, 2)
    ) AS ahead (other, other_at, steps) WHERE other IS NOT NULL
  ), replying AS (
    SELECT answer.id, asked.id AS other
    FROM memories answer JOIN memories asked ON asked.external_id = answer.reply_to AND asked.id <> answer.id
      AND asked.scope IS NOT DISTINCT FROM answer.scope
    WHERE answer.reply_to IS NOT NULL AND (scopes IS NULL OR answer.scope = ANY(scopes))
  )
  SELECT id, other, 0, steps, gap FROM following f
  WHERE NOT EXISTS (SELECT FROM replying r
    WHERE (least(r.id, r.other), greatest(r.id, r.other)) = (least(f.id, f.other), greatest(f.id, f.other)))
  UNION ALL SELECT id, other, 1, 1, 0 FROM replying
$body$;

-- One notification a statement, however many rows it writes: `hopgate watch` looks for itself what is pending.
CREATE FUNCTION hopgate_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('hopgate_memories', '');
  RETURN NULL;
END $$;
CREATE TRIGGER hopgate_memories_written AFTER INSERT ON memories FOR EACH STATEMENT EXECUTE FUNCTION hopgate_notify();

-- ---- Counts of words, for BM25: how many memories hold a word, and how long memories are ----------------------------

-- A word is kept as its hash: half the size, and no word of a sensitive memory stands in a table of its own. Writers
-- only ever add changes, so that no two of them wait for each other; now and then one of them folds the changes.
CREATE TABLE word_counts (word bigint NOT NULL, scope text, memories bigint NOT NULL);
CREATE UNIQUE INDEX word_counts_key ON word_counts (word, coalesce(scope, ''), (scope IS NULL));
CREATE TABLE word_changes (word bigint NOT NULL, scope text, memories bigint NOT NULL);
CREATE INDEX word_changes_word ON word_changes (word);
CREATE TABLE word_totals (scope text, language text NOT NULL, memories bigint NOT NULL, length float8 NOT NULL);

CREATE FUNCTION hopgate_fold_words() RETURNS void LANGUAGE plpgsql SET search_path = hopgate, pg_temp AS $body$
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

-- Once for each statement, whoever writes it. `sign` is 1 for rows that came and -1 for rows that went; an UPDATE of
-- other columns leaves none. About every 50,000 changes are folded, by chance, which needs no counter to wait for.
CREATE FUNCTION hopgate_count_words() RETURNS trigger LANGUAGE plpgsql SET search_path = hopgate, pg_temp AS $body$
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
CREATE TRIGGER hopgate_words_came AFTER INSERT ON memories REFERENCING NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_count_words();
CREATE TRIGGER hopgate_words_went AFTER DELETE ON memories REFERENCING OLD TABLE AS went
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_count_words();
CREATE TRIGGER hopgate_words_changed AFTER UPDATE ON memories REFERENCING OLD TABLE AS went NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_count_words();
CREATE TRIGGER hopgate_words_emptied AFTER TRUNCATE ON memories
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_count_words();
-- Counting all anew: when the store's language changes.
CREATE FUNCTION hopgate_recount_words() RETURNS void LANGUAGE plpgsql SET search_path = hopgate, pg_temp AS $body$
BEGIN
  LOCK TABLE memories IN SHARE ROW EXCLUSIVE MODE;
  TRUNCATE word_counts, word_changes, word_totals;
  INSERT INTO word_totals SELECT scope, coalesce(search_language, hopgate_language()), count(*),
    coalesce(sum(hopgate_length(search_vector)), 0) FROM memories GROUP BY 1, 2;
  INSERT INTO word_counts SELECT hashtextextended(lexeme, 0), scope, count(*)
    FROM memories, unnest(tsvector_to_array(search_vector)) AS lexeme GROUP BY 1, 2;
END
$body$;

-- ---- Vectors --------------------------------------------------------------------------------------------------------

-- Who made the store's vectors.
CREATE TABLE embedding_space (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  identity jsonb NOT NULL,
  late jsonb  -- who makes the tokens; null where the store keeps none
);

-- Long memories are compared by their passages: where each begins and ends in the content, and its vector. Only
-- memories that are too long to be read whole have rows.
CREATE TABLE passages (
  memory_id bigint NOT NULL REFERENCES memories ON DELETE CASCADE,
  number integer NOT NULL,
  starts integer NOT NULL,
  ends integer NOT NULL,
  embedding halfvec,
  PRIMARY KEY (memory_id, number)
);

-- The tokens of a memory, those of a long one's passages one after another: rows of as many bytes as the model has
-- dimensions. Some 4 KB in a chat: they do not compress, and stay in the row, where one look finds them, up to a page.
CREATE TABLE memory_tokens (
  memory_id bigint PRIMARY KEY REFERENCES memories ON DELETE CASCADE,
  count integer NOT NULL,
  tokens bytea STORAGE EXTERNAL NOT NULL
) WITH (toast_tuple_target = 8160);
ALTER TABLE memory_tokens ALTER tokens SET STATISTICS 0;

-- ---- What waits for a vector or for the graph -----------------------------------------------------------------------

-- Whoever writes a memory puts it on the lists, and whoever embeds or links it takes it off: what waits then costs what
-- it is, however many memories there are.
CREATE TABLE waiting_vectors (memory_id bigint PRIMARY KEY);
CREATE TABLE waiting_links (memory_id bigint PRIMARY KEY);

CREATE FUNCTION hopgate_wait() RETURNS trigger LANGUAGE plpgsql SET search_path = hopgate, pg_temp AS $body$
DECLARE
  off bigint[];
  on_again bigint[];
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    TRUNCATE waiting_vectors, waiting_links;
  ELSIF TG_OP = 'INSERT' THEN
    SELECT array_agg(id) INTO on_again FROM came WHERE NOT is_sensitive;
  ELSIF TG_OP = 'DELETE' THEN
    SELECT array_agg(id) INTO off FROM went;
  ELSE
    SELECT array_agg(id) FILTER (WHERE came.is_sensitive), array_agg(id) FILTER (WHERE NOT came.is_sensitive)
      INTO off, on_again FROM went JOIN came USING (id) WHERE went.is_sensitive <> came.is_sensitive;
  END IF;
  IF off IS NOT NULL THEN
    DELETE FROM waiting_vectors WHERE memory_id = ANY(off);
    DELETE FROM waiting_links WHERE memory_id = ANY(off);
    DELETE FROM memory_tokens WHERE memory_id = ANY(off);
  END IF;
  IF on_again IS NOT NULL THEN
    INSERT INTO waiting_vectors SELECT unnest(on_again) ON CONFLICT DO NOTHING;
    INSERT INTO waiting_links SELECT unnest(on_again) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END
$body$;
CREATE TRIGGER hopgate_wait_came AFTER INSERT ON memories REFERENCING NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_wait();
CREATE TRIGGER hopgate_wait_went AFTER DELETE ON memories REFERENCING OLD TABLE AS went
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_wait();
CREATE TRIGGER hopgate_wait_changed AFTER UPDATE ON memories REFERENCING OLD TABLE AS went NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_wait();
CREATE TRIGGER hopgate_wait_emptied AFTER TRUNCATE ON memories FOR EACH STATEMENT EXECUTE FUNCTION hopgate_wait();

-- ---- Settings and what could not be read ----------------------------------------------------------------------------

-- What a gate chose for this store, and what its owner set.
CREATE TABLE store_settings (
  name text PRIMARY KEY,
  value jsonb NOT NULL,
  source text NOT NULL
);


------------------------------------------------------------------------------------------------------------------------
-- PART 2: THE GRAPH
------------------------------------------------------------------------------------------------------------------------

-- What extractors said is the ground: names, mentions and facts, each row knowing its memory. Concepts' edges and
-- memory_concepts follow from it by deterministic code, so that a merge, a split or a deletion can rebuild exactly what
-- it touched and provenance never needs a model.

-- Every transaction that changes the graph counts `version` on; where it concerns some scopes alone it also counts
-- `scoped` on and says so in graph_versions, so that whoever keeps another scope's graph need not read that again.
-- `derived` is false from the first extraction of a backfill to its end: what was said is not yet followed up.
CREATE TABLE graph_state (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  version bigint NOT NULL DEFAULT 0,
  changed_at timestamptz NOT NULL DEFAULT now(),
  scoped bigint NOT NULL DEFAULT 0,
  derived boolean NOT NULL DEFAULT false
);
INSERT INTO graph_state DEFAULT VALUES;
-- The last version that concerns a scope and not all.
CREATE TABLE graph_versions (scope text PRIMARY KEY, version bigint NOT NULL);

-- ---- What was read --------------------------------------------------------------------------------------------------

-- Each with its memory, so that one that turns sensitive takes them along.
CREATE TABLE extraction_cache (
  memory_id bigint NOT NULL REFERENCES memories ON DELETE CASCADE,
  extractor_hash text NOT NULL,
  text_hash text NOT NULL,  -- of all that was read
  extraction json NOT NULL,
  PRIMARY KEY (memory_id, extractor_hash)
);
CREATE INDEX extraction_cache_text ON extraction_cache (text_hash, extractor_hash);

CREATE TABLE extractions (
  memory_id bigint PRIMARY KEY REFERENCES memories ON DELETE CASCADE,
  extractor text NOT NULL,
  extractor_hash text NOT NULL,
  state text NOT NULL CHECK (state IN ('complete', 'empty', 'truncated', 'failed')),
  reason text,
  changes_by text  -- who compared it with earlier memories (`graph/build/changes.py`); it waits while this is null
);
CREATE INDEX extractions_extractor ON extractions (extractor_hash);
CREATE INDEX extractions_unfinished ON extractions (memory_id) WHERE state NOT IN ('complete', 'empty');

CREATE FUNCTION hopgate_linked() RETURNS trigger LANGUAGE plpgsql SET search_path = hopgate, pg_temp AS $body$
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
CREATE TRIGGER hopgate_linked_came AFTER INSERT ON extractions REFERENCING NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_linked();
CREATE TRIGGER hopgate_linked_went AFTER DELETE ON extractions REFERENCING OLD TABLE AS went
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_linked();

-- ---- Names and what is said of them ---------------------------------------------------------------------------------

-- Names, concepts, relations, facts and edges belong to a scope: '' for memories without one, and for all of them where the
-- store's owner shares scopes. A wall between scopes is a WHERE.
CREATE TABLE concepts (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  scope text NOT NULL DEFAULT '',
  canonical_name text NOT NULL,
  aliases text[] NOT NULL DEFAULT '{}',
  kind text,
  memory_count integer NOT NULL DEFAULT 0
);
ALTER TABLE concepts ALTER canonical_name SET STATISTICS 0, ALTER aliases SET STATISTICS 0;

CREATE INDEX concepts_scope ON concepts (scope);

-- A name's spelling, kind and use follow from its mentions by triggers, so that revoking a memory takes back what it alone
-- told. `uses` is counted as mentions come and go: naming a hub costs what is added and not what is there.
CREATE TABLE concept_names (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  scope text NOT NULL DEFAULT '',
  name text NOT NULL,
  normal_name text NOT NULL,
  kind text,
  concept_id bigint NOT NULL REFERENCES concepts,
  -- The near neighbour that resolution left undecided: shown by `hopgate concepts --ambiguous`.
  ambiguous_with bigint REFERENCES concept_names ON DELETE SET NULL,
  ambiguous_score real,
  uses integer NOT NULL DEFAULT 0,
  initials text,
  UNIQUE (scope, normal_name)
);
CREATE INDEX concept_names_normal ON concept_names (normal_name);
CREATE INDEX concept_names_concept ON concept_names (concept_id);
CREATE INDEX concept_names_ambiguous ON concept_names (ambiguous_with) WHERE ambiguous_with IS NOT NULL;
-- Every new name is looked up here at once: a list of pending entries would be read through each time.
-- The scope stands among the words, behind a line break that no word has.
CREATE INDEX concept_names_words ON concept_names
  USING gin ((string_to_array(normal_name, ' ') || (E'\n' || scope))) WITH (fastupdate = off);
CREATE INDEX concept_names_initials ON concept_names (scope, initials) WHERE initials IS NOT NULL;
ALTER INDEX concept_names_words ALTER 1 SET STATISTICS 0;
ALTER TABLE concept_names ALTER name SET STATISTICS 0, ALTER normal_name SET STATISTICS 0,
  ALTER initials SET STATISTICS 0;

-- A name that comes without a concept, or is taken from its own, gets one of its own.
CREATE FUNCTION hopgate_own_concept() RETURNS trigger LANGUAGE plpgsql SET search_path = hopgate, pg_temp AS $body$
BEGIN
  INSERT INTO concepts (scope, canonical_name, aliases, kind) VALUES (NEW.scope, NEW.name, ARRAY[NEW.name], NEW.kind)
    RETURNING id INTO NEW.concept_id;
  RETURN NEW;
END
$body$;
CREATE TRIGGER hopgate_name_alone BEFORE INSERT OR UPDATE OF concept_id ON concept_names
  FOR EACH ROW WHEN (NEW.concept_id IS NULL) EXECUTE FUNCTION hopgate_own_concept();

CREATE VIEW names AS
  SELECT id, concept_id, normal_name AS normal, name, kind, uses, scope, initials FROM concept_names;
-- Names that resolution left undecided, each with its near neighbour.
CREATE VIEW ambiguous_names AS
  SELECT n.name, n.concept_id, near.name AS near, n.ambiguous_score AS score, n.scope, n.id AS name_id,
    near.id AS near_id
  FROM concept_names n JOIN concept_names near ON near.id = n.ambiguous_with WHERE near.concept_id <> n.concept_id;

-- Which concepts became one, by whatever method, and what people changed by hand, so that it can be looked at and taken
-- back. Ids, and no texts but a merged concept's own name: what is gone is gone from it too.
CREATE TABLE journal (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  scope text NOT NULL DEFAULT '',
  action text NOT NULL CHECK (action IN ('merge', 'keep apart', 'supersede', 'mark sensitive', 'delete')),
  method text NOT NULL,
  kept_id bigint,
  merged_id bigint,
  merged_name text,  -- what the merged concept was, so that it can come back
  merged_kind text,
  name_ids bigint[] NOT NULL DEFAULT '{}',
  score real,
  memory_ids bigint[] NOT NULL DEFAULT '{}',
  memories integer NOT NULL DEFAULT 0,  -- how many it was of: of a deletion no id is kept
  done_at timestamptz NOT NULL DEFAULT now(),
  undone_at timestamptz
);
ALTER TABLE journal ALTER merged_name SET STATISTICS 0;
CREATE INDEX journal_kept ON journal (kept_id) WHERE undone_at IS NULL;
-- What a person changed, to look at: the two names it is about, or the memories, as far as they are still there. Of a
-- merge `one` is what the concept that stayed is called without the names that came to it.
CREATE VIEW changes_by_hand AS
  SELECT j.id, j.done_at, j.action,
    CASE j.action WHEN 'keep apart' THEN (SELECT name FROM concept_names WHERE id = j.name_ids[2])
      ELSE (SELECT name FROM concept_names WHERE concept_id = j.kept_id AND id <> ALL(j.name_ids)
        ORDER BY uses DESC, id LIMIT 1) END AS one,
    CASE j.action WHEN 'keep apart' THEN (SELECT name FROM concept_names WHERE id = j.name_ids[1])
      ELSE j.merged_name END AS other,
    ARRAY(SELECT external_id FROM memories m WHERE m.id = ANY(j.memory_ids) ORDER BY m.id) AS memory_ids,
    j.memories, j.undone_at
  FROM journal j WHERE j.method = 'by hand';

-- Relations of which a source has one at a time, in every scope, as extractors and people declare them.
CREATE TABLE single_valued_relations (raw text PRIMARY KEY);

-- Relations as they were read in texts: one goes with the last fact of its scope that has it. Those of a scope that mean
-- the same have one canonical relation, and are single-valued together.
CREATE TABLE relations (
  scope text NOT NULL DEFAULT '',
  raw text NOT NULL,
  canonical text NOT NULL,
  single_valued boolean NOT NULL DEFAULT false,
  PRIMARY KEY (scope, raw)
);
ALTER TABLE relations ALTER raw SET STATISTICS 0, ALTER canonical SET STATISTICS 0;
CREATE INDEX relations_canonical ON relations (scope, canonical);

CREATE TABLE mentions (
  memory_id bigint NOT NULL REFERENCES memories ON DELETE CASCADE,
  name_id bigint NOT NULL REFERENCES concept_names,
  kind text,
  spelling text NOT NULL,
  PRIMARY KEY (memory_id, name_id)
);
ALTER TABLE mentions ALTER spelling SET STATISTICS 0;
CREATE INDEX mentions_name ON mentions (name_id, memory_id);
CREATE INDEX mentions_kind ON mentions (name_id, memory_id) WHERE kind IS NOT NULL;

-- Names are spelt as the first memory spells them, and of the first kind that one gives. Looked up for each, so that naming
-- a hub does not read all of its mentions.
CREATE FUNCTION hopgate_mentioned() RETURNS trigger LANGUAGE plpgsql SET search_path = hopgate, pg_temp AS $body$
DECLARE
  ids bigint[];
BEGIN
  IF TG_OP = 'INSERT' THEN
    ids := ARRAY(SELECT name_id FROM came);
  ELSE
    ids := ARRAY(SELECT name_id FROM went);
  END IF;
  UPDATE concept_names n SET uses = uses + CASE TG_OP WHEN 'INSERT' THEN counted ELSE -counted END,
    name = coalesce(first.spelling, name), kind = CASE WHEN first.spelling IS NULL THEN n.kind ELSE given.kind END
  FROM (SELECT id, count(*) AS counted FROM unnest(ids) AS t (id) GROUP BY 1) AS t
  LEFT JOIN LATERAL (SELECT spelling FROM mentions WHERE name_id = t.id ORDER BY memory_id LIMIT 1) AS first ON true
  LEFT JOIN LATERAL (SELECT kind FROM mentions WHERE name_id = t.id AND kind IS NOT NULL ORDER BY memory_id LIMIT 1
  ) AS given ON true WHERE n.id = t.id;
  RETURN NULL;
END
$body$;
CREATE TRIGGER hopgate_mentions_came AFTER INSERT ON mentions REFERENCING NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_mentioned();
CREATE TRIGGER hopgate_mentions_went AFTER DELETE ON mentions REFERENCING OLD TABLE AS went
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_mentioned();

CREATE TABLE facts (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  scope text NOT NULL DEFAULT '',
  memory_id bigint NOT NULL REFERENCES memories ON DELETE CASCADE,
  subject_id bigint NOT NULL REFERENCES concept_names,
  relation text NOT NULL,
  object_id bigint NOT NULL REFERENCES concept_names,
  weight real NOT NULL DEFAULT 1,
  valid_from timestamptz,
  valid_to timestamptz,
  recorded_at timestamptz NOT NULL DEFAULT now(),
  -- The other memory, where two tell a change together: the fact goes with either.
  read_with bigint REFERENCES memories ON DELETE CASCADE,
  -- An earlier memory of which this fact ends nothing, though it seems to: while that is there the fact does not count.
  beside bigint REFERENCES memories ON DELETE SET NULL,
  FOREIGN KEY (scope, relation) REFERENCES relations (scope, raw)
);
ALTER TABLE facts ALTER relation SET STATISTICS 0;
CREATE INDEX facts_relation ON facts (scope, relation);
-- A memory states a fact once, and once with each other memory.
CREATE UNIQUE INDEX facts_once ON facts (
  memory_id, subject_id, relation, object_id, coalesce(valid_from, '-infinity'), coalesce(valid_to, 'infinity'),
  coalesce(read_with, 0)
);
CREATE INDEX facts_subject ON facts (subject_id, relation);
CREATE INDEX facts_read_with ON facts (read_with) WHERE read_with IS NOT NULL;
CREATE INDEX facts_beside ON facts (beside) WHERE beside IS NOT NULL;
CREATE INDEX facts_pair ON facts (subject_id, object_id);
CREATE INDEX facts_object ON facts (object_id);
-- Facts with what their names and relations are called and stand for now.
CREATE VIEW stated AS
  SELECT f.*, s.concept_id AS src_id, s.name AS subject, r.canonical, r.single_valued, o.concept_id AS dst_id,
    o.name AS object
  FROM facts f JOIN concept_names s ON s.id = f.subject_id JOIN concept_names o ON o.id = f.object_id
  JOIN relations r ON r.scope = f.scope AND r.raw = f.relation;
-- And with the external ids of their memories, but for sensitive ones.
CREATE VIEW memory_facts AS
  SELECT stated.*, m.external_id AS memory FROM stated JOIN memories m ON m.id = memory_id WHERE NOT is_sensitive;


-- Mentions and facts as rows of a triples.jsonl, of which `replay` makes the same graph. What two memories tell together is
-- told by neither.
CREATE VIEW triple_rows AS
  SELECT row FROM (
    SELECT 0 AS part, memory_id, name_id AS number, json_build_object(
      'doc_id', external_id, 'entity', spelling, 'type', nullif(kind, '')) AS row
    FROM mentions JOIN memories ON id = memory_id WHERE NOT is_sensitive
    UNION ALL SELECT 1, memory_id, id, json_build_object(
      'doc_id', memory, 'subject', subject, 'relation', relation, 'object', object,
      'confidence', nullif(round(weight::numeric, 6), 1),
      'valid_from', (valid_from AT TIME ZONE 'UTC')::date, 'valid_to', (valid_to AT TIME ZONE 'UTC')::date)
    FROM memory_facts WHERE read_with IS NULL
  ) AS rows ORDER BY part, memory_id, number;

-- Of each open fact of some memories, of a relation that has one target at a time, the last memory of its scope that
-- names another target. Without a search_path of its own, so that it becomes a part of the query.
CREATE FUNCTION hopgate_rivals(ids bigint[]) RETURNS TABLE (fact_id bigint, earlier_id bigint, later_id bigint)
LANGUAGE sql STABLE AS $body$
  SELECT DISTINCT ON (f.id) f.id, o.memory_id, f.memory_id
  FROM stated f JOIN memories m ON m.id = f.memory_id
  JOIN stated o ON o.src_id = f.src_id AND o.canonical = f.canonical AND o.dst_id <> f.dst_id
    AND o.memory_id <> f.memory_id AND o.recorded_at <= f.recorded_at
    AND o.read_with IS NULL AND o.valid_to IS NULL AND o.beside IS NULL
  JOIN memories e ON e.id = o.memory_id AND e.scope IS NOT DISTINCT FROM m.scope
  WHERE f.memory_id = ANY(ids) AND f.single_valued AND f.read_with IS NULL AND f.valid_to IS NULL
  ORDER BY f.id, o.recorded_at DESC, o.id DESC
$body$;

-- For each text of a memory, by its number from 1 on, the earlier memories of its scope that share most of its rare words,
-- nearest first; or the later ones that were compared before these came. A word that more than 500 memories of the scope
-- hold says little of what a text is about, a memory of more than 20,000 characters is a document, and what shares less
-- than .3 of what the nearest does is hardly about the same. Each word's memories are found by themselves, the latest 40:
-- one of common words costs no more than one of rare ones.
CREATE FUNCTION hopgate_near(ids bigint[], texts text[], later boolean, most integer)
RETURNS TABLE (text_number bigint, place bigint, memory_id bigint) LANGUAGE sql STABLE AS $body$
  WITH asked AS MATERIALIZED (
    SELECT given.key, m.id, m.scope, m.created_at,
      hopgate_tsvector(coalesce(m.search_language, hopgate_language()), given.text) AS search_vector
    FROM unnest(ids, texts) WITH ORDINALITY AS given (id, text, key) JOIN memories m USING (id)
    WHERE NOT m.is_sensitive
  ), words AS MATERIALIZED (
    SELECT asked.*, words_of.word, counted.held,
      row_number() OVER (PARTITION BY asked.key ORDER BY counted.held, words_of.word COLLATE "C") AS rarity
    FROM asked CROSS JOIN LATERAL unnest(tsvector_to_array(search_vector)) AS words_of (word)
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(memories), 0)::float8 AS held FROM (
        SELECT memories, scope FROM word_counts WHERE word = hashtextextended(words_of.word, 0)
        UNION ALL SELECT memories, scope FROM word_changes WHERE word = hashtextextended(words_of.word, 0)
      ) AS both_tables WHERE both_tables.scope IS NOT DISTINCT FROM asked.scope
    ) AS counted WHERE counted.held BETWEEN 2 AND 500
  ), met AS (
    SELECT words.key, o.id, o.created_at, sum(ln(1000 / words.held)) AS shared
    FROM words CROSS JOIN LATERAL (
      SELECT m.id, m.created_at FROM memories m
      WHERE m.search_vector @@ ('''' || replace(replace(words.word, '\', '\\'), '''', '''''') || '''')::tsquery
        AND m.scope IS NOT DISTINCT FROM words.scope AND NOT m.is_sensitive AND length(m.content) <= 20000
        AND CASE WHEN later THEN (m.created_at, m.id) > (words.created_at, words.id)
          AND EXISTS (SELECT FROM extractions x WHERE x.memory_id = m.id AND x.changes_by IS NOT NULL)
        ELSE (m.created_at, m.id) < (words.created_at, words.id) END
      ORDER BY m.created_at DESC, m.id DESC LIMIT 40
    ) AS o WHERE words.rarity <= 12 GROUP BY 1, 2, 3
  )
  SELECT key, nth, id FROM (
    SELECT *, row_number() OVER nearest AS nth, first_value(shared) OVER nearest AS greatest_shared
    FROM met WINDOW nearest AS (PARTITION BY key ORDER BY shared DESC, created_at DESC, id DESC)
  ) AS placed WHERE nth <= most AND shared >= .3 * greatest_shared
$body$;

-- For each memory the open facts of earlier ones of its scope about what it mentions; between two such things first.
CREATE FUNCTION hopgate_open_facts(ids bigint[], most integer) RETURNS TABLE (
  place bigint, later_id bigint, id bigint, memory_id bigint, scope text, subject_id bigint, relation text,
  object_id bigint, valid_from timestamptz, subject text, object text
) LANGUAGE sql STABLE AS $body$
  SELECT row_number() OVER (ORDER BY m.id, f.both_named DESC, f.recorded_at DESC, f.id DESC), m.id, f.id, f.memory_id,
    f.scope, f.subject_id, f.relation, f.object_id, f.valid_from, f.subject, f.object
  FROM memories m CROSS JOIN LATERAL (
    SELECT * FROM (
      SELECT DISTINCT ON (o.src_id, o.relation, o.dst_id) o.*, o.dst_id IN (
          SELECT c.concept_id FROM mentions n JOIN concept_names c ON c.id = n.name_id WHERE n.memory_id = m.id
        ) AS both_named
      FROM stated o JOIN memories e ON e.id = o.memory_id
      WHERE o.src_id IN (
          SELECT c.concept_id FROM mentions n JOIN concept_names c ON c.id = n.name_id WHERE n.memory_id = m.id)
        AND e.scope IS NOT DISTINCT FROM m.scope AND (e.created_at, e.id) < (m.created_at, m.id)
        AND o.valid_to IS NULL AND o.read_with IS NULL AND o.beside IS NULL
        AND NOT EXISTS (
          SELECT FROM facts x WHERE x.subject_id = o.subject_id AND x.relation = o.relation
          AND x.object_id = o.object_id AND (x.valid_to IS NOT NULL OR x.memory_id = m.id))
      ORDER BY o.src_id, o.relation, o.dst_id, o.recorded_at DESC, o.id DESC
    ) AS open ORDER BY both_named DESC, recorded_at DESC, id DESC LIMIT most
  ) AS f WHERE m.id = ANY(ids) AND NOT m.is_sensitive
$body$;

CREATE TABLE statements (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  memory_id bigint NOT NULL REFERENCES memories ON DELETE CASCADE,
  statement text NOT NULL,
  subject text,
  weight real NOT NULL DEFAULT 1,
  valid_from timestamptz,
  valid_to timestamptz,
  recorded_at timestamptz NOT NULL,
  embedding halfvec
);
ALTER TABLE statements ALTER statement SET STATISTICS 0, ALTER subject SET STATISTICS 0;
CREATE INDEX statements_memory ON statements (memory_id);
-- By hash, so that one is stored once for a memory however long it is.
CREATE UNIQUE INDEX statements_once ON statements (memory_id, md5(statement));
-- As rows of a statements.jsonl.
CREATE VIEW statement_rows AS
  SELECT json_build_object('doc_id', external_id, 'statement', statement, 'subject', nullif(subject, ''),
    'confidence', nullif(round(weight::numeric, 6), 1), 'valid_from', (valid_from AT TIME ZONE 'UTC')::date,
    'valid_to', (valid_to AT TIME ZONE 'UTC')::date) AS row
  FROM statements s JOIN memories m ON m.id = memory_id WHERE NOT is_sensitive ORDER BY s.id;

-- ---- What follows: can be made again from the tables above ----------------------------------------------------------

CREATE TABLE memory_concepts (
  memory_id bigint NOT NULL REFERENCES memories ON DELETE CASCADE,
  concept_id bigint NOT NULL REFERENCES concepts ON DELETE CASCADE,
  relation text NOT NULL DEFAULT 'mentions',
  weight real NOT NULL DEFAULT 1,
  PRIMARY KEY (memory_id, concept_id)
);
CREATE INDEX memory_concepts_concept ON memory_concepts (concept_id, memory_id);

CREATE FUNCTION hopgate_linked_concepts() RETURNS trigger LANGUAGE plpgsql SET search_path = hopgate, pg_temp AS $body$
BEGIN
  IF TG_OP = 'INSERT' THEN
    UPDATE concepts SET memory_count = memory_count + counted
    FROM (SELECT concept_id, count(*) AS counted FROM came GROUP BY 1) AS c WHERE id = concept_id;
  ELSE
    UPDATE concepts SET memory_count = memory_count - counted
    FROM (SELECT concept_id, count(*) AS counted FROM went GROUP BY 1) AS c WHERE id = concept_id;
  END IF;
  RETURN NULL;
END
$body$;
CREATE TRIGGER hopgate_links_came AFTER INSERT ON memory_concepts REFERENCING NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_linked_concepts();
CREATE TRIGGER hopgate_links_went AFTER DELETE ON memory_concepts REFERENCING OLD TABLE AS went
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_linked_concepts();

CREATE TABLE concept_edges (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  scope text NOT NULL DEFAULT '',
  src_id bigint NOT NULL REFERENCES concepts ON DELETE CASCADE,
  dst_id bigint NOT NULL REFERENCES concepts ON DELETE CASCADE,
  relation text NOT NULL,
  weight real NOT NULL DEFAULT 1,
  valid_from timestamptz,
  valid_to timestamptz,
  recorded_at timestamptz NOT NULL DEFAULT now(),
  retired_at timestamptz,
  evidence_memory_ids bigint[] NOT NULL,
  embedding halfvec,
  CHECK (valid_from IS NULL OR valid_to IS NULL OR valid_from <= valid_to)
);
ALTER TABLE concept_edges ALTER relation SET STATISTICS 0;
CREATE INDEX concept_edges_scope ON concept_edges (scope);
-- An edge of a hub is found without reading the hub's others.
CREATE INDEX concept_edges_src ON concept_edges (src_id, relation, dst_id);
CREATE INDEX concept_edges_dst ON concept_edges (dst_id);
CREATE INDEX concept_edges_evidence ON concept_edges USING gin (evidence_memory_ids);

-- Concepts are called by their names, the most used first, and go with the last one. A name that is used as often as a
-- longer one never stands alone: "Pi 4" brings "Pi", and is what it is called. Facts about what is called otherwise now
-- lose the vectors that were made of its old name.
CREATE FUNCTION hopgate_name_concepts() RETURNS trigger LANGUAGE plpgsql SET search_path = hopgate, pg_temp AS $body$
DECLARE
  ids bigint[];
BEGIN
  IF TG_OP = 'UPDATE' THEN
    ids := ARRAY(SELECT DISTINCT unnest(ARRAY[went.concept_id, came.concept_id]) FROM went JOIN came USING (id)
      WHERE (went.concept_id, went.name, went.kind, went.uses) IS DISTINCT FROM
        (came.concept_id, came.name, came.kind, came.uses));
  ELSE
    ids := ARRAY(SELECT DISTINCT concept_id FROM went);
  END IF;
  DELETE FROM concepts c WHERE id = ANY(ids) AND NOT EXISTS (SELECT FROM concept_names WHERE concept_id = c.id);
  WITH named AS (
    UPDATE concepts c SET canonical_name = n.names[1], aliases = n.names, kind = n.kind
    FROM (
      SELECT concept_id, array_agg(name ORDER BY uses DESC, length(name) DESC, name) AS names,
        (array_agg(kind ORDER BY uses DESC, length(name) DESC, name) FILTER (WHERE kind IS NOT NULL))[1] AS kind
      FROM concept_names WHERE concept_id = ANY(ids) GROUP BY concept_id
    ) AS n JOIN concepts was ON was.id = n.concept_id
    WHERE c.id = n.concept_id AND (c.canonical_name, c.aliases, c.kind) IS DISTINCT FROM (n.names[1], n.names, n.kind)
    RETURNING c.id, was.canonical_name <> c.canonical_name AS is_new
  )
  UPDATE concept_edges e SET embedding = NULL FROM named
  WHERE is_new AND named.id IN (e.src_id, e.dst_id) AND embedding IS NOT NULL;
  RETURN NULL;
END
$body$;
CREATE TRIGGER hopgate_names_changed AFTER UPDATE ON concept_names REFERENCING OLD TABLE AS went NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_name_concepts();
CREATE TRIGGER hopgate_names_went AFTER DELETE ON concept_names REFERENCING OLD TABLE AS went
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_name_concepts();

-- The facts of all memories that hold still, each with the edge that holds of which its memory is evidence; or whether it
-- is evidence of such as are over alone.
CREATE VIEW current_facts AS
  SELECT f.id, f.memory_id, f.src_id AS source_id, f.canonical AS relation, f.dst_id AS target_id, f.single_valued,
    f.subject, f.relation AS raw, f.object, f.valid_from, coalesce(f.valid_to <= now(), false) AS is_over, f.read_with,
    edge.held AS edge_id, edge.held IS NULL AND coalesce(edge.over, false) AS has_ended
  FROM stated f JOIN (SELECT id FROM current_memories) m ON m.id = f.memory_id CROSS JOIN LATERAL (
    SELECT max(e.id) FILTER (WHERE e.valid_to IS NULL OR e.valid_to > now()) AS held,
      bool_or(e.valid_to <= now()) AS over
    FROM concept_edges e WHERE e.src_id = f.src_id AND e.relation = f.canonical AND e.dst_id = f.dst_id
      AND e.retired_at IS NULL AND f.memory_id = ANY(e.evidence_memory_ids)
  ) AS edge;

-- How many rows there are of each kind; sensitive memories are not counted.
CREATE VIEW graph_counts AS
  SELECT (SELECT version FROM graph_state) AS version,
    (SELECT count(*) FROM memories WHERE NOT is_sensitive) AS memories,
    (SELECT count(DISTINCT memory_id) FROM memory_concepts) AS linked_memories,
    (SELECT count(*) FROM concepts WHERE kind IS DISTINCT FROM 'value') AS concepts,
    (SELECT count(*) FROM concept_names) AS names,
    (SELECT count(*) FROM memory_concepts) AS mentions,
    count(*) FILTER (WHERE retired_at IS NULL) AS edges,
    count(*) FILTER (WHERE retired_at IS NOT NULL) AS retired,
    (SELECT coalesce(round(avg(retired::int), 4), 0)::float8 FROM (SELECT bool_or(retired_at IS NOT NULL) AS retired
      FROM concept_edges GROUP BY src_id, relation, dst_id) AS f) AS invalidation_rate,
    (SELECT count(*) FROM journal WHERE action = 'merge' AND undone_at IS NULL) AS merges,
    (SELECT count(*) FROM ambiguous_names) AS ambiguous,
    (SELECT count(DISTINCT relation) FROM facts) AS raw_relations,
    count(DISTINCT relation) AS relations,
    -- Of those that are in the graph: many more are declared.
    count(DISTINCT relation) FILTER (WHERE EXISTS (SELECT FROM relations r
      WHERE (r.scope, r.canonical) = (e.scope, e.relation) AND r.single_valued)) AS single_valued
  FROM concept_edges e;

-- Clusters of concepts: of the whole store where `scopes` is empty, else of what these scopes, whose digest this is, say
-- alone. Members are numbers of concepts and no names: what is forgotten leaves no word here.
CREATE TABLE clusters (
  scopes text NOT NULL,
  resolution double precision NOT NULL,
  id integer NOT NULL,
  concept_ids bigint[] NOT NULL,  -- the most central first
  graph_version bigint NOT NULL,
  modularity double precision NOT NULL,  -- of all of them
  last_id integer NOT NULL,  -- the last id that these scopes' clusters were given: none is given again
  made_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (scopes, id)
);

-- ---- Vectors of all of them ------------------------------------------------------------------------------------------

-- Gives the columns of vectors a dimension, with the first embedder and with another one; what was in them goes, and their
-- indexes. Rows of the graph without a vector are found without reading all that have one.
CREATE FUNCTION hopgate_set_dimension(dimension integer) RETURNS void LANGUAGE plpgsql AS $body$
DECLARE
  target text;
BEGIN
  FOREACH target IN ARRAY ARRAY['memories', 'passages', 'concept_edges', 'statements'] LOOP
    EXECUTE format('ALTER TABLE %I DROP COLUMN embedding, ADD COLUMN embedding halfvec(%s)', target, dimension);
  END LOOP;
  CREATE INDEX concept_edges_unembedded ON concept_edges (id) WHERE embedding IS NULL;
  CREATE INDEX statements_unembedded ON statements (id) WHERE embedding IS NULL;
END
$body$;

-- ---- What goes where an owner's own program changes, hides or deletes a row ------------------------------------------

-- The vectors and tokens of memories: they wait for new ones.
CREATE FUNCTION hopgate_forget_vectors(ids bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = hopgate, pg_temp AS $body$
BEGIN
  UPDATE memories SET embedding = NULL WHERE id = ANY(ids) AND embedding IS NOT NULL;
  DELETE FROM passages WHERE memory_id = ANY(ids);
  DELETE FROM memory_tokens WHERE memory_id = ANY(ids);
  INSERT INTO waiting_vectors SELECT id FROM memories WHERE id = ANY(ids) AND NOT is_sensitive ON CONFLICT DO NOTHING;
END
$body$;

-- Takes back what was read in memories, and the names that nobody else mentions; says whether there was anything. Edges
-- and concepts follow from what is left, and are the caller's to derive, under the graph's lock.
CREATE FUNCTION hopgate_revoke(ids bigint[]) RETURNS boolean LANGUAGE plpgsql SET search_path = hopgate, pg_temp AS $body$
DECLARE
  names bigint[];
  linked boolean;
BEGIN
  names := ARRAY(SELECT name_id FROM mentions WHERE memory_id = ANY(ids)
    UNION SELECT unnest(ARRAY[subject_id, object_id]) FROM facts WHERE memory_id = ANY(ids) OR read_with = ANY(ids));
  -- Who was compared with one of these is to be compared with others once more.
  WITH gone AS (DELETE FROM facts WHERE memory_id = ANY(ids) OR read_with = ANY(ids) RETURNING memory_id, read_with),
  freed AS (UPDATE facts SET beside = NULL WHERE beside = ANY(ids) RETURNING memory_id)
  UPDATE extractions SET changes_by = NULL WHERE memory_id IN (SELECT memory_id FROM gone WHERE read_with IS NOT NULL
    UNION SELECT read_with FROM gone UNION SELECT memory_id FROM freed);
  DELETE FROM extractions WHERE memory_id = ANY(ids);
  DELETE FROM memory_concepts WHERE memory_id = ANY(ids);
  linked := FOUND;
  DELETE FROM mentions WHERE memory_id = ANY(ids);
  DELETE FROM concept_names n WHERE id = ANY(names) AND NOT EXISTS (SELECT FROM mentions WHERE name_id = n.id)
    AND NOT EXISTS (SELECT FROM facts WHERE subject_id = n.id) AND NOT EXISTS (SELECT FROM facts WHERE object_id = n.id);
  -- Merges are of the names that are there, as they are spelt now; one without names goes.
  DELETE FROM journal j WHERE action = 'merge' AND name_ids && names
    AND NOT EXISTS (SELECT FROM concept_names WHERE id = ANY(j.name_ids));
  UPDATE journal j SET name_ids = now.ids, merged_name = now.name FROM (
    SELECT x.id, array_agg(n.id ORDER BY n.id) AS ids, CASE WHEN bool_or(n.name = x.merged_name) THEN x.merged_name
      ELSE (array_agg(n.name ORDER BY n.uses DESC, length(n.name) DESC, n.name))[1] END AS name
    FROM journal x JOIN concept_names n ON n.id = ANY(x.name_ids)
    WHERE x.action = 'merge' AND x.name_ids && names GROUP BY x.id, x.merged_name
  ) AS now WHERE now.id = j.id;
  RETURN linked OR names <> '{}';
END
$body$;

-- Forgets those of the relations that no fact has any more. Others that one was canonical for are called by the most used
-- of them, and their edges with them.
CREATE FUNCTION hopgate_drop_relations(scopes text[], raws text[]) RETURNS void
LANGUAGE plpgsql SET search_path = hopgate, pg_temp AS $body$
DECLARE
  unused relations;
  heir text;
BEGIN
  FOR unused IN DELETE FROM relations r USING unnest(scopes, raws) AS g (scope, raw)
    WHERE (r.scope, r.raw) = (g.scope, g.raw)
      AND NOT EXISTS (SELECT FROM facts f WHERE (f.scope, f.relation) = (r.scope, r.raw)) RETURNING r.*
  LOOP
    SELECT raw INTO heir FROM relations r WHERE (r.scope, r.canonical) = (unused.scope, unused.raw)
      ORDER BY (SELECT count(*) FROM facts f WHERE (f.scope, f.relation) = (r.scope, r.raw)) DESC, raw LIMIT 1;
    UPDATE concept_edges SET relation = heir WHERE (scope, relation) = (unused.scope, unused.raw) AND heir IS NOT NULL;
    UPDATE relations SET canonical = heir WHERE (scope, canonical) = (unused.scope, unused.raw);
  END LOOP;
END
$body$;

-- The turns that follow each of these in its thread and may have been read with it. Sensitive ones are among them, and
-- more than are read with: some of those between were perhaps sensitive then, or are now.
CREATE FUNCTION hopgate_turns_after(ids bigint[]) RETURNS SETOF bigint
LANGUAGE sql STABLE SET search_path = hopgate, pg_temp AS $body$
  SELECT DISTINCT later.id FROM turns told, LATERAL (
    SELECT t.id FROM turns t WHERE t.thread = told.thread AND t.scope IS NOT DISTINCT FROM told.scope
      AND (t.created_at, t.id) > (told.created_at, told.id) ORDER BY t.created_at, t.id LIMIT 8
  ) AS later WHERE told.id = ANY(ids)
$body$;

-- All later turns that mention a name of one of these without holding it: "she" was told.
CREATE FUNCTION hopgate_read_with(ids bigint[]) RETURNS SETOF bigint
LANGUAGE sql STABLE SET search_path = hopgate, pg_temp AS $body$
  SELECT DISTINCT later.id FROM turns told JOIN turns later ON later.thread = told.thread
    AND later.scope IS NOT DISTINCT FROM told.scope AND (later.created_at, later.id) > (told.created_at, told.id)
  JOIN mentions named ON named.memory_id = told.id
  JOIN mentions meant ON meant.memory_id = later.id AND meant.name_id = named.name_id
  -- As whole words: "Canada" is not Ada.
  WHERE told.id = ANY(ids) AND NOT later.content ~*
    ('\m' || regexp_replace(meant.spelling, '([^[:alnum:][:space:]])', '\\\1', 'g') || '\M')
$body$;

-- All that was made of these memories' texts, in the transaction that changes them: they wait for a vector and for the
-- graph again. So do the turns after them, which may have taken a name over from them. Edges are without their evidence
-- at once; intervals that depended on it are derived anew by the next build.
CREATE FUNCTION hopgate_forget(ids bigint[]) RETURNS void LANGUAGE plpgsql SET search_path = hopgate, pg_temp AS $body$
DECLARE
  turns bigint[];
  homes bigint[];
  scopes text[];
  raws text[];
BEGIN
  PERFORM hopgate_forget_vectors(ids);
  turns := ARRAY(SELECT hopgate_turns_after(ids)) || ids;
  DELETE FROM statements WHERE memory_id = ANY(turns);
  DELETE FROM extraction_cache WHERE memory_id = ANY(turns);
  IF NOT EXISTS (SELECT FROM extractions WHERE memory_id = ANY(turns)) THEN
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('hopgate graph'));
  homes := ARRAY(SELECT DISTINCT concept_id FROM concept_names WHERE id IN (
    SELECT name_id FROM mentions WHERE memory_id = ANY(turns)
    UNION SELECT unnest(ARRAY[subject_id, object_id]) FROM facts WHERE memory_id = ANY(turns) OR read_with = ANY(turns)));
  SELECT array_agg(scope), array_agg(relation) INTO scopes, raws FROM (
    SELECT DISTINCT scope, relation FROM facts WHERE memory_id = ANY(turns) OR read_with = ANY(turns)) AS told;
  PERFORM hopgate_revoke(turns);
  UPDATE concept_edges SET evidence_memory_ids = ARRAY(SELECT unnest(evidence_memory_ids) EXCEPT SELECT unnest(turns))
    WHERE evidence_memory_ids && turns;
  DELETE FROM concept_edges WHERE evidence_memory_ids = '{}' AND (src_id = ANY(homes) OR dst_id = ANY(homes));
  PERFORM hopgate_drop_relations(scopes, raws);
  UPDATE graph_state SET version = version + 1, changed_at = now(), derived = derived AND raws IS NULL;
END
$body$;
