"""Mentions, facts and relations as they were extracted, each with its memory. All else in the graph follows from them.

A raw relation is as an extractor wrote it, in a scope; each has a canonical one, and those of a scope that have one are
single-valued together: a source has one target of them at a time.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from hopgate.store.rows import Connection, columns_of, fetch, insert, select, value, values

RelationKey = tuple[str, str]
"""A scope, and a relation as an extractor wrote it there."""


class FactRow(NamedTuple):
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


class FactGroup(NamedTuple):
    """Facts that can end one another: those of one source and relation, and of one target unless single-valued."""

    src_id: int
    relation: str
    dst_id: int | None


class CanonicalFact(NamedTuple):
    """A fact between concepts, with its canonical relation."""

    src_id: int
    canonical: str
    dst_id: int
    weight: float
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    memory_id: int


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


@dataclass(frozen=True, slots=True)
class NamedMention:
    """A name in a memory as it is spelt there, the concept that it stands for, and the kind that was given there."""

    name: str
    concept: str
    kind: str

    def __str__(self) -> str:
        called = self.name if self.name == self.concept else f"{self.name} = {self.concept}"
        return f"{called} ({self.kind})" if self.kind else called


# Writing.


class MentionRow(NamedTuple):
    """That a memory mentions a name, as it spells it, and the kind that it gives."""

    memory_id: int
    name_id: int
    spelling: str
    kind: str | None


def add_mentions(connection: Connection, rows: Iterable[MentionRow]) -> None:
    """Record mentions; of a name that a memory mentions twice its first spelling and the first kind given."""
    unique: dict[tuple[int, int], MentionRow] = {}
    for row in rows:
        first = unique.setdefault((row.memory_id, row.name_id), row)
        unique[row.memory_id, row.name_id] = first._replace(kind=first.kind or row.kind)
    insert(connection, "mentions", unique.values())


def add_facts(connection: Connection, rows: Iterable[FactRow]) -> None:
    """Record facts, and make their relations known; a fact that a memory states twice has its highest weight."""
    unique: dict[FactRow, FactRow] = {}
    for row in rows:
        same = row._replace(weight=0)
        unique[same] = max(unique.get(same, row), row, key=lambda fact: fact.weight)
    ensure_relations(connection, {(row.scope, row.relation) for row in unique})
    insert(connection, "facts", unique.values())


def revoke(connection: Connection, memory_ids: Sequence[int]) -> bool:
    """Take back what was read in memories, and names that nobody else mentions; say whether there was anything.

    Edges and concepts follow from what is left, and are the caller's to derive.
    """
    return bool(value(connection, "SELECT hopgate_revoke(%s)", (list(memory_ids),)))


def analyse(connection: Connection) -> None:
    """Refresh the planner's statistics of the graph's tables."""
    connection.execute("ANALYZE concept_names, concepts, mentions, facts, relations, concept_edges, memory_concepts")


# What memories say.

_OF_MEMORIES = "(memory_id = ANY(%(ids)s) OR read_with = ANY(%(ids)s))"


def of_memory(connection: Connection, memory_id: int, *, counting: bool = False) -> list[NamedFact]:
    """What a memory says; or what of it counts, the surest first."""
    which = "AND beside IS NULL ORDER BY weight DESC, id" if counting else "ORDER BY id"
    return select(connection, NamedFact, f"memory_facts WHERE memory_id = %s {which}", (memory_id,))


def as_rows(connection: Connection, table: Literal["triple", "statement"]) -> list[dict[str, Any]]:
    """Every mention and fact as a row of triples.jsonl, or every statement as one of statements.jsonl."""
    return values(connection, f"SELECT json_strip_nulls(row) FROM {table}_rows")


def existing(connection: Connection, fact_ids: Sequence[int]) -> set[int]:
    """Those of some facts that are still there."""
    return set(values(connection, "SELECT id FROM facts WHERE id = ANY(%s)", (list(fact_ids),)))


def mentions(connection: Connection, memory_id: int) -> list[NamedMention]:
    """The names in a memory, each with the concept's kind where the memory gives none."""
    return fetch(
        connection,
        NamedMention,
        "SELECT x.spelling AS name, c.canonical_name AS concept, coalesce(x.kind, c.kind, '') AS kind "
        "FROM mentions x JOIN concept_names n ON n.id = x.name_id JOIN concepts c ON c.id = n.concept_id "
        "WHERE x.memory_id = %s ORDER BY concept, name",
        (memory_id,),
    )


def texts_of_memories(connection: Connection, memory_ids: Sequence[int], stated: Sequence[int]) -> list[str]:
    """The names, relations and facts that were read in memories, and what is stated about some, as embedded."""
    return values(
        connection,
        "SELECT spelling FROM mentions WHERE memory_id = ANY(%(ids)s) UNION SELECT n.name FROM mentions m "
        "JOIN concept_names n ON n.id = m.name_id WHERE m.memory_id = ANY(%(ids)s) "
        "UNION SELECT relation FROM facts WHERE memory_id = ANY(%(ids)s) "
        f"UNION SELECT concat_ws(' ', subject, relation, object) FROM stated WHERE {_OF_MEMORIES} "
        "UNION SELECT statement FROM statements WHERE memory_id = ANY(%(stated)s)",
        {"ids": list(memory_ids), "stated": list(stated)},
    )


def places(connection: Connection) -> dict[int, frozenset[str]]:
    """The normal names of what each name is said to be located in."""
    rows = connection.execute(
        "SELECT f.subject_id, array_agg(o.normal_name) FROM facts f JOIN concept_names o ON o.id = f.object_id "
        "WHERE f.read_with IS NULL AND f.relation IN ('located in', 'is located in', 'in') GROUP BY 1"
    )
    return {name_id: frozenset(names) for name_id, names in rows}


# Groups of facts that can end one another.

# Whose facts, by the argument of `groups`: a memory's are those, too, that it tells with others or does not end.
_WHOSE = {
    "memories": "memory_id = ANY(%(memories)s) OR read_with = ANY(%(memories)s) OR beside = ANY(%(memories)s)",
    "names": "subject_id = ANY(%(names)s) OR object_id = ANY(%(names)s)",
    "relations": "(scope, relation) IN (SELECT r ->> 0, r ->> 1 FROM jsonb_array_elements(%(relations)s::jsonb) AS r)",
}


def groups(connection: Connection, **whose: Sequence[int] | Sequence[RelationKey]) -> list[FactGroup]:
    """The groups of all facts, by sources and relations; or of some `memories`, `names` or raw `relations` alone."""
    return fetch(
        connection,
        FactGroup,
        "SELECT DISTINCT src_id, canonical AS relation, CASE WHEN NOT single_valued THEN dst_id END AS dst_id "
        f"FROM stated WHERE {' AND '.join(_WHOSE[name] for name in whose) or 'true'} ORDER BY 1, 2, 3",
        {name: json.dumps(these) if name == "relations" else list(these) for name, these in whose.items()},
    )


def facts_of_groups(connection: Connection, groups: Sequence[FactGroup]) -> list[CanonicalFact]:
    """The facts of groups, in the order in which they became known; those that end nothing do not count."""
    # A UNION of two joins: with an OR the planner would read all facts of a hub to find one.
    return select(
        connection,
        CanonicalFact,
        "(WITH g AS (SELECT * FROM unnest(%s::bigint[], %s::text[], %s::bigint[]) AS g (src_id, canonical, dst_id)) "
        "SELECT stated.* FROM g JOIN stated USING (src_id, canonical, dst_id) "
        "UNION ALL SELECT stated.* FROM g JOIN stated USING (src_id, canonical) WHERE g.dst_id IS NULL) AS f "
        "WHERE beside IS NULL ORDER BY recorded_at, id",
        columns_of(groups, 3),
    )


# Relations.


def ensure_relations(connection: Connection, relations: Collection[RelationKey]) -> None:
    """Make raw relations known; each is its own canonical one until relations are canonicalised."""
    connection.execute(
        "INSERT INTO relations (scope, raw, canonical, single_valued) SELECT s, r, r, "
        "EXISTS (SELECT 1 FROM single_valued_relations d WHERE d.raw = r) "
        "FROM unnest(%s::text[], %s::text[]) AS n (s, r) ON CONFLICT DO NOTHING",
        columns_of(sorted(relations), 2),
    )


def are_single_valued(connection: Connection, relations: Collection[str]) -> bool:
    """Whether all of these were declared, so that to declare them again would change nothing."""
    # As one text: to write some hundred as an array takes psycopg two milliseconds, at every addition.
    lacking = "SELECT jsonb_array_elements_text(%s::jsonb) EXCEPT SELECT raw FROM single_valued_relations"
    return not values(connection, lacking, (json.dumps(sorted(relations)),))


def declare(connection: Connection, single: Collection[str], several: Collection[str]) -> list[RelationKey]:
    """Declare relations of which a source has one at a time, in every scope; give those for which that changed.

    For the `several`, and all relations that mean the same, a declaration is taken back.
    """
    connection.execute(
        "INSERT INTO single_valued_relations SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING", (sorted(single),)
    )
    connection.execute(
        "DELETE FROM single_valued_relations WHERE raw = ANY(%(several)s) OR raw IN (SELECT raw FROM relations "
        "WHERE (scope, canonical) IN (SELECT scope, canonical FROM relations WHERE raw = ANY(%(several)s)))",
        {"several": sorted(several)},
    )
    return _share_single_valued(connection)


def _share_single_valued(connection: Connection) -> list[RelationKey]:
    """Let relations that mean the same be single-valued where one of them is declared so; give those that changed."""
    return connection.execute(
        "UPDATE relations r SET single_valued = c.declared FROM (SELECT scope, canonical, bool_or(d.raw IS NOT NULL) "
        "AS declared FROM relations LEFT JOIN single_valued_relations d USING (raw) GROUP BY 1, 2) AS c "
        "WHERE (r.scope, r.canonical) = (c.scope, c.canonical) AND r.single_valued <> c.declared "
        "RETURNING r.scope, r.raw"
    ).fetchall()


def relations_of_memories(connection: Connection, memory_ids: Sequence[int]) -> list[RelationKey]:
    """The raw relations of memories' facts, each with its scope."""
    return connection.execute(
        f"SELECT DISTINCT scope, relation FROM facts WHERE {_OF_MEMORIES} ORDER BY 1, 2", {"ids": list(memory_ids)}
    ).fetchall()


def drop_unused_relations(connection: Connection, relations: Sequence[RelationKey]) -> None:
    """Forget those of the relations that no fact has any more; others that one was canonical for are called anew."""
    connection.execute("SELECT hopgate_drop_relations(%s, %s)", columns_of(relations, 2))


def raw_relations(connection: Connection) -> dict[str, dict[str, int]]:
    """Relations as they were extracted, and how often, by scope."""
    counts: dict[str, dict[str, int]] = {}
    rows = connection.execute(
        "SELECT scope, relation, count(*) FROM facts WHERE read_with IS NULL GROUP BY 1, 2 ORDER BY 1, 2"
    )
    for scope, relation, count in rows:
        counts.setdefault(scope, {})[relation] = count
    return counts


def set_canonical(connection: Connection, scope: str, canonical: Mapping[str, str]) -> None:
    """Set the canonical relation of a scope's raw ones; edges change at the next derivation."""
    connection.execute(
        "UPDATE relations r SET canonical = c.canonical FROM unnest(%s::text[], %s::text[]) AS c (raw, canonical) "
        "WHERE r.scope = %s AND r.raw = c.raw",
        (list(canonical), list(canonical.values()), scope),
    )
    _share_single_valued(connection)
