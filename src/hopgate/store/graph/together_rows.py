"""Memories that may tell of a change, and the earlier ones that it may be of, to be read together with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from psycopg import Connection

# A word that more memories of its scope hold says little of what a memory is about.
_COMMON = 500
# So many of a memory's rarest words are looked for, and of each so many memories are compared, the latest ones.
_WORDS, _HELD = 12, 40
# Each word's memories are found by themselves: one of common words costs no more than one of rare ones.
_EARLIER = f"""
    WITH later AS MATERIALIZED (
        SELECT id, scope, created_at, search_vector FROM memories WHERE id = ANY(%(ids)s) AND NOT is_sensitive
    ),
    words AS MATERIALIZED (
        SELECT later.*, said.word, counted.held,
          row_number() OVER (PARTITION BY later.id ORDER BY counted.held, said.word COLLATE "C") AS place
        FROM later CROSS JOIN LATERAL unnest(tsvector_to_array(search_vector)) AS said (word)
        CROSS JOIN LATERAL (
            SELECT coalesce(sum(memories), 0)::float8 AS held FROM (
                SELECT memories, scope FROM word_counts WHERE word = hashtextextended(said.word, 0)
                UNION ALL SELECT memories, scope FROM word_changes WHERE word = hashtextextended(said.word, 0)
            ) AS both_tables WHERE both_tables.scope IS NOT DISTINCT FROM later.scope
        ) AS counted WHERE counted.held BETWEEN 2 AND {_COMMON}
    ),
    met AS (
        SELECT words.id AS later_id, o.id, o.created_at, sum(ln({2 * _COMMON} / words.held)) AS shared
        FROM words CROSS JOIN LATERAL (
            SELECT m.id, m.created_at FROM memories m
            WHERE m.search_vector
              @@ ('''' || replace(replace(words.word, '\\', '\\\\'), '''', '''''') || '''')::tsquery
            AND m.scope IS NOT DISTINCT FROM words.scope AND NOT m.is_sensitive
            AND (m.created_at, m.id) < (words.created_at, words.id) AND length(m.content) <= %(longest)s
            ORDER BY m.created_at DESC, m.id DESC LIMIT {_HELD}
        ) AS o WHERE words.place <= {_WORDS} GROUP BY 1, 2, 3
    )
    SELECT later_id, id FROM (
        SELECT *, row_number() OVER (PARTITION BY later_id ORDER BY shared DESC, created_at DESC, id DESC) AS place
        FROM met
    ) AS placed WHERE place <= %(limit)s ORDER BY later_id, place
"""


_STATED = """
    SELECT memory_id, thing, relation, value, valid_from, doubted, over, former FROM (
        SELECT f.memory_id, 0 AS part, f.id AS place, s.name AS thing, f.relation, o.name AS value, f.valid_from,
          f.weight <= %(doubted)s AS doubted, f.valid_to IS NOT NULL AS over,
          '' AS former
        FROM facts f JOIN concept_names s ON s.id = f.subject_id JOIN concept_names o ON o.id = f.object_id
        WHERE f.memory_id = ANY(%(ids)s) AND f.weight > 0 AND NOT f.joint
        UNION ALL
        SELECT memory_id, 1, place, thing, relation, value, valid_from, false, false, coalesce(former_key, '')
        FROM stated_values
        WHERE memory_id = ANY(%(ids)s) AND read_with IS NULL
    ) AS stated ORDER BY memory_id, part, place
"""


class StatedFact(NamedTuple):
    """What a memory states by itself, as a fact or in any words; a doubted fact ends nothing, and some say an end."""

    thing: str
    relation: str
    value: str
    valid_from: datetime | None = None
    is_doubted: bool = False
    is_over: bool = False
    former: str = ""


def wait(connection: Connection[Any], memory_ids: Iterable[int]) -> None:
    """Put memories on the list of those that may tell of a change."""
    connection.execute(
        "INSERT INTO waiting_changes SELECT unnest(%s::bigint[]) ON CONFLICT DO NOTHING", (list(memory_ids),)
    )


def waiting(connection: Connection[Any], limit: int) -> list[int]:
    """The first memories of the list."""
    rows = connection.execute("SELECT memory_id FROM waiting_changes ORDER BY memory_id LIMIT %s", (limit,))
    return [row[0] for row in rows]


def waited(connection: Connection[Any], memory_ids: Sequence[int]) -> None:
    """Take memories off the list."""
    connection.execute("DELETE FROM waiting_changes WHERE memory_id = ANY(%s)", (list(memory_ids),))


def earlier(
    connection: Connection[Any], memory_ids: Sequence[int], *, limit: int, longest: int
) -> dict[int, list[int]]:
    """For each memory the earlier ones of its scope that share most of its rare words, the nearest first.

    Parameters
    ----------
    limit : int
        How many for each.
    longest : int
        Only texts of so many characters at most.
    """
    found: dict[int, list[int]] = {}
    values = {"ids": list(memory_ids), "limit": limit, "longest": longest}
    for later, one in connection.execute(_EARLIER, values):
        found.setdefault(later, []).append(one)
    return found


def stated_by(connection: Connection[Any], memory_ids: Sequence[int], *, doubted: float) -> dict[int, list[StatedFact]]:
    """What memories state, each by itself: facts first, then what they say in any words.

    What they state as they were read with others is in the words of these, and goes with them. A fact of a weight of
    `doubted` or less is.
    """
    found: dict[int, list[StatedFact]] = {}
    for memory_id, *fact in connection.execute(_STATED, {"ids": list(memory_ids), "doubted": doubted}):
        found.setdefault(memory_id, []).append(StatedFact(*fact))
    return found


def still_together(connection: Connection[Any], pairs: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    """Those of the pairs, earlier and later, that are of one scope and in this order."""
    rows = connection.execute(
        "SELECT e.id, l.id FROM unnest(%s::bigint[], %s::bigint[]) AS p (e, l) JOIN memories e ON e.id = p.e "
        "JOIN memories l ON l.id = p.l WHERE e.scope IS NOT DISTINCT FROM l.scope "
        "AND (e.created_at, e.id) < (l.created_at, l.id)",
        ([one for one, _ in pairs], [other for _, other in pairs]),
    )
    return {(row[0], row[1]) for row in rows}


def forget_readings(connection: Connection[Any], memory_ids: Sequence[int]) -> None:
    """Remove what others state as they were read with these memories; they are to be read with others once more."""
    connection.execute(
        "WITH gone AS (DELETE FROM stated_values WHERE read_with = ANY(%(ids)s) RETURNING memory_id, is_change) "
        "INSERT INTO waiting_changes SELECT DISTINCT memory_id FROM gone WHERE is_change "
        "AND memory_id <> ALL(%(ids)s) ON CONFLICT DO NOTHING",
        {"ids": list(memory_ids)},
    )
