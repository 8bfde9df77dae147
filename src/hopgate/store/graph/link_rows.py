"""Which memory talks about which concept: rows of `memory_concepts`, and the count of memories that concepts keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hopgate.store.graph.known_keys import keys_known

if TYPE_CHECKING:
    from psycopg import Connection

# The column `relation` says where a row comes from: an extractor mentioned the concept, or the memory's title names it.
MENTIONS = "mentions"
TITLED = "titled"
# A condition on `memories`: it talks about one of the concepts.
LINKED_TO = "id IN (SELECT memory_id FROM memory_concepts WHERE concept_id = ANY(%(concepts)s::bigint[]))"

_UNLINK = (
    "WITH gone AS (DELETE FROM memory_concepts WHERE memory_id = ANY(%(ids)s) RETURNING concept_id), "
    "counted AS (SELECT concept_id, count(*) AS n FROM gone GROUP BY concept_id) "
    "UPDATE concepts c SET memory_count = memory_count - n FROM counted WHERE c.id = counted.concept_id"
)


def link_mentions(connection: Connection[Any], memory_ids: Sequence[int]) -> None:
    """Derive anew which concepts memories talk about, from their mentions, and count them."""
    with connection.pipeline():
        connection.execute(_UNLINK, {"ids": list(memory_ids)})
        connection.execute(
            "WITH made AS (INSERT INTO memory_concepts (memory_id, concept_id, relation, weight) SELECT DISTINCT "
            "memory_id, concept_id, %(relation)s, 1 FROM mentions JOIN concept_names n ON n.id = name_id "
            "WHERE memory_id = ANY(%(ids)s) RETURNING concept_id), "
            "counted AS (SELECT concept_id, count(*) AS n FROM made GROUP BY concept_id) "
            "UPDATE concepts c SET memory_count = memory_count + n FROM counted WHERE c.id = counted.concept_id",
            {"ids": list(memory_ids), "relation": MENTIONS},
        )


def lock_mentioning(connection: Connection[Any]) -> None:
    """Let nobody delete a memory that is about to be linked, as the check of a key would."""
    connection.execute("SELECT FROM memories WHERE id IN (SELECT memory_id FROM mentions) ORDER BY id FOR KEY SHARE")


def link_all_mentions(connection: Connection[Any]) -> None:
    """Derive anew which concepts all memories talk about, from their mentions, and count them.

    The memories are locked: see `lock_mentioning`.
    """
    connection.execute("DELETE FROM memory_concepts")
    with keys_known(connection):
        connection.execute(
            # In the order of the key: its index then grows at its end, and not all over.
            "WITH made AS (INSERT INTO memory_concepts (memory_id, concept_id, relation, weight) "
            "SELECT DISTINCT memory_id, concept_id, %s, 1::real FROM mentions JOIN concept_names n ON n.id = name_id "
            "ORDER BY memory_id, concept_id RETURNING concept_id) "
            "UPDATE concepts c SET memory_count = coalesce(k.n, 0) FROM concepts o LEFT JOIN (SELECT concept_id, "
            "count(*) AS n FROM made GROUP BY concept_id) AS k ON k.concept_id = o.id "
            "WHERE c.id = o.id AND c.memory_count <> coalesce(k.n, 0)",
            (MENTIONS,),
        )


def link_titles(connection: Connection[Any], links: Sequence[tuple[int, int]], weight: float) -> None:
    """Link memories to the concepts that their titles name, in the place of a mention where there is one."""
    connection.execute(
        "WITH made AS (INSERT INTO memory_concepts AS old (memory_id, concept_id, relation, weight) "
        "SELECT m, c, %(relation)s, %(weight)s FROM unnest(%(memories)s::bigint[], %(concepts)s::bigint[]) AS l (m, c) "
        "ON CONFLICT (memory_id, concept_id) DO UPDATE SET relation = excluded.relation, weight = excluded.weight "
        "WHERE old.relation <> excluded.relation RETURNING concept_id, xmax = 0 AS is_new), "
        "counted AS (SELECT concept_id, count(*) AS n FROM made WHERE is_new GROUP BY concept_id) "
        "UPDATE concepts c SET memory_count = memory_count + n FROM counted WHERE c.id = counted.concept_id",
        {
            "memories": [memory for memory, _ in links],
            "concepts": [concept for _, concept in links],
            "relation": TITLED,
            "weight": weight,
        },
    )


def unlink(connection: Connection[Any], memory_ids: Sequence[int]) -> bool:
    """Forget which concepts memories talk about; say whether they talked about any."""
    return connection.execute(_UNLINK, {"ids": list(memory_ids)}).rowcount > 0


def memories_of_concepts(connection: Connection[Any], concept_ids: Sequence[int]) -> list[int]:
    """The memories that talk about concepts."""
    rows = connection.execute(
        "SELECT DISTINCT memory_id FROM memory_concepts WHERE concept_id = ANY(%s) ORDER BY 1", (list(concept_ids),)
    )
    return [row[0] for row in rows]


def is_linked(connection: Connection[Any], memory_id: int, concept_ids: Sequence[int]) -> bool:
    """Whether a memory talks about one of these concepts."""
    row = connection.execute(
        "SELECT 1 FROM memory_concepts WHERE memory_id = %s AND concept_id = ANY(%s) LIMIT 1",
        (memory_id, list(concept_ids)),
    ).fetchone()
    return row is not None
