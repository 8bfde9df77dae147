"""Edges of the groups of facts that hold one fact, however many memories state it: most of a graph, in one statement.

Where nothing in a group contradicts or ends anything else, its edge is the fact itself. The others have a history,
which `graph.build.derive` works out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hopgate.store import vectors
from hopgate.store.graph.edge_rows import NAME_INSIDE
from hopgate.store.graph.fact_rows import FactGroup
from hopgate.store.graph.known_keys import keys_known

if TYPE_CHECKING:
    from psycopg import Connection

_FACTS = """
SELECT f.scope, s.concept_id AS src, r.canonical AS relation, o.concept_id AS dst, r.single_valued AS single,
  f.valid_from, f.valid_to, f.memory_id, f.weight, f.recorded_at
FROM facts f JOIN concept_names s ON s.id = f.subject_id JOIN concept_names o ON o.id = f.object_id
JOIN relations r ON r.scope = f.scope AND r.raw = f.relation
"""
# A fact that one memory states several times weighs what its most certain statement does.
_GROUPS = f"""
CREATE TEMP TABLE stated_groups ON COMMIT DROP AS
WITH stated AS (SELECT min(scope) AS scope, src, relation, dst, single, valid_from, valid_to, memory_id,
    max(weight) AS weight, min(recorded_at) AS recorded_at
  FROM ({_FACTS} WHERE f.beside IS NULL) AS counted
  GROUP BY src, relation, dst, single, valid_from, valid_to, memory_id)
SELECT min(scope) AS scope, src, relation, CASE WHEN single THEN NULL ELSE dst END AS dst, min(dst) AS target,
  min(valid_from) AS valid_from,
  min(valid_to) AS valid_to, min(recorded_at) AS recorded_at, sum(weight::text::float8)::real AS weight,
  array_agg(memory_id ORDER BY memory_id) AS evidence,
  min(dst) = max(dst) AND count(valid_from) IN (0, count(*)) AND count(valid_to) IN (0, count(*))
    AND min(valid_from) IS NOT DISTINCT FROM max(valid_from) AND min(valid_to) IS NOT DISTINCT FROM max(valid_to)
    AS plain
FROM stated GROUP BY src, relation, CASE WHEN single THEN NULL ELSE dst END
"""


def derive_plain(connection: Connection[Any]) -> list[FactGroup]:
    """Put the edges of all plain groups in the place of all edges from facts; give the groups that are not plain.

    The vectors of the edges that were there are laid aside for `restore_vectors`.
    """
    embedded = vectors.has_space(connection)
    if embedded:
        connection.execute(
            "CREATE TEMP TABLE kept_vectors ON COMMIT DROP AS SELECT DISTINCT ON (src_id, relation, dst_id) "
            "src_id, relation, dst_id, embedding FROM concept_edges WHERE embedding IS NOT NULL"
        )
    connection.execute("DELETE FROM concept_edges WHERE relation <> %s", (NAME_INSIDE,))
    connection.execute(_GROUPS)
    with keys_known(connection):
        connection.execute(
            "INSERT INTO concept_edges (scope, src_id, dst_id, relation, weight, valid_from, valid_to, recorded_at, "
            "evidence_memory_ids) SELECT scope, src, target, relation, weight, valid_from, valid_to, recorded_at, "
            "evidence FROM stated_groups WHERE plain ORDER BY src, relation, target"
        )
    rows = connection.execute("SELECT src, relation, dst FROM stated_groups WHERE NOT plain ORDER BY 1, 2, 3")
    return [FactGroup(*row) for row in rows]


def restore_vectors(connection: Connection[Any]) -> None:
    """Give edges that were there before `derive_plain` the vectors they had."""
    if not vectors.has_space(connection):
        return
    connection.execute(
        "UPDATE concept_edges e SET embedding = k.embedding FROM kept_vectors k WHERE e.src_id = k.src_id "
        "AND e.relation = k.relation AND e.dst_id = k.dst_id AND e.embedding IS NULL"
    )
