"""Edges between concepts: replaced group by group, read as of a time, along their two times, and for pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.store import vectors
from hopgate.store.graph.fact_rows import FactGroup
from hopgate.store.graph.visible import View

if TYPE_CHECKING:
    from psycopg import Connection


NAME_INSIDE = "has in its name"
"""The relation of a concept to one whose name is inside its own: no fact, and so neither dated nor embedded."""

# What a statement that derives the whole graph may take of memory for each sort: 50,000 memories need 20 MB.
SORTED_IN = "64MB"


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """A row of `concept_edges`: true from `valid_from` to `valid_to`, known from `recorded_at` to `retired_at`."""

    src_id: int
    dst_id: int
    relation: str
    weight: float
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    retired_at: datetime | None
    evidence: tuple[int, ...]


def replace(connection: Connection[Any], groups: Sequence[FactGroup], rows: Iterable[EdgeRow]) -> None:
    """Put new rows in the place of all edges of these groups; an edge that was there before keeps its vector."""
    new = list(rows)
    vector = vectors.has_space(connection)
    column, kept = (", embedding", ", was.embedding") if vector else ("", "")
    join = (
        "LEFT JOIN (SELECT DISTINCT ON (src_id, relation, dst_id) src_id, relation, dst_id, embedding FROM gone "
        "ORDER BY src_id, relation, dst_id, embedding IS NULL) AS was "
        "ON was.src_id = r.src AND was.relation = r.relation AND was.dst_id = r.dst"
        if vector
        else ""
    )
    connection.execute(
        # A UNION of two joins: with an OR the planner would read all edges of a hub to find one.
        "WITH g AS (SELECT * FROM unnest(%s::bigint[], %s::text[], %s::bigint[]) AS g (src_id, relation, dst_id)), "
        "old AS (SELECT e.id FROM g JOIN concept_edges e USING (src_id, relation, dst_id) "
        "UNION ALL SELECT e.id FROM g JOIN concept_edges e USING (src_id, relation) WHERE g.dst_id IS NULL), "
        "gone AS (DELETE FROM concept_edges e USING old WHERE e.id = old.id "
        f"RETURNING e.src_id, e.relation, e.dst_id{column}) "
        "INSERT INTO concept_edges (scope, src_id, dst_id, relation, weight, valid_from, valid_to, recorded_at, "
        f"retired_at, evidence_memory_ids{column}) SELECT c.scope, r.src, r.dst, r.relation, r.weight, r.valid_from, "
        f"r.valid_to, r.recorded_at, r.retired_at, r.evidence::bigint[]{kept} "
        "FROM unnest(%s::bigint[], %s::bigint[], %s::text[], "
        "%s::real[], %s::timestamptz[], %s::timestamptz[], %s::timestamptz[], %s::timestamptz[], %s::text[]) "
        f"AS r (src, dst, relation, weight, valid_from, valid_to, recorded_at, retired_at, evidence) "
        f"JOIN concepts c ON c.id = r.src {join}",
        (
            *([g.src_id for g in groups], [g.relation for g in groups], [g.dst_id for g in groups]),
            *([r.src_id for r in new], [r.dst_id for r in new], [r.relation for r in new], [r.weight for r in new]),
            *([r.valid_from for r in new], [r.valid_to for r in new]),
            *([r.recorded_at for r in new], [r.retired_at for r in new]),
            ["{" + ",".join(map(str, row.evidence)) + "}" for row in new],
        ),
    )


def drop_unfounded(connection: Connection[Any]) -> None:
    """Remove the edges that no fact states any more."""
    connection.execute(
        "DELETE FROM concept_edges e WHERE relation <> %s AND NOT EXISTS (SELECT FROM facts f "
        "JOIN concept_names s ON s.id = f.subject_id JOIN concept_names o ON o.id = f.object_id "
        "JOIN relations r ON r.scope = f.scope AND r.raw = f.relation "
        "WHERE s.concept_id = e.src_id AND r.canonical = e.relation AND o.concept_id = e.dst_id)",
        (NAME_INSIDE,),
    )


def replace_name_links(
    connection: Connection[Any], concept_ids: Sequence[int] | None, links: Sequence[tuple[int, int]], weight: float
) -> None:
    """Put links (concept, other concept) by names alone in the place of all that leave `concept_ids`, or of all.

    They are always known, true at all times, and have no evidence.
    """
    connection.execute(
        "DELETE FROM concept_edges WHERE relation = %(inside)s"
        + ("" if concept_ids is None else " AND src_id = ANY(%(ids)s)"),
        {"inside": NAME_INSIDE, "ids": None if concept_ids is None else list(concept_ids)},
    )
    if not links:
        return
    connection.execute(
        "INSERT INTO concept_edges (scope, src_id, dst_id, relation, weight, recorded_at, evidence_memory_ids) "
        "SELECT c.scope, s, d, %s, %s, '-infinity', '{}' FROM unnest(%s::bigint[], %s::bigint[]) AS l (s, d) "
        "JOIN concepts c ON c.id = s",
        (NAME_INSIDE, weight, [source for source, _ in links], [target for _, target in links]),
    )


def sort_in_memory(connection: Connection[Any]) -> None:
    """Let the statements of this transaction, which read all of the graph, sort it in memory and not on disk."""
    connection.execute(
        "SELECT set_config('work_mem', %(most)s, true) "
        "WHERE pg_size_bytes(current_setting('work_mem')) < pg_size_bytes(%(most)s)",
        {"most": SORTED_IN},
    )


def analyse(connection: Connection[Any]) -> None:
    """Refresh the planner's statistics of the tables that are derived."""
    connection.execute("ANALYZE concepts, concept_edges, memory_concepts")


def named_edges(view: View, columns: str = "") -> str:
    """A statement, without its WHERE, for edges `e` with their ends `s` and `d` by name.

    A row is source, relation, target, weight, the four times, and the evidence in the order of the memories' ids. A
    link by names alone is recorded at -infinity, which Python's datetime does not have: it comes as None.
    """
    return (
        f"SELECT {columns}s.canonical_name, e.relation, d.canonical_name, e.weight, e.valid_from, e.valid_to, "
        "nullif(e.recorded_at, '-infinity'), e.retired_at, ARRAY(SELECT m.external_id "
        "FROM memories m WHERE m.id = ANY(e.evidence_memory_ids) AND "
        f"{View(view.scopes).memories('m')} ORDER BY m.id) "
        "FROM concept_edges e JOIN concepts s ON s.id = e.src_id JOIN concepts d ON d.id = e.dst_id"
    )


def visible(
    connection: Connection[Any],
    view: View,
    *,
    concept_ids: Sequence[int] | None = None,
    relation: str | None = None,
    limit: int | None = None,
) -> list[tuple[Any, ...]]:
    """Edges, all or some concepts', as `named_edges` gives them; the heaviest first."""
    return connection.execute(
        f"{named_edges(view)} WHERE {view.edges('e')} "
        "AND (%(relation)s::text IS NULL OR e.relation = %(relation)s) "
        "AND (%(concepts)s::bigint[] IS NULL OR e.src_id = ANY(%(concepts)s) OR e.dst_id = ANY(%(concepts)s)) "
        "ORDER BY e.relation = %(inside)s, e.weight DESC, 1, 2, 3, e.valid_from NULLS FIRST, e.id LIMIT %(limit)s",
        view.parameters(
            concepts=None if concept_ids is None else list(concept_ids),
            relation=relation,
            inside=NAME_INSIDE,
            limit=limit,
        ),
    ).fetchall()


def intervals(
    connection: Connection[Any], concept_ids: Sequence[int]
) -> dict[int, tuple[datetime | None, datetime | None]]:
    """When each known edge of these concepts holds, by its id."""
    rows = connection.execute(
        "SELECT id, valid_from, valid_to FROM concept_edges "
        "WHERE retired_at IS NULL AND (src_id = ANY(%(ids)s) OR dst_id = ANY(%(ids)s))",
        {"ids": list(concept_ids)},
    )
    return {row[0]: (row[1], row[2]) for row in rows}


_ENDS = {"valid": ("valid_from", "valid_to"), "known": ("recorded_at", "retired_at")}


def span(connection: Connection[Any], view: View) -> tuple[datetime | None, ...]:
    """The first and last moment of valid time, and of known time; nothing where no edge has one."""
    row = connection.execute(
        "SELECT least(min(valid_from), min(valid_to)), greatest(max(valid_from), max(valid_to)), min(recorded_at), "
        "greatest(max(recorded_at), max(retired_at)) FROM concept_edges "
        f"WHERE relation <> %(inside)s AND {view.edges_of_scopes()}",
        view.parameters(inside=NAME_INSIDE),
    ).fetchone()
    assert row is not None
    return tuple(row)


def versions(
    connection: Connection[Any], view: View, concept_ids: Sequence[int], *, limit: int
) -> list[tuple[Any, ...]]:
    """Every version of concepts' edges, those no longer believed among them, in the order of valid time."""
    return connection.execute(
        f"{named_edges(view)} WHERE e.relation <> %(inside)s AND {view.edges_of_scopes('e')} "
        "AND (e.src_id = ANY(%(concepts)s) OR e.dst_id = ANY(%(concepts)s)) "
        "ORDER BY e.relation, e.valid_from NULLS FIRST, e.recorded_at, e.id LIMIT %(limit)s",
        view.parameters(concepts=list(concept_ids), inside=NAME_INSIDE, limit=limit),
    ).fetchall()


def begun(
    connection: Connection[Any], view: View, axis: str, since: datetime, until: datetime, *, ended: bool, limit: int
) -> list[tuple[Any, ...]]:
    """Edges that began, or `ended`, after `since` and up to `until`, on the axis "valid" or "known"."""
    column = _ENDS[axis][ended]
    # In valid time only what is believed now; in known time a version that was replaced is the news.
    believed = "AND e.retired_at IS NULL" if axis == "valid" else ""
    return connection.execute(
        f"{named_edges(view)} WHERE e.relation <> %(inside)s AND {view.edges_of_scopes('e')} {believed} "
        f"AND e.{column} > %(since)s AND e.{column} <= %(until)s ORDER BY e.{column}, e.id LIMIT %(limit)s",
        view.parameters(since=since, until=until, inside=NAME_INSIDE, limit=limit),
    ).fetchall()


def conflicts(
    connection: Connection[Any], view: View, concept_ids: Sequence[int] | None, *, limit: int
) -> list[tuple[int, int, bool]]:
    """Pairs of edges that cannot both hold: the older one, the newer one, and whether the newer one ended the older.

    They have one source and one relation that holds one value at a time, and different targets.
    """
    return connection.execute(
        "SELECT e.id, n.id, n.valid_from = e.valid_to AS ended FROM concept_edges e JOIN concept_edges n "
        "ON n.src_id = e.src_id AND n.relation = e.relation AND n.dst_id <> e.dst_id AND n.retired_at IS NULL "
        "WHERE e.retired_at IS NULL AND EXISTS (SELECT 1 FROM relations r WHERE r.scope = e.scope "
        f"AND r.canonical = e.relation AND r.single_valued) AND {view.edges_of_scopes('e')} "
        f"AND {view.edges_of_scopes('n')} AND (%(concepts)s::bigint[] IS NULL OR e.src_id = ANY(%(concepts)s) "
        "OR e.dst_id = ANY(%(concepts)s) OR n.dst_id = ANY(%(concepts)s)) AND (n.valid_from = e.valid_to OR ("
        "(coalesce(e.valid_from, '-infinity'), e.id) < (coalesce(n.valid_from, '-infinity'), n.id) "
        "AND coalesce(n.valid_from, '-infinity') < coalesce(e.valid_to, 'infinity'))) "
        "ORDER BY n.valid_from DESC NULLS LAST, n.id, e.id LIMIT %(limit)s",
        view.parameters(concepts=None if concept_ids is None else list(concept_ids), limit=limit),
    ).fetchall()


def by_id(connection: Connection[Any], view: View, edge_ids: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    """Edges with their names and evidence, by id."""
    rows = connection.execute(
        f"{named_edges(view, 'e.id, ')} WHERE e.id = ANY(%(ids)s)", view.parameters(ids=list(edge_ids))
    )
    return {row[0]: tuple(row[1:]) for row in rows}


def superseded(
    connection: Connection[Any], view: View, *, limit: int
) -> list[tuple[str, str | None, datetime, str | None]]:
    """Memories that gave way: which, to which, since when and why; the last one first, never a sensitive one.

    Of some scopes alone, one that gave way to another scope's does not say why: the reason may name that one.
    """
    within = "%(scopes)s::text[] IS NULL OR"
    return connection.execute(
        "SELECT m.external_id, b.external_id, m.superseded_at, "
        f"CASE WHEN {within} b.id IS NOT NULL OR m.superseded_by IS NULL THEN m.superseded_reason END "
        "FROM memories m LEFT JOIN memories b ON b.id = m.superseded_by AND NOT b.is_sensitive "
        f"AND ({within} b.scope = ANY(%(scopes)s)) "
        f"WHERE m.superseded_at IS NOT NULL AND NOT m.is_sensitive AND ({within} m.scope = ANY(%(scopes)s)) "
        "ORDER BY m.superseded_at DESC, m.id LIMIT %(limit)s",
        view.parameters(limit=limit),
    ).fetchall()


def largest(connection: Connection[Any], view: View, *, limit: int) -> tuple[list[int], int]:
    """The concepts that most memories talk about; and how many there are."""
    rows = connection.execute(
        f"SELECT id, count(*) OVER () FROM concepts WHERE {view.concepts()} "
        "ORDER BY memory_count DESC, id LIMIT %(limit)s",
        view.parameters(limit=limit),
    ).fetchall()
    return [row[0] for row in rows], rows[0][1] if rows else 0


def known_concepts(connection: Connection[Any], view: View, concept_ids: Sequence[int]) -> list[int]:
    """Those of the concepts that are looked at, in the order given."""
    rows = connection.execute(
        f"SELECT id FROM concepts WHERE id = ANY(%(ids)s) AND {view.concepts()}",
        view.parameters(ids=list(concept_ids)),
    )
    there = {row[0] for row in rows}
    return [key for key in concept_ids if key in there]


def joined(
    connection: Connection[Any], view: View, concept_ids: Sequence[int], seen: Sequence[int], *, limit: int
) -> tuple[list[int], int]:
    """Concepts that an edge joins to some of these, the heaviest first, less those seen; and how many there are."""
    rows = connection.execute(
        "WITH near AS (SELECT other, sum(weight) AS weight FROM ("
        f"SELECT e.dst_id AS other, e.weight FROM concept_edges e WHERE e.src_id = ANY(%(ids)s) AND {view.edges('e')} "
        f"UNION ALL SELECT e.src_id, e.weight FROM concept_edges e WHERE e.dst_id = ANY(%(ids)s) AND {view.edges('e')}"
        ") AS e GROUP BY other) "
        # Joined and not compared: `<> ALL` of thousands, for every edge, takes a second and more.
        "SELECT other, count(*) OVER () FROM near LEFT JOIN unnest(%(seen)s::bigint[]) AS s (id) ON s.id = other "
        "WHERE s.id IS NULL ORDER BY weight DESC, other LIMIT %(limit)s",
        view.parameters(ids=list(concept_ids), seen=list(seen), limit=limit),
    ).fetchall()
    return [row[0] for row in rows], rows[0][1] if rows else 0


def beside(connection: Connection[Any], view: View, concept_id: int, seen: Sequence[int], *, limit: int) -> list[int]:
    """Concepts that the same memories talk about, rare company first: a hub is in everybody's."""
    rows = connection.execute(
        "SELECT x.concept_id FROM memory_concepts mine JOIN memory_concepts x ON x.memory_id = mine.memory_id "
        "JOIN concepts c ON c.id = x.concept_id WHERE mine.concept_id = %(concept)s AND x.concept_id <> ALL(%(seen)s) "
        f"AND {view.concepts('c')} GROUP BY x.concept_id, c.memory_count "
        "ORDER BY count(*) / sqrt(greatest(c.memory_count, 1)) DESC, 1 LIMIT %(limit)s",
        view.parameters(concept=concept_id, seen=list(seen), limit=limit),
    )
    return [row[0] for row in rows]


def drawn_concepts(connection: Connection[Any], view: View, concept_ids: Sequence[int]) -> list[tuple[Any, ...]]:
    """Concepts to draw: id, name, kind, how many memories, and when one last talked about it; in the order given."""
    return connection.execute(
        "SELECT c.id, c.canonical_name, c.kind, c.memory_count, t.last "
        "FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY AS g (id, place) JOIN concepts c ON c.id = g.id "
        "LEFT JOIN (SELECT x.concept_id, max(m.created_at) AS last FROM memory_concepts x "
        f"JOIN memories m ON m.id = x.memory_id WHERE x.concept_id = ANY(%(ids)s) AND {view.memories('m')} GROUP BY 1) "
        "AS t ON t.concept_id = c.id ORDER BY g.place",
        view.parameters(ids=list(concept_ids)),
    ).fetchall()


def drawn_edges(
    connection: Connection[Any], view: View, concept_ids: Sequence[int], *, limit: int | None
) -> tuple[list[tuple[int, int, str, float]], int]:
    """Edges between these concepts, the heaviest first, one row however many intervals; and how many there are.

    A row is source, target, relation and weight.
    """
    rows = connection.execute(
        "SELECT e.src_id, e.dst_id, e.relation, sum(e.weight)::float8, count(*) OVER () FROM concept_edges e "
        f"WHERE e.src_id = ANY(%(ids)s) AND e.dst_id = ANY(%(ids)s) AND {view.edges('e')} "
        "GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT %(limit)s",
        view.parameters(ids=list(concept_ids), limit=limit),
    ).fetchall()
    return [(row[0], row[1], row[2], row[3]) for row in rows], rows[0][4] if rows else 0


def together(
    connection: Connection[Any], concept_ids: Sequence[int], *, limit: int | None = None
) -> list[tuple[int, int, float]]:
    """Pairs of these concepts that the same memories talk about, with how many, the most first."""
    return connection.execute(
        "SELECT a.concept_id, b.concept_id, count(*)::float8 FROM memory_concepts a JOIN memory_concepts b "
        "ON b.memory_id = a.memory_id AND b.concept_id > a.concept_id WHERE a.concept_id = ANY(%(ids)s) "
        "AND b.concept_id = ANY(%(ids)s) GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT %(limit)s",
        {"ids": list(concept_ids), "limit": limit},
    ).fetchall()


def all_pairs(connection: Connection[Any], view: View) -> list[tuple[int, int, float]]:
    """Which concepts are joined by what is known now, with the edges' weights: for what lies between clusters."""
    return connection.execute(
        f"SELECT src_id, dst_id, sum(weight)::float8 FROM concept_edges WHERE {view.edges()} GROUP BY 1, 2",
        view.parameters(),
    ).fetchall()


EdgeKey = tuple[int, str, int]
"""Source, relation and target: what an edge is, whatever its intervals."""


def supported_concepts(connection: Connection[Any], memory_ids: Sequence[int]) -> dict[int, str]:
    """The names of the concepts that these memories talk about, by id."""
    rows = connection.execute(
        "SELECT id, canonical_name FROM concepts WHERE id IN (SELECT n.concept_id FROM mentions x "
        "JOIN concept_names n ON n.id = x.name_id WHERE x.memory_id = ANY(%s))",
        (list(memory_ids),),
    )
    return dict(rows.fetchall())


def supported_edges(connection: Connection[Any], memory_ids: Sequence[int]) -> dict[EdgeKey, str]:
    """The edges known now that these memories are evidence of, each in words."""
    rows = connection.execute(
        "SELECT DISTINCT e.src_id, e.relation, e.dst_id, s.canonical_name, d.canonical_name FROM concept_edges e "
        "JOIN concepts s ON s.id = e.src_id JOIN concepts d ON d.id = e.dst_id "
        "WHERE e.evidence_memory_ids && %s::bigint[] AND e.retired_at IS NULL",
        (list(memory_ids),),
    )
    return {(row[0], row[1], row[2]): f"{row[3]} — {row[1]} → {row[4]}" for row in rows}


def known_edges(connection: Connection[Any], edge_keys: Sequence[EdgeKey]) -> set[EdgeKey]:
    """Which of these edges are known now."""
    rows = connection.execute(
        "SELECT DISTINCT e.src_id, e.relation, e.dst_id FROM concept_edges e "
        "JOIN unnest(%s::bigint[], %s::text[], %s::bigint[]) AS g (src_id, relation, dst_id) "
        "USING (src_id, relation, dst_id) WHERE e.retired_at IS NULL",
        ([key[0] for key in edge_keys], [key[1] for key in edge_keys], [key[2] for key in edge_keys]),
    )
    return {(row[0], row[1], row[2]) for row in rows}
