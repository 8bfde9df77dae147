"""Which memories wait to be compared with earlier ones, with which, and what that makes of their facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hopgate.store.rows import Connection, columns_of, fetch, select, value, values

if TYPE_CHECKING:
    from datetime import datetime


# A word that more memories of its scope hold says little of what a memory is about.
_COMMON = 500
# So many of a memory's rarest words are looked for, and of each so many memories are compared, the latest ones.
_WORDS, _HELD = 12, 40
# What shares less of the rare words than this part of what the nearest memory does is hardly about the same.
_LEAST_SHARED = 0.3
# A memory of more characters is a document, of which no sentence is compared with those of others.
_LONGEST = 20_000
# Each word's memories are found by themselves: one of common words costs no more than one of rare ones.
_NEAR = f"""
    WITH asked AS MATERIALIZED (
        SELECT given.key, m.id, m.scope, m.created_at,
          hopgate_tsvector(coalesce(m.search_language, hopgate_language()), given.text) AS search_vector
        FROM unnest(%(ids)s::bigint[], %(texts)s::text[]) WITH ORDINALITY AS given (id, text, key)
        JOIN memories m USING (id) WHERE NOT m.is_sensitive
    ),
    words AS MATERIALIZED (
        SELECT asked.*, words_of.word, counted.held,
          row_number() OVER (PARTITION BY asked.key ORDER BY counted.held, words_of.word COLLATE "C") AS place
        FROM asked CROSS JOIN LATERAL unnest(tsvector_to_array(search_vector)) AS words_of (word)
        CROSS JOIN LATERAL (
            SELECT coalesce(sum(memories), 0)::float8 AS held FROM (
                SELECT memories, scope FROM word_counts WHERE word = hashtextextended(words_of.word, 0)
                UNION ALL SELECT memories, scope FROM word_changes WHERE word = hashtextextended(words_of.word, 0)
            ) AS both_tables WHERE both_tables.scope IS NOT DISTINCT FROM asked.scope
        ) AS counted WHERE counted.held BETWEEN 2 AND {_COMMON}
    ),
    met AS (
        SELECT words.key, o.id, o.created_at, sum(ln({2 * _COMMON} / words.held)) AS shared
        FROM words CROSS JOIN LATERAL (
            SELECT m.id, m.created_at FROM memories m
            WHERE m.search_vector
              @@ ('''' || replace(replace(words.word, '\\', '\\\\'), '''', '''''') || '''')::tsquery
            AND m.scope IS NOT DISTINCT FROM words.scope AND NOT m.is_sensitive AND length(m.content) <= {_LONGEST}
            AND CASE WHEN %(later)s THEN (m.created_at, m.id) > (words.created_at, words.id) AND EXISTS (
                SELECT FROM extractions x WHERE x.memory_id = m.id AND x.changes_by IS NOT NULL)
              ELSE (m.created_at, m.id) < (words.created_at, words.id) END
            ORDER BY m.created_at DESC, m.id DESC LIMIT {_HELD}
        ) AS o WHERE words.place <= {_WORDS} GROUP BY 1, 2, 3
    )
    SELECT key, id FROM (
        SELECT *, row_number() OVER nearest AS place, first_value(shared) OVER nearest AS most
        FROM met WINDOW nearest AS (PARTITION BY key ORDER BY shared DESC, created_at DESC, id DESC)
    ) AS placed WHERE place <= %(limit)s AND shared >= {_LEAST_SHARED} * most ORDER BY key, place
"""
# For each memory the open facts of earlier ones of its scope about what it mentions; between two such things first.
_OPEN = """
    SELECT m.id AS later_id, f.id, f.memory_id, f.scope, f.subject_id, f.relation, f.object_id, f.valid_from,
      f.subject, f.object
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
        ) AS open ORDER BY both_named DESC, recorded_at DESC, id DESC LIMIT %(limit)s
    ) AS f WHERE m.id = ANY(%(ids)s) AND NOT m.is_sensitive
    ORDER BY m.id, f.both_named DESC, f.recorded_at DESC, f.id DESC
"""


class OpenFact(NamedTuple):
    """A fact of an earlier memory that nothing has ended, by its ids and names."""

    later_id: int
    id: int
    memory_id: int
    scope: str
    subject_id: int
    relation: str
    object_id: int
    valid_from: datetime | None
    subject: str
    object: str


class Rival(NamedTuple):
    """A fact of a later memory that ends one of an earlier memory, as the two facts have it."""

    fact_id: int
    earlier_id: int
    later_id: int


def waiting(connection: Connection, extractor_hash: str) -> list[int]:
    """The memories that an extractor read and that nobody compared with earlier ones, in the order of their days."""
    return values(
        connection,
        "SELECT x.memory_id FROM extractions x JOIN memories m ON m.id = x.memory_id "
        "WHERE x.changes_by IS NULL AND x.extractor_hash = %s AND x.state IN ('complete', 'empty') "
        "ORDER BY m.created_at, m.id",
        (extractor_hash,),
    )


def set_compared(connection: Connection, memory_ids: Sequence[int], reader: str | None) -> None:
    """Note that memories were compared with earlier ones, and by whom; or by nobody, so that they wait again."""
    connection.execute("UPDATE extractions SET changes_by = %s WHERE memory_id = ANY(%s)", (reader, list(memory_ids)))


def near(
    connection: Connection, texts: Sequence[tuple[int, str]], *, limit: int, later: bool = False
) -> list[list[int]]:
    """For each text of a memory the earlier memories of its scope that share most of its rare words, nearest first.

    `texts` are memories' ids, each with the part of its text that is asked about. With `later` they are the later
    memories that were compared before these came.
    """
    near_by_text: list[list[int]] = [[] for _ in texts]
    ids, words = columns_of(texts, 2)
    for key, memory_id in connection.execute(_NEAR, {"ids": ids, "texts": words, "limit": limit, "later": later}):
        near_by_text[key - 1].append(memory_id)
    return near_by_text


def late_arrivals(connection: Connection, memory_ids: Sequence[int]) -> list[int]:
    """Those of some memories after whose day others of their scope were already compared with earlier ones."""
    # One pass for each scope's last day: asked of each memory, a first build costs its square.
    return values(
        connection,
        "WITH asked AS MATERIALIZED (SELECT id, scope, created_at FROM memories WHERE id = ANY(%s)), "
        "compared AS MATERIALIZED (SELECT o.scope, max(o.created_at) AS last_day FROM memories o "
        "JOIN extractions x ON x.memory_id = o.id WHERE x.changes_by IS NOT NULL "
        "AND o.created_at > (SELECT min(created_at) FROM asked) GROUP BY o.scope) "
        "SELECT a.id FROM asked a JOIN compared c ON c.scope IS NOT DISTINCT FROM a.scope "
        "WHERE a.created_at < c.last_day",
        (list(memory_ids),),
    )


def with_changes(connection: Connection, memory_ids: Sequence[int]) -> set[int]:
    """Those of some memories that tell a change already."""
    told = (
        "SELECT memory_id FROM facts WHERE memory_id = ANY(%(ids)s) AND read_with IS NOT NULL AND valid_to IS NULL "
        "UNION SELECT read_with FROM facts WHERE read_with = ANY(%(ids)s) AND valid_to IS NOT NULL"
    )
    return set(values(connection, told, {"ids": list(memory_ids)}))


def rivals(connection: Connection, memory_ids: Sequence[int]) -> list[Rival]:
    """The facts of memories that end facts of earlier ones, each with the last memory of which it ends one."""
    return select(connection, Rival, "hopgate_rivals(%s)", (list(memory_ids),))


def open_facts(connection: Connection, memory_ids: Sequence[int], *, limit: int) -> dict[int, list[OpenFact]]:
    """The facts about what each memory mentions that were true until it was written, at most so many of each."""
    found: dict[int, list[OpenFact]] = {}
    for row in fetch(connection, OpenFact, _OPEN, {"ids": list(memory_ids), "limit": limit}):
        found.setdefault(row.later_id, []).append(row)
    return found


def set_beside(connection: Connection, found: Iterable[Rival]) -> None:
    """Let facts not count, beside a memory of which each ends nothing."""
    connection.execute(
        "UPDATE facts f SET beside = b.earlier FROM unnest(%s::bigint[], %s::bigint[]) AS b (fact, earlier) "
        "WHERE f.id = b.fact",
        columns_of([(row.fact_id, row.earlier_id) for row in found], 2),
    )


def relation_between(connection: Connection, subject_id: int, object_id: int) -> str | None:
    """The relation that most memories state of two names; none where none does."""
    relation: str | None = value(
        connection,
        "SELECT relation FROM facts WHERE subject_id = %s AND object_id = %s AND read_with IS NULL "
        "GROUP BY relation ORDER BY count(*) DESC, relation LIMIT 1",
        (subject_id, object_id),
    )
    return relation
