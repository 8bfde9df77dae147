-- What a store says, without the ids that say nothing: the logical rows of each table. {memory} is what a memory `m` is
-- called.

-- rows: memories
SELECT {memory}, content, category, tags, expanded_keywords, importance, is_sensitive, scope,
  CASE WHEN dated THEN created_at::text END, thread, reply_to, superseded_at::text, superseded_reason,
  (SELECT b.external_id FROM memories b WHERE b.id = m.superseded_by), md5(m.embedding::text)
FROM memories m;

-- rows: passages
SELECT {memory}, number, starts, ends, md5(p.embedding::text) FROM passages p JOIN memories m ON m.id = memory_id;

-- rows: tokens
SELECT {memory}, count, md5(tokens) FROM memory_tokens JOIN memories m ON m.id = memory_id;

-- rows: extractions
SELECT {memory}, extractor_hash, state, reason FROM extractions JOIN memories m ON m.id = memory_id;

-- rows: relations
SELECT raw, canonical, single_valued FROM relations;

-- rows: names
SELECT normal_name, name, n.kind, uses, canonical_name FROM concept_names n JOIN concepts c ON c.id = concept_id;

-- rows: concepts
SELECT canonical_name, aliases, kind, memory_count FROM concepts;

-- rows: mentions
SELECT {memory}, normal_name, spelling, t.kind
FROM mentions t JOIN memories m ON m.id = memory_id JOIN concept_names n ON n.id = name_id;

-- rows: facts
SELECT {memory}, s.normal_name, relation, o.normal_name, weight, valid_from::text, valid_to::text
FROM facts JOIN memories m ON m.id = memory_id
  JOIN concept_names s ON s.id = subject_id JOIN concept_names o ON o.id = object_id;

-- rows: links
SELECT {memory}, canonical_name, x.relation, x.weight
FROM memory_concepts x JOIN memories m ON m.id = memory_id JOIN concepts c ON c.id = concept_id;

-- rows: edges
SELECT s.canonical_name, e.relation, d.canonical_name, weight, valid_from::text, valid_to::text, recorded_at::text,
  retired_at::text,
  (SELECT array_agg({memory} ORDER BY {memory}) FROM memories m WHERE m.id = ANY(evidence_memory_ids)),
  md5(e.embedding::text)
FROM concept_edges e JOIN concepts s ON s.id = src_id JOIN concepts d ON d.id = dst_id;

-- rows: merges
SELECT merged_name, method, undone_at IS NULL FROM journal WHERE action = 'merge';

-- rows: settings
SELECT name, value FROM store_settings WHERE name <> 'id key';

-- rows: space
SELECT identity, late FROM embedding_space;

-- rows: derived
SELECT derived FROM graph_state;

-- What must hold of every store at every moment: each statement gives the rows that break it.

-- always: a memory states a fact once
SELECT memory_id, subject_id, relation, object_id FROM facts
GROUP BY memory_id, subject_id, relation, object_id, valid_from, valid_to, read_with HAVING count(*) > 1;

-- always: names count their mentions
SELECT id FROM concept_names n WHERE uses <> (SELECT count(*) FROM mentions WHERE name_id = n.id);

-- always: names are mentioned, or ends of a fact
SELECT id FROM concept_names n
WHERE NOT EXISTS (SELECT FROM mentions WHERE name_id = n.id)
  AND NOT EXISTS (SELECT FROM facts WHERE n.id IN (subject_id, object_id));

-- always: concepts have names
SELECT id FROM concepts c WHERE NOT EXISTS (SELECT FROM concept_names WHERE concept_id = c.id);

-- always: concepts count their memories
SELECT id FROM concepts c WHERE memory_count <> (SELECT count(*) FROM memory_concepts WHERE concept_id = c.id);

-- always: who states a fact mentions its ends
SELECT f.id FROM facts f
WHERE read_with IS NULL
  AND (NOT EXISTS (SELECT FROM mentions t WHERE t.memory_id = f.memory_id AND t.name_id = f.subject_id)
    OR NOT EXISTS (SELECT FROM mentions t WHERE t.memory_id = f.memory_id AND t.name_id = f.object_id));

-- always: evidence is there and not sensitive
SELECT e.id FROM concept_edges e, unnest(evidence_memory_ids) AS key
WHERE NOT EXISTS (SELECT FROM memories m WHERE m.id = key AND NOT m.is_sensitive);

-- always: edges of a built graph follow from facts
SELECT e.id FROM concept_edges e, graph_state g
WHERE g.derived
  AND NOT EXISTS (
    SELECT FROM facts f JOIN concept_names s ON s.id = f.subject_id JOIN concept_names o ON o.id = f.object_id
      JOIN relations r ON r.raw = f.relation
    WHERE s.concept_id = e.src_id AND o.concept_id = e.dst_id AND r.canonical = e.relation);

-- always: facts of a built graph have an edge
SELECT f.id FROM facts f JOIN concept_names s ON s.id = f.subject_id JOIN concept_names o ON o.id = f.object_id
  JOIN relations r ON r.raw = f.relation, graph_state g
WHERE g.derived AND f.beside IS NULL
  AND NOT EXISTS (
    SELECT FROM concept_edges e
    WHERE e.src_id = s.concept_id AND e.dst_id = o.concept_id AND e.relation = r.canonical);

-- always: mentions of a built graph are linked
SELECT t.memory_id, t.name_id FROM mentions t JOIN concept_names n ON n.id = t.name_id, graph_state g
WHERE g.derived
  AND NOT EXISTS (SELECT FROM memory_concepts x WHERE x.memory_id = t.memory_id AND x.concept_id = n.concept_id);

-- always: who mentions was extracted
SELECT DISTINCT memory_id FROM mentions t, graph_state g
WHERE g.derived AND NOT EXISTS (SELECT FROM extractions x WHERE x.memory_id = t.memory_id);

-- always: nothing was made of a sensitive memory
SELECT id FROM memories m
WHERE is_sensitive
  AND (embedding IS NOT NULL OR m.id IN (
    SELECT memory_id FROM mentions UNION SELECT memory_id FROM facts UNION SELECT read_with FROM facts
      WHERE read_with IS NOT NULL
    UNION SELECT memory_id FROM extractions UNION SELECT memory_id FROM passages UNION SELECT memory_id FROM statements
    UNION SELECT memory_id FROM memory_concepts UNION SELECT memory_id FROM memory_tokens));

-- always: tokens come with the vector
SELECT id FROM memories, embedding_space s
WHERE s.late IS NOT NULL AND embedding IS NOT NULL AND NOT EXISTS (SELECT FROM memory_tokens WHERE memory_id = id);

-- always: words are counted
SELECT * FROM (
    SELECT hashtextextended(lexeme, 0) AS word, scope, count(*) AS n
    FROM memories, unnest(tsvector_to_array(search_vector)) AS lexeme GROUP BY 1, 2
  ) AS there FULL JOIN (
    SELECT word, scope, sum(memories) AS n FROM (TABLE word_counts UNION ALL TABLE word_changes) AS both_tables
    GROUP BY 1, 2 HAVING sum(memories) <> 0
  ) AS counted ON there.word = counted.word AND there.scope IS NOT DISTINCT FROM counted.scope
WHERE there.n IS DISTINCT FROM counted.n;

-- always: memories are counted
SELECT * FROM (SELECT count(*) AS n FROM memories) a, (SELECT coalesce(sum(memories), 0) AS n FROM word_totals) b
WHERE a.n <> b.n;

-- always: indexes are whole
SELECT indexrelid FROM pg_index WHERE NOT indisvalid;

-- always: who lacks a vector or an extraction waits for it, and nobody else
SELECT id FROM memories m
WHERE NOT is_sensitive
  AND (EXISTS (SELECT FROM waiting_vectors WHERE memory_id = m.id) <> (embedding IS NULL)
    OR EXISTS (SELECT FROM waiting_links WHERE memory_id = m.id)
      = EXISTS (SELECT FROM extractions WHERE memory_id = m.id));
