"""Concepts and edges of some scopes alone: by their own names and evidence, as if there were no other scope."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.graph.inspect.concept_detail import ConceptDetail
from hopgate.graph.inspect.edges import Edge
from hopgate.graph.names import normalise
from hopgate.graph.walk.scope_graph import OwnEdge, ScopeGraph, scope_graph
from hopgate.store import memories
from hopgate.store.graph import concept_rows, scope_rows
from hopgate.store.graph.concept_rows import Concept
from hopgate.store.graph.edge_rows import NAME_INSIDE

if TYPE_CHECKING:
    from psycopg import Connection


def scope_concepts(
    connection: Connection[Any],
    scopes: Sequence[str],
    *,
    kind: str | None = None,
    search: str | None = None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    limit: int = 50,
    offset: int = 0,
) -> list[Concept]:
    """Concepts by how many memories of these scopes talk about them; see `concept_rows.listed`."""
    ids = scope_rows.memories_of_scopes(connection, scopes, known_at)
    own = scope_graph(connection, ids, as_of=as_of, known_at=known_at)
    stated = {end for edge in own.edges if edge.row.evidence for end in (edge.row.src_id, edge.row.dst_id)}
    found = [
        concept
        for concept in listed_concepts(own)
        if kind in (None, concept.kind)
        and (as_of is None or concept.id in stated)
        and (not search or any(search.lower() in name.lower() for name in concept.aliases))
    ]
    # Stable: those of one count stay in the order in which the scopes' memories first mention them.
    return sorted(found, key=lambda concept: -concept.memory_count)[offset : offset + limit]


def listed_concepts(own: ScopeGraph) -> list[Concept]:
    """The concepts of a scope's own graph as its memories name them, in the order in which they first do."""
    return [
        Concept(one, own.aliases[one][0], own.aliases[one], own.kinds.get(one), own.memory_counts[one])
        for one in own.concept_ids
    ]


def scope_edges(
    connection: Connection[Any],
    scopes: Sequence[str],
    *,
    of: str | int | None = None,
    relation: str | None = None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    limit: int | None = None,
) -> list[Edge]:
    """The edges that memories of these scopes support, all or one concept's, heaviest first; see `edges`."""
    ids = scope_rows.memories_of_scopes(connection, scopes, known_at)
    own = scope_graph(connection, ids, as_of=as_of, known_at=known_at)
    wanted = None
    if of is not None:
        wanted = {named_in(own, of) if isinstance(of, str) else own.concept_of(of)}
    return _edges(connection, own, wanted, relation=relation)[:limit]


def _edges(
    connection: Connection[Any], own: ScopeGraph, of: Collection[int | None] | None, *, relation: str | None = None
) -> list[Edge]:
    """The edges of a scope's own graph, all or some concepts', heaviest first."""
    edges = [
        edge
        for edge in own.edges
        if (of is None or edge.row.src_id in of or edge.row.dst_id in of) and relation in (None, edge.relation)
    ]
    known = memories.external_ids(connection, {memory for edge in edges for memory in edge.row.evidence})
    return sorted((edge_value(own, edge, known) for edge in edges), key=_order)


def scope_concept(
    connection: Connection[Any],
    scopes: Sequence[str],
    name: str | int,
    *,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    limit: int = 20,
) -> ConceptDetail:
    """One concept as these scopes' memories have it; one that they do not talk about is refused."""
    ids = scope_rows.memories_of_scopes(connection, scopes, None)
    own = scope_graph(connection, ids)
    key = named_in(own, name) if isinstance(name, str) else own.concept_of(name)
    for concept in listed_concepts(own):
        if concept.id == key:
            about = concept_rows.newest(connection, own.memories_of[key], known_at=known_at, limit=limit)
            then_ids = scope_rows.memories_of_scopes(connection, scopes, known_at)
            then = scope_graph(connection, then_ids, as_of=as_of, known_at=known_at)
            # By its names: what was known then may have made another concept of each.
            called = {known.id for known in own.names if known.concept_id == key}
            edges = _edges(connection, then, {known.concept_id for known in then.names if known.id in called})
            return ConceptDetail(concept, (), tuple(about), tuple(edges[:limit]))
    raise HopgateError(f"there is no concept {name}")


def scope_pairs(connection: Connection[Any], scopes: Sequence[str]) -> list[tuple[int, int, float]]:
    """Which concepts the scopes' edges join, with their weights; see `view_rows.all_pairs`."""
    own = scope_graph(connection, scope_rows.memories_of_scopes(connection, scopes, None))
    weights: dict[tuple[int, int], float] = {}
    for edge in own.edges:
        pair = edge.row.src_id, edge.row.dst_id
        weights[pair] = weights.get(pair, 0.0) + edge.row.weight
    return [(*pair, weight) for pair, weight in weights.items()]


def named_in(own: ScopeGraph, name: str) -> int:
    """Find the concept that a scope's memories call so; a name that they do not mention is refused."""
    normal = normalise(name)
    for known in own.names:
        if known.normal == normal:
            return known.concept_id
    raise HopgateError(f"there is no concept {name!r} in this scope: hopgate concepts list --scope NAME shows them")


def edge_value(own: ScopeGraph, edge: OwnEdge, external_ids: Mapping[int, str]) -> Edge:
    """Give an edge as its scope's memories name its ends and word it, with them alone as evidence."""
    row = edge.row
    since = None if row.relation == NAME_INSIDE else row.recorded_at
    evidence = tuple(external_ids[memory] for memory in row.evidence)
    source, target = own.aliases[row.src_id][0], own.aliases[row.dst_id][0]
    return Edge(
        source, edge.relation, target, row.weight, row.valid_from, row.valid_to, since, row.retired_at, evidence
    )


def _order(edge: Edge) -> tuple[Any, ...]:
    begins = edge.valid_from.timestamp() if edge.valid_from else float("-inf")
    return edge.relation == NAME_INSIDE, -edge.weight, edge.source, edge.relation, edge.target, begins
