"""Which memories wait to be compared with earlier ones, with which, and what that makes of their facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hopgate.store.rows import Connection, columns_of, select, value, values

if TYPE_CHECKING:
    from datetime import datetime


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
    asked = "SELECT * FROM hopgate_near(%s::bigint[], %s::text[], %s, %s) ORDER BY text_number, place"
    for number, _, memory_id in connection.execute(asked, (*columns_of(texts, 2), later, limit)):
        near_by_text[number - 1].append(memory_id)
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
    statement = (
        "SELECT memory_id FROM facts WHERE memory_id = ANY(%(ids)s) AND read_with IS NOT NULL AND valid_to IS NULL "
        "UNION SELECT read_with FROM facts WHERE read_with = ANY(%(ids)s) AND valid_to IS NOT NULL"
    )
    return set(values(connection, statement, {"ids": list(memory_ids)}))


def rivals(connection: Connection, memory_ids: Sequence[int]) -> list[Rival]:
    """The facts of memories that end facts of earlier ones, each with the last memory of which it ends one."""
    return select(connection, Rival, "hopgate_rivals(%s)", (list(memory_ids),))


def open_facts(connection: Connection, memory_ids: Sequence[int], *, limit: int) -> dict[int, list[OpenFact]]:
    """The facts about what each memory mentions that were true until it was written, at most so many of each."""
    open_by_memory: dict[int, list[OpenFact]] = {}
    for row in select(connection, OpenFact, "hopgate_open_facts(%s, %s) ORDER BY place", (list(memory_ids), limit)):
        open_by_memory.setdefault(row.later_id, []).append(row)
    return open_by_memory


def set_beside(connection: Connection, rows: Iterable[Rival]) -> None:
    """Let facts not count, beside a memory of which each ends nothing."""
    connection.execute(
        "UPDATE facts f SET beside = b.earlier FROM unnest(%s::bigint[], %s::bigint[]) AS b (fact, earlier) "
        "WHERE f.id = b.fact",
        columns_of([(row.fact_id, row.earlier_id) for row in rows], 2),
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
