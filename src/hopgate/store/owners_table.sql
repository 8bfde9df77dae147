-- What follows an owner's table: `statements` in owners_table.py fills in what begins with an at sign.

LOCK TABLE @table IN SHARE ROW EXCLUSIVE MODE;
CREATE UNIQUE INDEX memories_row_key ON memories (row_key);

-- ---- From the owner's rows to memories -------------------------------------------------------------------------------

-- How columns of the owner's are read, each by its type. A list may stand in a text: "cat,vet" and '{"cat","vet"}'.
CREATE FUNCTION hopgate_list(list text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $body$
  SELECT coalesce(array_agg(word ORDER BY place), '{}') FROM (
    SELECT btrim(part, ' "''') AS word, place
    FROM unnest(string_to_array(translate(btrim(coalesce(list, ''), '{}[]'), ';', ','), ',')) WITH ORDINALITY
      AS parts (part, place)
  ) AS words WHERE word <> ''
$body$;
CREATE FUNCTION hopgate_list(list text[]) RETURNS text[] LANGUAGE sql IMMUTABLE RETURN coalesce(list, '{}');
CREATE FUNCTION hopgate_list(list jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE
RETURN ARRAY(SELECT jsonb_array_elements_text(CASE jsonb_typeof(list) WHEN 'array' THEN list ELSE '[]' END));
CREATE FUNCTION hopgate_list(list json) RETURNS text[] LANGUAGE sql IMMUTABLE RETURN hopgate_list(list::jsonb);

-- A flag that is not said to be off, NULL above all, is on.
CREATE FUNCTION hopgate_flag(flag boolean) RETURNS boolean LANGUAGE sql IMMUTABLE RETURN coalesce(flag, true);
CREATE FUNCTION hopgate_flag(flag float8) RETURNS boolean LANGUAGE sql IMMUTABLE RETURN coalesce(flag <> 0, true);
CREATE FUNCTION hopgate_flag(flag text) RETURNS boolean LANGUAGE sql IMMUTABLE RETURN coalesce(lower(btrim(flag))
  NOT IN ('', '0', 'f', 'false', 'n', 'no', 'off', 'nein', 'public', 'none'), true);

CREATE FUNCTION hopgate_time(moment timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE RETURN moment;
CREATE FUNCTION hopgate_time(moment timestamp) RETURNS timestamptz LANGUAGE sql IMMUTABLE
RETURN moment AT TIME ZONE 'UTC';
CREATE FUNCTION hopgate_time(moment date) RETURNS timestamptz LANGUAGE sql IMMUTABLE
RETURN moment::timestamp AT TIME ZONE 'UTC';

-- The rows of the table that are memories, of some keys or all, as fields of memories.
CREATE FUNCTION hopgate_owners_rows(keys text[]) RETURNS TABLE (row_key text, @fields_with_types)
LANGUAGE plpgsql STABLE SET search_path = hopgate, pg_temp AS $body$
#variable_conflict use_column
BEGIN
  IF keys IS NULL THEN
    RETURN QUERY SELECT t.@key::text, @fields_read FROM @table AS t WHERE true@not_hidden ORDER BY t.@key;
  ELSE
    RETURN QUERY SELECT t.@key::text, @fields_read FROM @table AS t WHERE t.@key = ANY(keys::@key_type[])@not_hidden;
  END IF;
END
$body$;

-- Brings the memories of some rows, or of all, up to date. `opened` are rows whose flag said that they are sensitive, and
-- says so no more: the owner took it back by name.
CREATE FUNCTION hopgate_follow(keys text[], opened text[]) RETURNS void
LANGUAGE plpgsql SET search_path = hopgate, pg_temp AS $body$
BEGIN
  PERFORM set_config('hopgate.following', 'on', true);
  PERFORM hopgate_forget(array_agg(m.id)) FROM memories m
    LEFT JOIN hopgate_owners_rows(keys) r ON r.row_key = m.row_key
    WHERE m.row_key = ANY(keys) AND (r.row_key IS NULL OR r.is_sensitive AND NOT m.is_sensitive
      OR (@texts_of_memory) IS DISTINCT FROM (@texts_of_row))
    HAVING count(*) > 0;
  DELETE FROM memories m WHERE m.row_key = ANY(keys)
    AND NOT EXISTS (SELECT FROM hopgate_owners_rows(keys) r WHERE r.row_key = m.row_key);
  UPDATE memories m SET @changes,
    is_sensitive = r.is_sensitive OR (m.is_sensitive AND NOT coalesce(m.row_key = ANY(opened), false))
  FROM hopgate_owners_rows(keys) r WHERE keys IS NOT NULL AND m.row_key = r.row_key;
  INSERT INTO memories (row_key, external_id, created_at, dated, @others)
  SELECT r.row_key, coalesce(r.external_id, r.row_key), coalesce(r.created_at, now()), r.created_at IS NOT NULL,
    @others_of_row
  FROM hopgate_owners_rows(keys) r WHERE NOT EXISTS (SELECT FROM memories m WHERE m.row_key = r.row_key);
  PERFORM set_config('hopgate.following', 'off', true);
END
$body$;

CREATE FUNCTION hopgate_owner_changed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = hopgate, pg_temp AS $body$
BEGIN
  IF current_setting('hopgate.writing_back', true) = 'on' THEN
    RETURN NULL;
  ELSIF TG_OP = 'TRUNCATE' THEN
    PERFORM hopgate_follow(array_agg(row_key), NULL) FROM memories WHERE row_key IS NOT NULL HAVING count(*) > 0;
  ELSIF TG_OP = 'INSERT' THEN
    PERFORM hopgate_follow(array_agg(DISTINCT @key::text), NULL) FROM came HAVING count(*) > 0;
  ELSIF TG_OP = 'DELETE' THEN
    PERFORM hopgate_follow(array_agg(DISTINCT @key::text), NULL) FROM went HAVING count(*) > 0;
  ELSE
    PERFORM hopgate_follow(array_agg(k), @opened)
    FROM (SELECT @key::text AS k FROM went UNION SELECT @key::text FROM came) AS keys HAVING count(*) > 0;
  END IF;
  RETURN NULL;
END
$body$;
CREATE TRIGGER hopgate_follows_insert AFTER INSERT ON @table REFERENCING NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_owner_changed();
CREATE TRIGGER hopgate_follows_update AFTER UPDATE ON @table REFERENCING OLD TABLE AS went NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_owner_changed();
CREATE TRIGGER hopgate_follows_delete AFTER DELETE ON @table REFERENCING OLD TABLE AS went
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_owner_changed();
CREATE TRIGGER hopgate_follows_truncate AFTER TRUNCATE ON @table
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_owner_changed();

-- ---- From memories to the owner's rows -------------------------------------------------------------------------------

-- What hopgate writes of a memory is written of its row, too: the columns that changed and no others.
CREATE FUNCTION hopgate_write_back() RETURNS trigger
LANGUAGE plpgsql SET search_path = hopgate, pg_temp AS $body$
DECLARE
  unfilled CONSTANT text := @unfilled;  -- a column that must have a value, and for which a memory has none
  r record;
  k text;
  what text;
BEGIN
  IF current_setting('hopgate.following', true) = 'on' OR current_setting('hopgate.writing_back', true) = 'on' THEN
    RETURN NULL;
  END IF;
  PERFORM set_config('hopgate.writing_back', 'on', true);
  IF TG_OP = 'INSERT' THEN
    IF unfilled IS NOT NULL THEN
      RAISE EXCEPTION 'hopgate has no value for the column % of %', unfilled, @name
        USING HINT = 'give it a default, or add rows by your own program', ERRCODE = 'HG001';
    END IF;
    FOR r IN SELECT * FROM came ORDER BY id LOOP
      INSERT INTO @table (@columns) VALUES (@column_values) RETURNING @key::text INTO k;
      UPDATE memories SET row_key = k WHERE id = r.id;
    END LOOP;
  ELSIF TG_OP = 'DELETE' THEN
    DELETE FROM @table t USING went WHERE t.@key = went.row_key::@key_type;
  ELSE
    UPDATE @table t SET @column_updates FROM came n JOIN went o USING (id)
    WHERE t.@key = n.row_key::@key_type AND (@written_now) IS DISTINCT FROM (@written_before);
  END IF;
  PERFORM set_config('hopgate.writing_back', 'off', true);
  RETURN NULL;
-- The server's own message repeats the row.
EXCEPTION WHEN integrity_constraint_violation OR data_exception THEN
  GET STACKED DIAGNOSTICS what = CONSTRAINT_NAME;
  RAISE EXCEPTION 'the table % does not take this memory (%)', @name, coalesce(nullif(what, ''), SQLSTATE)
    USING HINT = 'change what its columns, keys or checks refuse', ERRCODE = 'HG001';
END
$body$;
CREATE TRIGGER hopgate_writes_back_insert AFTER INSERT ON memories REFERENCING NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_write_back();
CREATE TRIGGER hopgate_writes_back_update AFTER UPDATE ON memories REFERENCING OLD TABLE AS went NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_write_back();
CREATE TRIGGER hopgate_writes_back_delete AFTER DELETE ON memories REFERENCING OLD TABLE AS went
  FOR EACH STATEMENT EXECUTE FUNCTION hopgate_write_back();

SELECT hopgate_follow(NULL, NULL);
