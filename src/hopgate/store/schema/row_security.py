"""Row-level security by scope: on one's own PostgreSQL, roles that read the memories of their scopes and nothing else.

The owner of the tables, under which hopgate writes, is not bound by it. A role is let in with
``SELECT hopgate_allow('bob', 'bobs scope')``, which grants reading, and let out with ``hopgate_disallow``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hopgate.store.schema import place

if TYPE_CHECKING:
    from psycopg import Connection

# Which rows a role may see, table by table. Those of `memories` are decided by scope; the others follow from them.
_OF_MEMORY = "EXISTS (SELECT 1 FROM memories m WHERE m.id = memory_id)"
# Clusters of some scopes are for who may see all of these; those of the whole store are made of everybody's texts.
_OF_SCOPES = "scopes <> '{}' AND NOT EXISTS (SELECT 1 FROM unnest(scopes) s WHERE NOT hopgate_may_see(current_user, s))"
POLICIES = {
    "memories": "hopgate_may_see(current_user, scope)",
    "passages": _OF_MEMORY,
    "statements": _OF_MEMORY,
    "mentions": _OF_MEMORY,
    "facts": _OF_MEMORY,
    "stated_values": _OF_MEMORY,
    "memory_concepts": _OF_MEMORY,
    "extractions": _OF_MEMORY,
    "extraction_readings": _OF_MEMORY,
    "waiting_vectors": _OF_MEMORY,
    "waiting_links": _OF_MEMORY,
    "waiting_changes": _OF_MEMORY,
    "noted_ends": "EXISTS (SELECT 1 FROM memories m WHERE m.id = later_id) "
    "AND EXISTS (SELECT 1 FROM memories m WHERE m.id = earlier_id)",
    "concept_names": "EXISTS (SELECT 1 FROM mentions x WHERE x.name_id = concept_names.id)",
    "concepts": "EXISTS (SELECT 1 FROM mentions x JOIN concept_names y ON y.id = x.name_id "
    "WHERE y.concept_id = concepts.id)",
    "concept_edges": "evidence_memory_ids <> '{}' AND EXISTS (SELECT 1 FROM memories m "
    "WHERE m.id = ANY(evidence_memory_ids))",
    "relations": "EXISTS (SELECT 1 FROM facts f WHERE f.relation = raw)",
    "word_counts": "hopgate_may_see(current_user, scope)",
    "word_changes": "hopgate_may_see(current_user, scope)",
    "word_totals": "hopgate_may_see(current_user, scope)",
    "cluster_partitions": _OF_SCOPES,
    "concept_clusters": _OF_SCOPES,
    "cluster_numbers": _OF_SCOPES,
    # What is made of many scopes' texts is nobody's: these have no policy, and so no rows for a reader.
    "concept_merges": "false",
    "extraction_cache": "false",
    "memory_keys": "false",
    "mend_log": "false",
    "scope_roles": "false",
    "set_aside": "false",
}
# What says nothing about a memory is read as it is: which embedder, which version, which settings.
# What changed says no more than numbers, and whoever walks the graph must follow it.
OPEN = (
    "embedding_space", "graph_state", "graph_changes", "graph_changes_swept", "store_settings", place.VERSION_TABLE,
)  # fmt: skip

_MADE = """
CREATE OR REPLACE FUNCTION hopgate_may_see(who name, asked text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS
$$ SELECT EXISTS (SELECT 1 FROM scope_roles WHERE scope = asked AND role = who) $$;

CREATE OR REPLACE FUNCTION hopgate_allow(who name, asked text) RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE one text;
BEGIN
  INSERT INTO scope_roles VALUES (who, asked) ON CONFLICT DO NOTHING;
  FOREACH one IN ARRAY string_to_array('{tables}', ' ') LOOP
    EXECUTE format('GRANT USAGE ON SCHEMA %s TO %I', (SELECT relnamespace::regnamespace FROM pg_class
      WHERE oid = one::regclass), who);
    EXECUTE format('GRANT SELECT ON %s TO %I', one::regclass, who);
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION hopgate_disallow(who name, asked text) RETURNS void
LANGUAGE sql SET search_path FROM CURRENT AS $$ DELETE FROM scope_roles WHERE role = who AND scope = asked $$;

REVOKE ALL ON FUNCTION hopgate_allow(name, text), hopgate_disallow(name, text) FROM PUBLIC;
"""


def enable(connection: Connection[Any]) -> None:
    """Turn row-level security on, or bring it up to date; who was let in stays so."""
    # The functions keep this path: the schemas by their names, and not that of whoever calls them.
    connection.execute(f"SET LOCAL search_path = {place.quoted(place.schemas(connection))}")
    connection.execute(_MADE.replace("{tables}", " ".join([*POLICIES, *OPEN])))
    for table, condition in POLICIES.items():
        connection.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        connection.execute(f"DROP POLICY IF EXISTS hopgate_scope ON {table}")
        connection.execute(f"CREATE POLICY hopgate_scope ON {table} FOR SELECT USING ({condition})")
