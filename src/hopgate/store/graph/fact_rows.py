"""Mentions and facts as they were extracted, each with its memory. All else in the graph is derived from them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.store.graph.relation_rows import RelationKey
from hopgate.store.typed_rows import fetch

if TYPE_CHECKING:
    from psycopg import Connection


@dataclass(frozen=True, slots=True)
class FactRow:
    """A fact by the ids of its names, stated by one memory and recorded at `recorded_at`.

    `read_with` is the other memory where two say it together: it goes with either of them.
    """

    memory_id: int
    subject_id: int
    relation: str
    object_id: int
    weight: float
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    scope: str = ""
    read_with: int | None = None


@dataclass(frozen=True, slots=True)
class FactGroup:
    """Facts that can end one another: those of one source and relation, and of one target unless single-valued."""

    src_id: int
    relation: str
    dst_id: int | None


@dataclass(frozen=True, slots=True)
class CanonicalFact:
    """A fact between concepts, with its canonical relation."""

    src_id: int
    relation: str
    dst_id: int
    weight: float
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    memory_id: int


def add_mentions(connection: Connection[Any], rows: Iterable[tuple[int, int, str, str | None]]) -> None:
    """Record mentions as (memory, name, spelling, kind); a name that a memory mentions twice counts once."""
    unique: dict[tuple[int, int], tuple[str, str | None]] = {}
    for memory_id, name_id, spelling, kind in rows:
        first_spelling, first_kind = unique.get((memory_id, name_id), (spelling, None))
        unique[memory_id, name_id] = (first_spelling, first_kind or kind)
    connection.execute(
        "WITH made AS (INSERT INTO mentions (memory_id, name_id, spelling, kind) "
        "SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::text[]) "
        "ON CONFLICT DO NOTHING RETURNING name_id), "
        "counted AS (SELECT name_id, count(*) AS n FROM made GROUP BY name_id) "
        "UPDATE concept_names SET uses = uses + n FROM counted WHERE id = name_id",
        (
            [key[0] for key in unique],
            [key[1] for key in unique],
            [spelling for spelling, _ in unique.values()],
            [kind for _, kind in unique.values()],
        ),
    )


def add_facts(connection: Connection[Any], rows: Iterable[FactRow]) -> None:
    """Record facts; one that a memory states twice counts once, with its highest weight."""
    unique: dict[tuple[object, ...], FactRow] = {}
    for row in rows:
        key = (row.memory_id, row.subject_id, row.relation, row.object_id, row.valid_from, row.valid_to, row.read_with)
        known = unique.get(key)
        if known is None or known.weight < row.weight:
            unique[key] = row
    new = list(unique.values())
    connection.execute(
        "INSERT INTO facts (memory_id, subject_id, relation, object_id, weight, valid_from, valid_to, recorded_at, "
        "scope, read_with) SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::bigint[], %s::real[], "
        "%s::timestamptz[], %s::timestamptz[], %s::timestamptz[], %s::text[], %s::bigint[]) ON CONFLICT DO NOTHING",
        (
            [row.memory_id for row in new], [row.subject_id for row in new], [row.relation for row in new],
            [row.object_id for row in new], [row.weight for row in new], [row.valid_from for row in new],
            [row.valid_to for row in new], [row.recorded_at for row in new], [row.scope for row in new],
            [row.read_with for row in new],
        ),
    )  # fmt: skip


def existing(connection: Connection[Any], fact_ids: Sequence[int]) -> set[int]:
    """Those of some facts that are still there."""
    rows = connection.execute("SELECT id FROM facts WHERE id = ANY(%s)", (list(fact_ids),))
    return {row[0] for row in rows}


@dataclass(frozen=True, slots=True)
class NamedFact:
    """What a memory says about two concepts, by their names."""

    subject: str
    relation: str
    object: str
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    weight: float = 1.0
    memory: str = ""

    def __str__(self) -> str:
        return f"{self.subject} — {self.relation} → {self.object}"


_NAMED = (
    "SELECT s.name AS subject, f.relation, o.name AS object, f.valid_from, f.valid_to, f.weight, "
    "m.external_id AS memory FROM facts f JOIN memories m ON m.id = f.memory_id "
    "JOIN concept_names s ON s.id = f.subject_id JOIN concept_names o ON o.id = f.object_id WHERE "
)


def of_memory(connection: Connection[Any], memory_id: int) -> list[NamedFact]:
    """What a memory says."""
    return fetch(connection, NamedFact, f"{_NAMED} f.memory_id = %s ORDER BY f.id", (memory_id,))


def counting(connection: Connection[Any], memory_id: int) -> list[NamedFact]:
    """What a memory says and counts, the surest first."""
    return fetch(
        connection,
        NamedFact,
        f"{_NAMED} f.memory_id = %s AND f.beside IS NULL ORDER BY f.weight DESC, f.id",
        (memory_id,),
    )


def all_named(connection: Connection[Any]) -> list[NamedFact]:
    """What each memory says; what two tell together is told by neither where it is replayed."""
    return fetch(connection, NamedFact, f"{_NAMED} NOT m.is_sensitive AND f.read_with IS NULL ORDER BY m.id, f.id")


@dataclass(frozen=True, slots=True)
class NamedMention:
    """A name in a memory as it is spelt there, the concept that it stands for, and the kind that was given there."""

    name: str
    concept: str
    kind: str
    memory: str = ""

    def __str__(self) -> str:
        called = self.name if self.name == self.concept else f"{self.name} = {self.concept}"
        return f"{called} ({self.kind})" if self.kind else called


def mentions(connection: Connection[Any], memory_id: int | None = None) -> list[NamedMention]:
    """The names in a memory, with the concept's kind where it gives none; or those in each, that is not sensitive."""
    kind, which = ("x.kind", "NOT m.is_sensitive ORDER BY m.id, x.name_id")
    if memory_id is not None:
        kind, which = "x.kind, c.kind", "m.id = %(memory)s ORDER BY concept, name"
    return fetch(
        connection,
        NamedMention,
        f"SELECT x.spelling AS name, c.canonical_name AS concept, coalesce({kind}, '') AS kind, "
        "m.external_id AS memory FROM mentions x JOIN memories m ON m.id = x.memory_id "
        f"JOIN concept_names n ON n.id = x.name_id JOIN concepts c ON c.id = n.concept_id WHERE {which}",
        {"memory": memory_id},
    )


def names_of_memories(connection: Connection[Any], memory_ids: Sequence[int]) -> list[int]:
    """The names that memories mention, and those of the facts that they tell together with others."""
    rows = connection.execute(
        "SELECT name_id FROM mentions WHERE memory_id = ANY(%(ids)s) UNION "
        "SELECT unnest(ARRAY[subject_id, object_id]) FROM facts WHERE memory_id = ANY(%(ids)s) "
        "OR read_with = ANY(%(ids)s) ORDER BY 1",
        {"ids": list(memory_ids)},
    )
    return [row[0] for row in rows]


def texts_of_memories(connection: Connection[Any], memory_ids: Sequence[int]) -> list[str]:
    """The names, relations and facts that were read in memories, as they were embedded."""
    rows = connection.execute(
        "SELECT spelling FROM mentions WHERE memory_id = ANY(%(ids)s) UNION SELECT n.name FROM mentions m "
        "JOIN concept_names n ON n.id = m.name_id WHERE m.memory_id = ANY(%(ids)s) "
        "UNION SELECT relation FROM facts WHERE memory_id = ANY(%(ids)s) "
        "UNION SELECT concat_ws(' ', s.name, f.relation, o.name) FROM facts f JOIN concept_names s "
        "ON s.id = f.subject_id JOIN concept_names o ON o.id = f.object_id WHERE f.memory_id = ANY(%(ids)s) "
        "OR f.read_with = ANY(%(ids)s)",
        {"ids": list(memory_ids)},
    )
    return [row[0] for row in rows]


def relations_of_memories(connection: Connection[Any], memory_ids: Sequence[int]) -> list[RelationKey]:
    """The raw relations of memories' facts, each with its scope."""
    rows = connection.execute(
        "SELECT DISTINCT scope, relation FROM facts WHERE memory_id = ANY(%(ids)s) OR read_with = ANY(%(ids)s) "
        "ORDER BY 1, 2",
        {"ids": list(memory_ids)},
    )
    return [(row[0], row[1]) for row in rows]


def remove(connection: Connection[Any], memory_ids: Sequence[int]) -> None:
    """Remove the mentions and facts of memories, what was read of others with them, and the record of extraction."""
    ids = list(memory_ids)
    connection.execute(
        "WITH gone AS (DELETE FROM mentions WHERE memory_id = ANY(%s) RETURNING name_id), "
        "counted AS (SELECT name_id, count(*) AS n FROM gone GROUP BY name_id) "
        "UPDATE concept_names SET uses = uses - n FROM counted WHERE id = name_id",
        (ids,),
    )
    # Who was compared with one of these is to be compared with others once more.
    connection.execute(
        "WITH gone AS (DELETE FROM facts WHERE memory_id = ANY(%(ids)s) OR read_with = ANY(%(ids)s) "
        "RETURNING memory_id, read_with), "
        "freed AS (UPDATE facts SET beside = NULL WHERE beside = ANY(%(ids)s) RETURNING memory_id) "
        "UPDATE extractions SET changes_by = NULL WHERE memory_id IN (SELECT memory_id FROM gone "
        "WHERE read_with IS NOT NULL UNION SELECT read_with FROM gone UNION SELECT memory_id FROM freed)",
        {"ids": ids},
    )
    connection.execute("DELETE FROM extractions WHERE memory_id = ANY(%s)", (ids,))


_GROUP = (
    "SELECT DISTINCT s.concept_id, r.canonical, CASE WHEN r.single_valued THEN NULL ELSE o.concept_id END "
    "FROM facts f JOIN concept_names s ON s.id = f.subject_id JOIN concept_names o ON o.id = f.object_id "
    "JOIN relations r ON r.scope = f.scope AND r.raw = f.relation WHERE "
)


def groups_of_memories(connection: Connection[Any], memory_ids: Sequence[int]) -> list[FactGroup]:
    """The groups that memories' facts belong to, those that they tell with others among them, or do not end."""
    ids = list(memory_ids)
    where = "f.memory_id = ANY(%s) OR f.read_with = ANY(%s) OR f.beside = ANY(%s)"
    return [FactGroup(*row) for row in connection.execute(_GROUP + where, (ids, ids, ids))]


def groups_of_names(connection: Connection[Any], name_ids: Sequence[int]) -> list[FactGroup]:
    """The groups of all facts about names."""
    ids = list(name_ids)
    return [FactGroup(*row) for row in connection.execute(
        _GROUP + "f.subject_id = ANY(%s) OR f.object_id = ANY(%s)", (ids, ids))]  # fmt: skip


def groups_of_relations(connection: Connection[Any], relations: Sequence[RelationKey]) -> list[FactGroup]:
    """The groups of all facts with these raw relations of these scopes."""
    if not relations:
        return []
    rows = connection.execute(
        _GROUP + "(f.scope, f.relation) IN (SELECT * FROM unnest(%s::text[], %s::text[]))",
        ([scope for scope, _ in relations], [raw for _, raw in relations]),
    )
    return [FactGroup(*row) for row in rows]


def all_groups(connection: Connection[Any]) -> list[FactGroup]:
    """The groups of all facts, in the order of their sources and relations."""
    return [FactGroup(*row) for row in connection.execute(_GROUP + "true ORDER BY 1, 2, 3")]


def facts_of_groups(connection: Connection[Any], groups: Sequence[FactGroup]) -> list[CanonicalFact]:
    """The facts of groups, in the order in which they became known; those that end nothing do not count."""
    # A UNION of two joins: with an OR the planner would read all facts of a hub to find one.
    rows = connection.execute(
        "WITH g AS (SELECT * FROM unnest(%s::bigint[], %s::text[], %s::bigint[]) AS g (src_id, relation, dst_id)), "
        "counted AS (SELECT g.src_id, g.relation, g.dst_id, f FROM g "
        "JOIN concept_names s ON s.concept_id = g.src_id JOIN concept_names o ON o.concept_id = g.dst_id "
        "JOIN facts f ON f.subject_id = s.id AND f.object_id = o.id "
        "JOIN relations r ON r.scope = f.scope AND r.raw = f.relation AND r.canonical = g.relation "
        "WHERE f.beside IS NULL UNION ALL SELECT g.src_id, g.relation, o.concept_id, f FROM g "
        "JOIN concept_names s ON s.concept_id = g.src_id "
        "JOIN relations r ON r.scope = s.scope AND r.canonical = g.relation "
        "JOIN facts f ON f.subject_id = s.id AND f.relation = r.raw "
        "JOIN concept_names o ON o.id = f.object_id WHERE g.dst_id IS NULL AND f.beside IS NULL) "
        "SELECT src_id, relation, dst_id, (f).weight, (f).valid_from, (f).valid_to, (f).recorded_at, (f).memory_id "
        "FROM counted ORDER BY (f).recorded_at, (f).id",
        ([g.src_id for g in groups], [g.relation for g in groups], [g.dst_id for g in groups]),
    )
    return [CanonicalFact(*row) for row in rows]


def contexts(connection: Connection[Any]) -> dict[int, dict[tuple[str, str], int]]:
    """The facts about each name: the (relation, object) pairs of which it is the subject, and how often each."""
    rows = connection.execute(
        "SELECT f.subject_id, f.relation, o.normal_name, count(*) FROM facts f "
        "JOIN concept_names o ON o.id = f.object_id WHERE f.read_with IS NULL GROUP BY 1, 2, 3 "
        "ORDER BY 1, min(f.memory_id), min(f.id)"
    ).fetchall()
    found: dict[int, dict[tuple[str, str], int]] = {}
    for name_id, relation, name, count in rows:
        found.setdefault(name_id, {})[sys.intern(relation), name] = count
    return found


def analyse(connection: Connection[Any]) -> None:
    """Refresh the planner's statistics of the tables that extraction fills."""
    connection.execute("ANALYZE concept_names, concepts, mentions, facts, relations")
