"""What a store says, without the ids that say nothing; and what must hold of every store at every moment."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from psycopg import Connection

_EXTERNAL = "coalesce(m.external_id, m.id::text)"
# Logical rows by table.
_ROWS = {
    "memories": f"SELECT {_EXTERNAL}, content, category, tags, expanded_keywords, importance, is_sensitive, scope, "
    "CASE WHEN dated THEN created_at::text END, thread, reply_to, superseded_at::text, superseded_reason, "
    "(SELECT b.external_id FROM memories b WHERE b.id = m.superseded_by), md5(m.embedding::text) FROM memories m",
    "passages": f"SELECT {_EXTERNAL}, number, starts, ends, md5(p.embedding::text) FROM passages p "
    "JOIN memories m ON m.id = memory_id",
    "tokens": f"SELECT {_EXTERNAL}, count, md5(tokens) FROM memory_tokens JOIN memories m ON m.id = memory_id",
    "extractions": f"SELECT {_EXTERNAL}, extractor_hash, state, reason FROM extractions "
    "JOIN memories m ON m.id = memory_id",
    "relations": "SELECT raw, canonical, single_valued FROM relations",
    "names": "SELECT normal_name, name, n.kind, uses, canonical_name FROM concept_names n JOIN concepts c "
    "ON c.id = concept_id",
    "concepts": "SELECT canonical_name, aliases, kind, memory_count, md5(embedding::text) FROM concepts",
    "mentions": f"SELECT {_EXTERNAL}, normal_name, spelling, t.kind FROM mentions t "
    "JOIN memories m ON m.id = memory_id JOIN concept_names n ON n.id = name_id",
    "facts": f"SELECT {_EXTERNAL}, s.normal_name, relation, o.normal_name, weight, valid_from::text, valid_to::text "
    "FROM facts JOIN memories m ON m.id = memory_id JOIN concept_names s ON s.id = subject_id "
    "JOIN concept_names o ON o.id = object_id",
    "links": f"SELECT {_EXTERNAL}, canonical_name, x.relation, x.weight FROM memory_concepts x JOIN memories m "
    "ON m.id = memory_id JOIN concepts c ON c.id = concept_id",
    "edges": "SELECT s.canonical_name, e.relation, d.canonical_name, weight, valid_from::text, valid_to::text, "
    f"recorded_at::text, retired_at::text, (SELECT array_agg({_EXTERNAL} ORDER BY {_EXTERNAL}) FROM memories m "
    "WHERE m.id = ANY(evidence_memory_ids)), md5(e.embedding::text) FROM concept_edges e "
    "JOIN concepts s ON s.id = src_id JOIN concepts d ON d.id = dst_id",
    "merges": "SELECT merged_name, method, undone_at IS NULL FROM journal WHERE action = 'merge'",
    "settings": "SELECT name, value FROM store_settings WHERE name <> 'id key'",
    "space": "SELECT identity, late FROM embedding_space",
    "derived": "SELECT derived FROM graph_state",
}

_COUNTED = (
    "SELECT hashtextextended(lexeme, 0) AS word, scope, count(*) AS n FROM memories, "
    "unnest(tsvector_to_array(search_vector)) AS lexeme GROUP BY 1, 2"
)
_KEPT = (
    "SELECT word, scope, sum(memories) AS n FROM (SELECT * FROM word_counts UNION ALL SELECT * FROM word_changes) w "
    "GROUP BY 1, 2 HAVING sum(memories) <> 0"
)
# Each gives the rows that break it.
INVARIANTS = {
    "a memory states a fact once": "SELECT memory_id, subject_id, relation, object_id FROM facts "
    "GROUP BY memory_id, subject_id, relation, object_id, valid_from, valid_to, read_with HAVING count(*) > 1",
    "names count their mentions": "SELECT id FROM concept_names n "
    "WHERE uses <> (SELECT count(*) FROM mentions WHERE name_id = n.id)",
    "names are mentioned, or ends of a fact": "SELECT id FROM concept_names n "
    "WHERE NOT EXISTS (SELECT FROM mentions WHERE name_id = n.id) "
    "AND NOT EXISTS (SELECT FROM facts WHERE n.id IN (subject_id, object_id))",
    "concepts have names": "SELECT id FROM concepts c "
    "WHERE NOT EXISTS (SELECT FROM concept_names WHERE concept_id = c.id)",
    "concepts count their memories": "SELECT id FROM concepts c "
    "WHERE memory_count <> (SELECT count(*) FROM memory_concepts WHERE concept_id = c.id)",
    "who states a fact mentions its ends": "SELECT f.id FROM facts f WHERE read_with IS NULL "
    "AND (NOT EXISTS (SELECT FROM mentions t WHERE t.memory_id = f.memory_id AND t.name_id = f.subject_id) "
    "OR NOT EXISTS (SELECT FROM mentions t WHERE t.memory_id = f.memory_id AND t.name_id = f.object_id))",
    "evidence is there and not sensitive": "SELECT e.id FROM concept_edges e, unnest(evidence_memory_ids) AS key "
    "WHERE NOT EXISTS (SELECT FROM memories m WHERE m.id = key AND NOT m.is_sensitive)",
    "edges of a built graph follow from facts": "SELECT e.id FROM concept_edges e, graph_state g WHERE g.derived "
    "AND relation <> 'has in its name' AND NOT EXISTS (SELECT FROM facts f JOIN concept_names s ON s.id = f.subject_id "
    "JOIN concept_names o ON o.id = f.object_id JOIN relations r ON r.raw = f.relation "
    "WHERE s.concept_id = e.src_id AND o.concept_id = e.dst_id AND r.canonical = e.relation)",
    "facts of a built graph have an edge": "SELECT f.id FROM facts f JOIN concept_names s ON s.id = f.subject_id "
    "JOIN concept_names o ON o.id = f.object_id JOIN relations r ON r.raw = f.relation, graph_state g WHERE g.derived "
    "AND f.beside IS NULL AND NOT EXISTS (SELECT FROM concept_edges e "
    "WHERE e.src_id = s.concept_id AND e.dst_id = o.concept_id "
    "AND e.relation = r.canonical)",
    "mentions of a built graph are linked": "SELECT t.memory_id, t.name_id FROM mentions t JOIN concept_names n "
    "ON n.id = t.name_id, graph_state g WHERE g.derived AND NOT EXISTS (SELECT FROM memory_concepts x "
    "WHERE x.memory_id = t.memory_id AND x.concept_id = n.concept_id)",
    "who mentions was extracted": "SELECT DISTINCT memory_id FROM mentions t, graph_state g WHERE g.derived "
    "AND NOT EXISTS (SELECT FROM extractions x WHERE x.memory_id = t.memory_id)",
    "nothing was made of a sensitive memory": "SELECT id FROM memories m WHERE is_sensitive AND EXISTS ("
    "SELECT memory_id FROM mentions WHERE memory_id = m.id UNION "
    "SELECT memory_id FROM facts WHERE m.id IN (memory_id, read_with) "
    "UNION SELECT memory_id FROM extractions WHERE memory_id = m.id UNION SELECT memory_id FROM passages "
    "WHERE memory_id = m.id UNION SELECT memory_id FROM statements WHERE memory_id = m.id "
    "UNION SELECT memory_id FROM memory_concepts WHERE memory_id = m.id "
    "UNION SELECT memory_id FROM memory_tokens WHERE memory_id = m.id)",
    "words are counted": f"SELECT * FROM ({_COUNTED}) a FULL JOIN ({_KEPT}) b ON a.word = b.word "
    "AND a.scope IS NOT DISTINCT FROM b.scope WHERE a.n IS DISTINCT FROM b.n",
    "memories are counted": "SELECT * FROM (SELECT count(*) AS n FROM memories) a, "
    "(SELECT coalesce(sum(memories), 0) AS n FROM word_totals) b WHERE a.n <> b.n",
    "sensitive memories have no vector": "SELECT id FROM memories WHERE is_sensitive AND embedding IS NOT NULL",
    "tokens come with the vector": "SELECT id FROM memories, embedding_space s WHERE s.late IS NOT NULL "
    "AND embedding IS NOT NULL AND NOT EXISTS (SELECT FROM memory_tokens WHERE memory_id = id)",
    "indexes are whole": "SELECT indexrelid FROM pg_index WHERE NOT indisvalid",
}


def digest(connection: Connection[Any]) -> dict[str, str]:
    """A fingerprint of each table's logical rows."""
    found = {}
    for name, statement in _ROWS.items():
        rows = connection.execute(statement).fetchall()
        lines = sorted(json.dumps(row, default=str, sort_keys=True) for row in rows)
        found[name] = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16] + f" of {len(lines)}"
    return found


def broken(connection: Connection[Any]) -> dict[str, list[Any]]:
    """The invariants that do not hold, with the rows that break them."""
    found = {name: connection.execute(statement).fetchmany(5) for name, statement in INVARIANTS.items()}
    return {name: rows for name, rows in found.items() if rows}
