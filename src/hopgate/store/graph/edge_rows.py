"""Edges between concepts: replaced group by group, read as of a time, along their two times, and for pictures."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from hopgate.store.graph.fact_rows import FactGroup
from hopgate.store.graph.visible import View
from hopgate.store.rows import Connection, as_json, columns, columns_of, fetch, incoming, values

# What a statement that derives the whole graph may take of memory for each sort: 50,000 memories need 20 MB.
SORTED_IN = "64MB"


class EdgeRow(NamedTuple):
    """A row of `concept_edges`: true from `valid_from` to `valid_to`, known from `recorded_at` to `retired_at`."""

    src_id: int
    dst_id: int
    relation: str
    weight: float
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    retired_at: datetime | None
    evidence_memory_ids: tuple[int, ...]


def replace(connection: Connection, groups: Sequence[FactGroup], rows: Iterable[EdgeRow]) -> None:
    """Put new rows in the place of all edges of these groups; an edge that was there before keeps its vector."""
    # A UNION of two joins: with an OR the planner would read all edges of a hub to find one.
    connection.execute(
        "WITH g AS (SELECT * FROM unnest(%(src)s::bigint[], %(relation)s::text[], %(dst)s::bigint[]) "
        "AS g (src_id, relation, dst_id)), "
        "old AS (SELECT e.id FROM g JOIN concept_edges e USING (src_id, relation, dst_id) "
        "UNION ALL SELECT e.id FROM g JOIN concept_edges e USING (src_id, relation) WHERE g.dst_id IS NULL), "
        "gone AS (DELETE FROM concept_edges e USING old WHERE e.id = old.id "
        "RETURNING e.src_id, e.relation, e.dst_id, e.embedding), "
        "was AS (SELECT DISTINCT ON (src_id, relation, dst_id) * FROM gone "
        "ORDER BY src_id, relation, dst_id, embedding IS NULL) "
        f"INSERT INTO concept_edges (scope, {columns(EdgeRow)}, embedding) "
        f"SELECT c.scope, {columns(EdgeRow)}, was.embedding FROM {incoming('concept_edges')} AS r "
        "JOIN concepts c ON c.id = r.src_id LEFT JOIN was USING (src_id, relation, dst_id)",
        {**dict(zip(("src", "relation", "dst"), columns_of(groups, 3), strict=True)), "rows": as_json(rows)},
    )


def drop_unfounded(connection: Connection) -> None:
    """Remove the edges that no fact states any more."""
    connection.execute(
        "DELETE FROM concept_edges e WHERE NOT EXISTS (SELECT FROM stated f "
        "WHERE f.src_id = e.src_id AND f.canonical = e.relation AND f.dst_id = e.dst_id)"
    )


def sort_in_memory(connection: Connection) -> None:
    """Let the statements of this transaction, which read all of the graph, sort it in memory and not on disk."""
    connection.execute(
        "SELECT set_config('work_mem', %(most)s, true) "
        "WHERE pg_size_bytes(current_setting('work_mem')) < pg_size_bytes(%(most)s)",
        {"most": SORTED_IN},
    )


# Reading: every reader is one SELECT with another condition.


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge by its names: true from `valid_from` to `valid_to`, known since `recorded_at`, with its evidence.

    The evidence is in the memories' order.
    """

    source: str
    relation: str
    target: str
    weight: float
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    retired_at: datetime | None
    evidence: tuple[str, ...]
    # Numbers of the whole store, which say nothing of what an edge is.
    source_id: int = field(default=0, compare=False)
    target_id: int = field(default=0, compare=False)

    def __str__(self) -> str:
        start, end = (f"{moment:%Y-%m-%d}" if moment else "…" for moment in (self.valid_from, self.valid_to))
        evidence = f"  ({', '.join(self.evidence)})" if self.evidence else ""
        return f"{self.source} — {self.relation} → {self.target}  {start} to {end}{evidence}"


_HEAVIEST = "e.weight DESC, source, e.relation, target, e.valid_from NULLS FIRST, e.id"
_OF_CONCEPTS = "(e.src_id = ANY(%(concepts)s) OR e.dst_id = ANY(%(concepts)s))"


def _read(
    connection: Connection, view: View, where: str, order: str, limit: int | None = None, **given: Any
) -> list[Edge]:
    """Read edges `e` with their ends by name; evidence that the view does not show is left out."""
    return fetch(
        connection,
        Edge,
        "SELECT s.canonical_name AS source, e.relation, d.canonical_name AS target, e.weight, e.valid_from, "
        "e.valid_to, e.recorded_at, e.retired_at, ARRAY(SELECT m.external_id "
        f"FROM memories m WHERE m.id = ANY(e.evidence_memory_ids) AND {View(view.scopes).memories('m')} "
        "ORDER BY m.id) AS evidence, e.src_id AS source_id, e.dst_id AS target_id FROM concept_edges e "
        "JOIN concepts s ON s.id = e.src_id JOIN concepts d ON d.id = e.dst_id "
        f"WHERE {where} ORDER BY {order} LIMIT %(limit)s",
        view.parameters(limit=limit, **given),
    )


def visible(
    connection: Connection,
    view: View,
    *,
    concept_ids: Sequence[int] | None = None,
    memory_ids: Sequence[int] | None = None,
    relation: str | None = None,
    limit: int | None = None,
) -> list[Edge]:
    """Edges, the heaviest first: all, those of some concepts or a relation, or those that memories are evidence of."""
    asked = {
        _OF_CONCEPTS: concept_ids is not None,
        "e.evidence_memory_ids && %(memories)s::bigint[]": memory_ids is not None,
        "e.relation = %(relation)s": relation is not None,
    }
    where = " AND ".join([view.edges("e"), *(condition for condition, is_asked in asked.items() if is_asked)])
    parameters = {"concepts": list(concept_ids or ()), "memories": list(memory_ids or ()), "relation": relation}
    return _read(connection, view, where, _HEAVIEST, limit, **parameters)


def versions(connection: Connection, view: View, concept_ids: Sequence[int], *, limit: int) -> list[Edge]:
    """Every version of concepts' edges, those no longer believed among them, in the order of valid time."""
    where = f"{view.edges_of_scopes('e')} AND {_OF_CONCEPTS}"
    order = "e.relation, e.valid_from NULLS FIRST, e.recorded_at, e.id"
    return _read(connection, view, where, order, limit, concepts=list(concept_ids))


@dataclass(frozen=True, slots=True)
class MemoryFact:
    """An edge that a memory is evidence of, and the memories that ended it."""

    memory_id: int
    source: str
    relation: str
    target: str
    valid_from: datetime | None
    valid_to: datetime | None
    enders: list[int]


def facts_of(connection: Connection, view: View, memory_ids: Sequence[int]) -> dict[int, list[MemoryFact]]:
    """What memories are evidence of, whether it still holds or not, by memory.

    A fact was ended by the memories that say what came in its place at that moment, and by those that say that it
    ended: of two that say it together, by the later one.
    """
    rows = fetch(
        connection,
        MemoryFact,
        "SELECT m.id AS memory_id, s.canonical_name AS source, e.relation, d.canonical_name AS target, e.valid_from, "
        "e.valid_to, CASE WHEN e.valid_to IS NULL THEN '{}' ELSE ARRAY("
        f"SELECT o.id FROM memories o WHERE {view.memories('o')} AND o.id IN ("
        "SELECT unnest(n.evidence_memory_ids) FROM concept_edges n WHERE n.src_id = e.src_id "
        f"AND n.relation = e.relation AND n.dst_id <> e.dst_id AND n.valid_from = e.valid_to AND {view.edges('n')} "
        "UNION SELECT CASE WHEN (b.created_at, b.id) > (a.created_at, a.id) THEN b.id ELSE a.id END FROM stated f "
        "JOIN memories a ON a.id = f.memory_id LEFT JOIN memories b ON b.id = f.read_with WHERE f.src_id = e.src_id "
        "AND f.dst_id = e.dst_id AND f.canonical = e.relation AND f.valid_to = e.valid_to) ORDER BY o.id) END "
        "AS enders "
        "FROM concept_edges e JOIN memories m ON m.id = ANY(e.evidence_memory_ids) "
        "JOIN concepts s ON s.id = e.src_id JOIN concepts d ON d.id = e.dst_id "
        "WHERE e.evidence_memory_ids && %(memories)s::bigint[] AND m.id = ANY(%(memories)s) "
        f"AND {view.edges('e')} ORDER BY m.id, e.valid_from NULLS FIRST, e.id",
        view.parameters(memories=list(memory_ids)),
    )
    facts: dict[int, list[MemoryFact]] = {}
    for row in rows:
        facts.setdefault(row.memory_id, []).append(row)
    return facts


def begun(
    connection: Connection, view: View, column: str, since: datetime, until: datetime, *, limit: int
) -> list[Edge]:
    """Edges whose time of this column is after `since` and up to `until`.

    In valid time only what is believed now; in known time a version that was replaced is the news.
    """
    believed = " AND e.retired_at IS NULL" if column.startswith("valid") else ""
    where = f"{view.edges_of_scopes('e')}{believed} AND e.{column} > %(since)s AND e.{column} <= %(until)s"
    return _read(connection, view, where, f"e.{column}, e.id", limit, since=since, until=until)


def conflicts(
    connection: Connection, view: View, concept_ids: Sequence[int] | None, *, limit: int
) -> list[tuple[Edge, Edge, bool]]:
    """Pairs of edges that cannot both hold: the older one, the newer one, and whether the newer one ended the older.

    They have one source and one relation that holds one value at a time, and different targets. That an edge which
    begins where another ends has ended it leans on `graph/temporal.py`, which makes the two moments one.
    """
    pairs = connection.execute(
        "SELECT e.id, n.id, n.valid_from = e.valid_to AS ended FROM concept_edges e JOIN concept_edges n "
        "ON n.src_id = e.src_id AND n.relation = e.relation AND n.dst_id <> e.dst_id AND n.retired_at IS NULL "
        "WHERE e.retired_at IS NULL AND EXISTS (SELECT 1 FROM relations r WHERE r.scope = e.scope "
        f"AND r.canonical = e.relation AND r.single_valued) AND {view.edges_of_scopes('e')} "
        f"AND {view.edges_of_scopes('n')} AND (%(concepts)s::bigint[] IS NULL OR {_OF_CONCEPTS} "
        "OR n.dst_id = ANY(%(concepts)s)) AND (n.valid_from = e.valid_to OR ("
        "(coalesce(e.valid_from, '-infinity'), e.id) < (coalesce(n.valid_from, '-infinity'), n.id) "
        "AND coalesce(n.valid_from, '-infinity') < coalesce(e.valid_to, 'infinity'))) "
        "ORDER BY n.valid_from DESC NULLS LAST, n.id, e.id LIMIT %(limit)s",
        view.parameters(concepts=None if concept_ids is None else list(concept_ids), limit=limit),
    ).fetchall()
    ids = sorted({key for older, newer, _ in pairs for key in (older, newer)})
    known = dict(zip(ids, _read(connection, view, "e.id = ANY(%(ids)s)", "e.id", ids=ids), strict=True))
    return [(known[older], known[newer], bool(ended)) for older, newer, ended in pairs]


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """From when to when edges are true, and from when to when they became known; None where no edge has a date."""

    valid_from: datetime | None
    valid_to: datetime | None
    known_from: datetime | None
    known_to: datetime | None


def span(connection: Connection, view: View) -> TimeSpan:
    """How far the two times reach."""
    return fetch(
        connection,
        TimeSpan,
        "SELECT least(min(valid_from), min(valid_to)) AS valid_from, greatest(max(valid_from), max(valid_to)) "
        "AS valid_to, min(recorded_at) AS known_from, greatest(max(recorded_at), max(retired_at)) AS known_to "
        f"FROM concept_edges WHERE {view.edges_of_scopes()}",
        view.parameters(),
    )[0]


def intervals(connection: Connection, concept_ids: Sequence[int]) -> list[tuple[datetime | None, datetime | None]]:
    """When the known edges of these concepts hold."""
    statement = f"SELECT e.valid_from, e.valid_to FROM concept_edges e WHERE e.retired_at IS NULL AND {_OF_CONCEPTS}"
    return connection.execute(statement, {"concepts": list(concept_ids)}).fetchall()


# For pictures: which concepts an edge, or a memory, joins.


@dataclass(frozen=True, slots=True)
class DrawnConcept:
    """A concept in a picture; `last` is when a memory last talked about it."""

    id: int
    name: str
    kind: str | None
    memories: int
    last: datetime | None


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """A line between two concepts of a picture, by their ids."""

    source: int
    target: int
    relation: str
    weight: float


def chosen_concepts(
    connection: Connection, view: View, among: Sequence[int] | None, *, limit: int
) -> tuple[list[int], int]:
    """The concepts that most memories talk about, or those of some in their order; and how many there are."""
    rows = connection.execute(
        f"SELECT id, count(*) OVER () FROM concepts WHERE {view.concepts()} "
        "AND (%(ids)s::bigint[] IS NULL OR id = ANY(%(ids)s)) "
        f"ORDER BY array_position(%(ids)s::bigint[], id), {view.memory_count()} DESC, id LIMIT %(limit)s",
        view.parameters(ids=None if among is None else list(among), limit=limit),
    ).fetchall()
    return [row[0] for row in rows], rows[0][1] if rows else 0


def joined(
    connection: Connection, view: View, concept_ids: Sequence[int], but: Sequence[int], *, limit: int
) -> tuple[list[int], int]:
    """Concepts that an edge joins to some of these, the heaviest first, without others; and how many there are."""
    rows = connection.execute(
        "WITH near AS (SELECT other, sum(weight) AS weight FROM ("
        f"SELECT e.dst_id AS other, e.weight FROM concept_edges e WHERE e.src_id = ANY(%(ids)s) AND {view.edges('e')} "
        f"UNION ALL SELECT e.src_id, e.weight FROM concept_edges e WHERE e.dst_id = ANY(%(ids)s) AND {view.edges('e')}"
        ") AS e GROUP BY other) "
        # Joined and not compared: `<> ALL` of thousands, for every edge, takes a second and more.
        "SELECT other, count(*) OVER () FROM near LEFT JOIN unnest(%(but)s::bigint[]) AS b (id) ON b.id = other "
        "WHERE b.id IS NULL ORDER BY weight DESC, other LIMIT %(limit)s",
        view.parameters(ids=list(concept_ids), but=list(but), limit=limit),
    ).fetchall()
    return [row[0] for row in rows], rows[0][1] if rows else 0


def beside(connection: Connection, view: View, concept_id: int, but: Sequence[int], *, limit: int) -> list[int]:
    """Concepts that the same memories talk about, rare company first: a hub is in everybody's."""
    return values(
        connection,
        "SELECT c.id FROM memory_concepts mine JOIN memory_concepts x ON x.memory_id = mine.memory_id "
        "JOIN concepts c ON c.id = x.concept_id JOIN memories m ON m.id = mine.memory_id "
        f"WHERE mine.concept_id = %(concept)s AND x.concept_id <> ALL(%(but)s) AND {view.memories('m')} "
        f"GROUP BY c.id ORDER BY count(*) / sqrt(greatest({view.memory_count('c')}, 1)) DESC, c.id LIMIT %(limit)s",
        view.parameters(concept=concept_id, but=list(but), limit=limit),
    )


def drawn_concepts(connection: Connection, view: View, concept_ids: Sequence[int]) -> list[DrawnConcept]:
    """Concepts to draw, in the order given."""
    return fetch(
        connection,
        DrawnConcept,
        "SELECT c.id, c.canonical_name AS name, c.kind, coalesce(t.memories, 0) AS memories, t.last "
        "FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY AS g (id, place) JOIN concepts c ON c.id = g.id "
        "LEFT JOIN (SELECT x.concept_id, count(*) AS memories, max(m.created_at) AS last FROM memory_concepts x "
        f"JOIN memories m ON m.id = x.memory_id WHERE x.concept_id = ANY(%(ids)s) AND {view.memories('m')} GROUP BY 1) "
        "AS t ON t.concept_id = c.id ORDER BY g.place",
        view.parameters(ids=list(concept_ids)),
    )


def drawn_edges(
    connection: Connection, view: View, concept_ids: Sequence[int], *, limit: int | None
) -> tuple[list[DrawnEdge], int]:
    """Edges between these concepts, the heaviest first, one however many intervals it has; and how many there are."""
    rows = connection.execute(
        "SELECT e.src_id, e.dst_id, e.relation, sum(e.weight)::float8, count(*) OVER () FROM concept_edges e "
        f"WHERE e.src_id = ANY(%(ids)s) AND e.dst_id = ANY(%(ids)s) AND {view.edges('e')} "
        "GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT %(limit)s",
        view.parameters(ids=list(concept_ids), limit=limit),
    ).fetchall()
    return [DrawnEdge(*row[:4]) for row in rows], rows[0][4] if rows else 0


def together(
    connection: Connection, view: View, concept_ids: Sequence[int], relation: str, *, limit: int | None = None
) -> list[DrawnEdge]:
    """Pairs of these concepts that the same memories talk about, with how many, the most first, as such a relation."""
    return fetch(
        connection,
        DrawnEdge,
        "SELECT a.concept_id AS source, b.concept_id AS target, %(relation)s AS relation, count(*)::float8 AS weight "
        "FROM memory_concepts a JOIN memory_concepts b ON b.memory_id = a.memory_id AND b.concept_id > a.concept_id "
        f"JOIN memories m ON m.id = a.memory_id WHERE a.concept_id = ANY(%(ids)s) AND b.concept_id = ANY(%(ids)s) "
        f"AND {view.memories('m')} GROUP BY 1, 2 ORDER BY 4 DESC, 1, 2 LIMIT %(limit)s",
        view.parameters(ids=list(concept_ids), relation=relation, limit=limit),
    )
