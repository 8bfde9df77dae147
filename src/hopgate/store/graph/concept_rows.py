"""Concepts: one, many, which memories talk about which, names left undecided, clusters, and counts of it all."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hopgate.errors import HopgateError, UnknownError
from hopgate.store.graph.name_rows import VALUE
from hopgate.store.graph.visible import View
from hopgate.store.rows import Connection, columns_of, fetch, select, value, values


@dataclass(frozen=True, slots=True)
class Concept:
    """A canonical node of a scope, "" for memories without one, with its aliases."""

    id: int
    name: str
    aliases: tuple[str, ...]
    kind: str | None
    memory_count: int
    scope: str = ""


_ANY = View()
_NO_VALUE = f"c.kind IS DISTINCT FROM '{VALUE}'"


def _read(connection: Connection, view: View, where: str, **given: Any) -> list[Concept]:
    """Concepts `c` in view, those of most memories first."""
    return fetch(
        connection,
        Concept,
        "SELECT c.id, c.canonical_name AS name, c.aliases, c.kind, c.scope, n.known AS memory_count FROM concepts c "
        f"CROSS JOIN LATERAL (SELECT {view.memory_count('c')} AS known) AS n WHERE {where} AND {view.concepts('c')} "
        "ORDER BY n.known DESC, c.id LIMIT %(limit)s OFFSET %(offset)s",
        view.parameters(**{"limit": None, "offset": 0, **given}),
    )


def get(connection: Connection, concept_id: int, view: View = _ANY) -> Concept:
    """One concept by id; an unknown id, or one of another scope, is refused."""
    rows = _read(connection, view, "c.id = %(id)s", id=concept_id)
    if not rows:
        raise UnknownError(f"there is no concept {concept_id}: hopgate concepts list shows them")
    return rows[0]


def find(connection: Connection, normal_name: str, shown: str, view: View = _ANY) -> Concept:
    """The concept that a name belongs to, where several scopes have it that of most memories."""
    return get(connection, find_all(connection, normal_name, shown, view)[0])


def find_all(connection: Connection, normal_name: str, shown: str, view: View = _ANY) -> list[int]:
    """The concepts that a name belongs to, one a scope, that of most memories first; an unknown name is refused."""
    ids = values(
        connection,
        "SELECT id FROM concepts WHERE id IN (SELECT concept_id FROM concept_names WHERE normal_name = %(name)s) "
        f"AND {view.concepts()} ORDER BY {view.memory_count()} DESC, id",
        view.parameters(name=normal_name),
    )
    if not ids:
        where = " in this scope: hopgate concepts list --scope NAME shows them"
        raise HopgateError(
            f"there is no concept {shown!r}{where if view.scopes else ': hopgate concepts list shows them'}"
        )
    return ids


def pairs(connection: Connection, normal_name: str, other: str, scope: str | None) -> list[tuple[int, int]]:
    """The concepts of two names in each scope that has both, or in this one."""
    return connection.execute(
        "SELECT n.concept_id, o.concept_id FROM concept_names n JOIN concept_names o ON o.scope = n.scope "
        "WHERE n.normal_name = %(name)s AND o.normal_name = %(other)s "
        "AND (%(scope)s::text IS NULL OR n.scope = %(scope)s) ORDER BY n.scope",
        {"name": normal_name, "other": other, "scope": scope},
    ).fetchall()


def listed(
    connection: Connection,
    view: View = _ANY,
    *,
    kind: str | None = None,
    search: str | None = None,
    limit: int | None = 50,
    offset: int = 0,
) -> list[Concept]:
    """Concepts by how many memories talk about them: of a kind, or without values; with a name that holds a text.

    With an as-of in view only those with an edge that was true then; with a known-at memories made later do not count.
    """
    where = f"(c.kind = %(kind)s OR %(kind)s::text IS NULL AND {_NO_VALUE})"
    if view.counts_memories:
        where += " AND n.known > 0"
    if search:
        where += (
            " AND EXISTS (SELECT 1 FROM unnest(c.aliases || c.canonical_name) AS a (name) "
            "WHERE strpos(lower(a.name), lower(%(search)s)) > 0)"
        )
    if view.as_of is not None:
        where += (
            " AND EXISTS (SELECT 1 FROM concept_edges e WHERE (e.src_id = c.id OR e.dst_id = c.id) "
            f"AND {view.edges('e')})"
        )
    return _read(connection, view, where, kind=kind, search=search, limit=limit, offset=offset)


def names(connection: Connection, concept_ids: Sequence[int]) -> dict[int, str]:
    """Canonical names by id."""
    rows = connection.execute("SELECT id, canonical_name FROM concepts WHERE id = ANY(%s)", (list(concept_ids),))
    return dict(rows.fetchall())


def counts(connection: Connection) -> dict[str, Any]:
    """Count the rows of every kind by name; sensitive memories are not counted."""
    counted: list[dict[str, Any]] = fetch(connection, dict, "SELECT * FROM graph_counts")
    return counted[0]


def most_frequent(connection: Connection, limit: int) -> dict[str, Any]:
    """The kinds that most concepts are of, "" for none, and the relations that most edges have now, with how many."""
    most = "GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT %(limit)s"
    statements = {
        "kinds": f"SELECT coalesce(kind, ''), count(*) FROM concepts {most}",
        "top_relations": f"SELECT relation, count(*) FROM concept_edges WHERE retired_at IS NULL {most}",
    }
    return {name: tuple(connection.execute(text, {"limit": limit})) for name, text in statements.items()}


# Names that were left undecided.


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A name that resolution left apart from its near neighbour, for a person or a model to decide."""

    name: str
    concept_id: int
    near: str
    score: float
    scope: str = ""
    name_id: int = 0
    near_id: int = 0


def ambiguous(connection: Connection, *, limit: int = 50, name: str | None = None) -> list[Ambiguous]:
    """Names left undecided, all or one, the most alike first."""
    which = "%(name)s::text IS NULL OR name = %(name)s"
    source = f"ambiguous_names WHERE {which} ORDER BY score DESC, name_id LIMIT %(limit)s"
    return select(connection, Ambiguous, source, {"name": name, "limit": limit})


def mark_ambiguous(connection: Connection, name_id: int, near_id: int | None, score: float | None) -> None:
    """Note that a name may be the same as another, or with none that it is decided: it stays apart."""
    connection.execute(
        "UPDATE concept_names SET ambiguous_with = %s, ambiguous_score = %s WHERE id = %s", (near_id, score, name_id)
    )


# Which memories talk about which concepts.

# The column `relation` says where a row comes from: an extractor mentioned the concept, or the memory's title names it.
MENTIONS = "mentions"
TITLED = "titled"
# A condition on `memories`: it talks about one of the concepts.
LINKED_TO = "id IN (SELECT memory_id FROM memory_concepts WHERE concept_id = ANY(%(concepts)s::bigint[]))"


def link_mentions(connection: Connection, memory_ids: Sequence[int]) -> None:
    """Derive anew which concepts memories talk about, from their mentions."""
    connection.execute("DELETE FROM memory_concepts WHERE memory_id = ANY(%s)", (list(memory_ids),))
    connection.execute(
        # A tag links memories, and is what many of them have: walks go over what is named in their texts.
        "INSERT INTO memory_concepts (memory_id, concept_id, relation, weight) SELECT memory_id, concept_id, "
        "%(relation)s, max(CASE WHEN m.kind = 'tag' THEN 0.2 ELSE 1 END)::real FROM mentions m "
        "JOIN concept_names n ON n.id = name_id WHERE memory_id = ANY(%(ids)s) GROUP BY 1, 2",
        {"ids": list(memory_ids), "relation": MENTIONS},
    )


def link_titles(connection: Connection, links: Sequence[tuple[int, int]], weight: float) -> None:
    """Link memories to the concepts that their titles name, in the place of a mention where there is one."""
    connection.execute(
        "INSERT INTO memory_concepts AS old (memory_id, concept_id, relation, weight) "
        "SELECT m, c, %s, %s FROM unnest(%s::bigint[], %s::bigint[]) AS l (m, c) "
        "ON CONFLICT (memory_id, concept_id) DO UPDATE SET relation = excluded.relation, weight = excluded.weight "
        "WHERE old.relation <> excluded.relation",
        (TITLED, weight, *columns_of(links, 2)),
    )


def memories_about(connection: Connection, concept_id: int, view: View, *, limit: int = 20) -> list[str]:
    """The memories that talk about a concept, by external id, the newest first; never a sensitive one."""
    return values(
        connection,
        "SELECT m.external_id FROM memories m "
        "WHERE m.id IN (SELECT memory_id FROM memory_concepts WHERE concept_id = %(concept)s) "
        f"AND {view.memories('m')} ORDER BY m.created_at DESC, m.id LIMIT %(limit)s",
        view.parameters(concept=concept_id, limit=limit),
    )


@dataclass(frozen=True, slots=True)
class Link:
    """That a memory talks about a concept, as what (`MENTIONS` or `TITLED`) and how much."""

    memory: str
    concept_id: int
    concept: str
    relation: str
    weight: float


def all_links(connection: Connection, view: View = _ANY) -> list[Link]:
    """Which memory talks about which concept, those that gave way to others too."""
    return fetch(
        connection,
        Link,
        "SELECT m.external_id AS memory, c.id AS concept_id, c.canonical_name AS concept, x.relation, x.weight "
        "FROM memory_concepts x JOIN concepts c ON c.id = x.concept_id JOIN memories m ON m.id = x.memory_id "
        f"WHERE {view.memories('m')} ORDER BY m.id, c.id",
        view.parameters(),
    )


def related(connection: Connection, memory_id: int, *, limit: int) -> list[tuple[str, list[str]]]:
    """Memories that talk about the same concepts, those with the rarest first, and which concepts these are."""
    # A hub's memories are not related by it, and reading them all would cost too much.
    return connection.execute(
        "SELECT m.external_id, array_agg(c.canonical_name ORDER BY c.memory_count, c.id) FROM memory_concepts mine "
        "JOIN concepts c ON c.id = mine.concept_id AND c.memory_count < 1000 "
        "JOIN memory_concepts x ON x.concept_id = c.id AND x.memory_id <> mine.memory_id "
        "JOIN memories m ON m.id = x.memory_id AND NOT m.is_sensitive AND m.superseded_at IS NULL "
        "WHERE mine.memory_id = %s GROUP BY m.id, m.external_id "
        "ORDER BY sum(1.0 / greatest(c.memory_count, 1)) DESC, m.id LIMIT %s",
        (memory_id, limit),
    ).fetchall()


def memories_of_concepts(connection: Connection, concept_ids: Sequence[int]) -> list[int]:
    """The memories that talk about concepts."""
    statement = "SELECT DISTINCT memory_id FROM memory_concepts WHERE concept_id = ANY(%s) ORDER BY 1"
    return values(connection, statement, (list(concept_ids),))


# Clusters of concepts as they were last found, under ids that stay; of the whole store, or of some scopes alone.

# Each resolution of each set of scopes is kept apart, for whoever reads may ask for any: of more than so many, beside
# those of the whole store at 1, those that were found first are forgotten.
MOST_KEPT = 1000


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """One cluster: its concepts, the most central first, and in what it was found with which modularity."""

    id: int
    concept_ids: tuple[int, ...]
    graph_version: int
    modularity: float


def read_clusters(connection: Connection, scopes: Sequence[str], resolution: float) -> list[ClusterRow]:
    """What was found last of these scopes at this resolution, the largest first."""
    source = "clusters WHERE scopes = %s AND resolution = %s ORDER BY cardinality(concept_ids) DESC, id"
    return select(connection, ClusterRow, source, (_key(scopes), resolution))


def concepts_of_cluster(connection: Connection, scopes: Sequence[str], cluster: int) -> tuple[int, ...] | None:
    """The concepts of one of these scopes' clusters; none where they have no such cluster."""
    ids = value(connection, "SELECT concept_ids FROM clusters WHERE scopes = %s AND id = %s", (_key(scopes), cluster))
    return None if ids is None else tuple(ids)


def lock_clusters(connection: Connection) -> bool:
    """Let one writer at a time replace clusters; false on a standby, or for a role that only reads."""
    privilege = "has_table_privilege('clusters', 'INSERT, DELETE')"
    may_write = value(connection, f"SELECT current_setting('transaction_read_only') = 'off' AND {privilege}")
    if may_write:
        connection.execute("SELECT pg_advisory_xact_lock(hashtext('hopgate clusters'))")
    return bool(may_write)


def last_cluster_id(connection: Connection, scopes: Sequence[str]) -> int:
    """The last id that was given to one of these scopes' clusters."""
    return int(value(connection, "SELECT max(last_id) FROM clusters WHERE scopes = %s", (_key(scopes),)) or 0)


def replace_clusters(
    connection: Connection, scopes: Sequence[str], resolution: float, rows: Sequence[ClusterRow]
) -> None:
    """Put newly found clusters in the place of the last ones, and note which ids were given."""
    key, last = _key(scopes), max([last_cluster_id(connection, scopes), *(row.id for row in rows)])
    connection.execute("DELETE FROM clusters WHERE scopes = %s AND resolution = %s", (key, resolution))
    connection.cursor().executemany(
        "INSERT INTO clusters (scopes, resolution, id, concept_ids, graph_version, modularity, last_id) "
        "VALUES (%s, %s, %s, %s, %s, %s, %s)",
        [(key, resolution, row.id, list(row.concept_ids), row.graph_version, row.modularity, last) for row in rows],
    )
    connection.execute(
        "DELETE FROM clusters WHERE (scopes, resolution) NOT IN (SELECT scopes, resolution FROM clusters "
        "GROUP BY 1, 2 ORDER BY (scopes, resolution) = ('', 1) DESC, max(made_at) DESC, 1, 2 LIMIT %s)",
        (MOST_KEPT,),
    )


def _key(scopes: Sequence[str]) -> str:
    """What some scopes' clusters are kept under: a digest, since an entry of an index holds 2,700 bytes."""
    return hashlib.sha256(json.dumps(sorted(scopes)).encode()).hexdigest() if scopes else ""
