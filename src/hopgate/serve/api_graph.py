"""Concepts, edges and clusters; and for the explorer the graph as it is drawn, a question's walk, and the two times."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field, TypeAdapter
from starlette.responses import Response

from hopgate.errors import HopgateError
from hopgate.graph.inspect.edges import Concept, ConceptDetail, Conflict, Edge, EdgeChanges, SupersededMemory, TimeSpan
from hopgate.graph.inspect.view import TOGETHER, Neighbourhood, QueryWalk
from hopgate.recall.filters import MAX_QUERY_CHARACTERS
from hopgate.serve.api_memories import MemoryAnswer, shown
from hopgate.serve.bounds import Served, Service
from hopgate.serve.middleware import PREFIX
from hopgate.serve.problems import RefusedError
from hopgate.serve.values import AsOf, ConceptId, KnownAt, Limit, Moment, Offset, ScopeQuery, Strict, Text

router = APIRouter(prefix=PREFIX, tags=["graph"])
explorer = APIRouter(prefix=PREFIX, tags=["explorer"])

Resolution = Annotated[float, Query(description="Above 1 more and smaller clusters.", ge=0.01, le=100)]
# What is asked of the browser: benchmarks/explorer.py measures it.
MOST = 5000
MOST_COUNTED = 1_000_000
# Of a memory on a walk so many characters.
SHOWN = 32
_PICTURE = TypeAdapter(Neighbourhood)


class ConceptAnswer(BaseModel):
    """A concept with the memories that talk about it, the newest first, and its edges."""

    concept: Concept
    memories: list[MemoryAnswer]
    edges: list[Edge]


def concept_of(
    key: int, served: Service, *, as_of: datetime | None = None, known_at: datetime | None = None, limit: int = 1
) -> ConceptDetail:
    """Give a concept as the request may see it; one that its scopes do not talk about is not there."""
    try:
        return served.kb.graph.concept(key, as_of=as_of, known_at=known_at, scope=served.scope(), limit=limit)
    except HopgateError as error:
        raise RefusedError(404, str(error)) from None


@router.get("/concepts")
def list_concepts(
    served: Served,
    search: Annotated[Text | None, Query(description="Only with a name that holds this.", max_length=200)] = None,
    kind: Annotated[Text | None, Query(description="Only of this kind.", max_length=200)] = None,
    scope: ScopeQuery = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> list[Concept]:
    """List concepts, those first that most memories talk about."""
    return served.kb.graph.concepts(
        kind=kind,
        search=search,
        as_of=as_of,
        known_at=known_at,
        scope=served.scope(scope),
        limit=served.require_rows(limit),
        offset=offset,
    )


@router.get("/concepts/{id}")
def get_concept(
    id: ConceptId, served: Served, as_of: AsOf = None, known_at: KnownAt = None, limit: Limit = 20
) -> ConceptAnswer:
    """Look at one concept: its names, its memories, its edges."""
    detail = concept_of(id, served, as_of=as_of, known_at=known_at, limit=served.require_rows(limit))
    memories = [shown(memory, served) for memory in map(served.kb.get, detail.memories) if memory]
    return ConceptAnswer(concept=detail.concept, memories=memories, edges=list(detail.edges))


@router.get("/edges")
def list_edges(
    served: Served,
    concept: Annotated[Text | None, Query(description="A concept's id, or one of its names.", max_length=1000)] = None,
    relation: Annotated[Text | None, Query(description="Only of this relation.", max_length=1000)] = None,
    scope: ScopeQuery = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Limit = 50,
) -> list[Edge]:
    """List edges, the heaviest first: those true as of a time, as known at a time."""
    return served.kb.graph.edges(
        _named(concept),
        relation=relation,
        as_of=as_of,
        known_at=known_at,
        scope=served.scope(scope),
        limit=served.require_rows(limit),
    )


def _named(concept: str | None) -> str | int | None:
    """A concept's id where it is a number, else its name.

    Examples
    --------
    >>> _named("17"), _named("atlas"), _named("٣")
    (17, 'atlas', '٣')
    """
    # As many digits as a bigint always holds.
    return int(concept) if concept is not None and re.fullmatch("[0-9]{1,18}", concept) else concept


@router.get("/clusters")
def list_clusters(
    served: Served,
    resolution: Resolution = 1.0,
    level: Annotated[int, Query(description="0 is the coarsest.", ge=0, le=100)] = 0,
    scope: ScopeQuery = None,
    members: Annotated[int, Query(description="So many of each one's concepts.", ge=0, le=10_000)] = 10,
) -> dict[str, Any]:
    """List the clusters of one level, the largest first: as `hopgate concepts clusters --json`."""
    served.require_rows(members, "members")
    return served.kb.graph.clusters(resolution=resolution, level=level, scope=served.scope(scope)).to_dict(members)


@router.get("/clusters/{id}")
def get_cluster(
    id: Annotated[int, Path(description="The cluster's id.", ge=0, le=2**63 - 1)],
    served: Served,
    resolution: Resolution = 1.0,
    scope: ScopeQuery = None,
    limit: Limit = 100,
) -> dict[str, Any]:
    """Look at one cluster of any level, with so many of its concepts, the most central first."""
    served.require_rows(limit)
    scopes, level, levels = served.scope(scope), 0, 1
    while level < levels:
        found = served.kb.graph.clusters(resolution=resolution, level=level, scope=scopes)
        for cluster in found:
            if cluster.id == id:
                return cluster.to_dict(limit)
        level, levels = level + 1, found.levels
    raise RefusedError(404, f"there is no cluster {id} here: /clusters lists them")


@explorer.get("/graph/overview")
def overview(served: Served) -> dict[str, int]:
    """Say how many concepts and edges the graph has."""
    scopes, graph = served.scope(), served.kb.graph
    if scopes is not None:
        concepts = graph.concepts(scope=scopes, limit=MOST_COUNTED)
        return {"concepts": len(concepts), "edges": len(graph.edges(scope=scopes))}
    counts = graph.counts()
    return {"concepts": counts["concepts"], "edges": counts["edges"]}


class DrawnCluster(BaseModel):
    """A cluster: its most telling words and members as a name, and the ids of its concepts."""

    id: int
    name: str
    concepts: list[int]


class DrawnClusters(BaseModel):
    """The clusters of more than one concept, the largest first, and what joins two: their ids, and a weight."""

    clusters: list[DrawnCluster]
    links: list[tuple[int, int, float]]
    alone: int


@explorer.get("/graph/clusters")
def drawn_clusters(served: Served) -> DrawnClusters:
    """Give the clusters of the graph, and what joins them; they are found when they are first asked for."""
    scopes = served.scope()
    found = served.kb.graph.clusters(scope=scopes)
    several = {cluster.id: cluster for cluster in found if len(cluster) > 1}
    weights = Counter[tuple[int, int]]()
    for source, target, weight in served.kb.graph.joined_pairs(scope=scopes):
        one, other = sorted(found.assignment.get(concept, 0) for concept in (source, target))
        if one != other and one in several and other in several:
            weights[one, other] += weight  # type: ignore[assignment]
    return DrawnClusters(
        clusters=[
            DrawnCluster(id=cluster.id, name=cluster.label, concepts=[concept.id for concept in cluster.members])
            for cluster in several.values()
        ],
        links=[(one, other, weight) for (one, other), weight in weights.items()],
        alone=len(found) - len(several),
    )


@explorer.get("/graph/view", response_model=Neighbourhood)
def view(
    served: Served,
    concept: Annotated[int | None, Query(description="Around this concept.", ge=1 - 2**63, le=2**63 - 1)] = None,
    cluster: Annotated[int | None, Query(description="Of this cluster.", ge=0, le=2**31 - 1)] = None,
    depth: Annotated[int, Query(description="So many edges far.", ge=1, le=4)] = 1,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Annotated[int, Query(description="At most so many concepts.", ge=1, le=MOST)] = 100,
) -> Response:
    """Give a part of the graph: around a concept, of a cluster, or the largest concepts of all."""
    scopes, graph = served.scope(), served.kb.graph
    try:
        among = None if cluster is None else [one.id for one in graph.clusters(scope=scopes).members(cluster)]
        found = graph.neighbourhood(
            concept, among=among, depth=depth, as_of=as_of, known_at=known_at, scope=scopes, limit=limit
        )
    except HopgateError as error:
        raise RefusedError(404, str(error)) from None
    # As it is: to check thousands of values that were made here takes longer than to read them.
    return Response(_PICTURE.dump_json(found), media_type="application/json")


class WalkRequest(Strict):
    """A question whose walk is wanted."""

    query: Annotated[Text, Field(min_length=1, max_length=MAX_QUERY_CHARACTERS)]
    as_of: Moment | None = None
    memories: Annotated[int, Field(ge=1, le=50)] = 10
    concepts: Annotated[int, Field(ge=1, le=100)] = 16


class WalkNode(BaseModel):
    """A memory or a concept that a walk visits, its share of the walks, and how many steps it is from the start."""

    id: int | str
    text: str
    kind: str | None
    is_memory: bool
    mass: float
    step: int


class WalkAnswer(BaseModel):
    """The part of the graph that a question's walk visits most; lines are two places in `nodes` and a relation."""

    nodes: list[WalkNode]
    lines: list[tuple[int, int, str]]


@explorer.post("/graph/walk")
def walk(asked: WalkRequest, served: Served) -> WalkAnswer:
    """Walk from a question as recall does, and give what that visits most, step by step."""
    scopes, graph = served.scope(), served.kb.graph
    found = graph.walk(asked.query, memories=asked.memories, concepts=asked.concepts, as_of=asked.as_of, scope=scopes)
    steps, places = found.steps(), {name: at for at, name in enumerate(found.nodes)}
    ids = [node.concept_id for node in found.nodes.values() if node.concept_id is not None]
    drawn = graph.neighbourhood(among=ids, scope=scopes, limit=max(1, len(ids)))
    kinds, relations = {concept.id: concept.kind for concept in drawn.concepts}, _relations(found, drawn)

    def answer(name: str) -> WalkNode:
        node = found.nodes[name]
        rest: dict[str, Any] = {"is_memory": node.is_memory, "mass": node.mass, "step": steps[name]}
        if node.concept_id is None:
            return WalkNode(id=name, text=_beginning(served, name), kind=None, **rest)
        return WalkNode(id=node.concept_id, text=name, kind=kinds.get(node.concept_id), **rest)

    lines = [(places[one], places[other], relations[frozenset((one, other))]) for one, other in found.lines]
    return WalkAnswer(nodes=list(map(answer, found.nodes)), lines=lines)


def _relations(found: QueryWalk, drawn: Neighbourhood) -> dict[frozenset[str], str]:
    """What the lines of a walk are called: an edge's relation, or that a memory mentions a concept."""
    ids = {node.concept_id: name for name, node in found.nodes.items()}
    names = {
        frozenset((ids[edge.source], ids[edge.target])): edge.relation
        for edge in drawn.edges
        if edge.relation != TOGETHER
    }
    for pair in found.lines:
        kinds = {found.nodes[name].is_memory for name in pair}
        names.setdefault(frozenset(pair), "mentions" if kinds == {True, False} else "next to")
    return names


def _beginning(served: Service, key: str) -> str:
    """A memory's first words, where they may be shown; else its id."""
    memory = served.kb.get(key)
    if memory is None or not served.shows(memory):
        return key
    words = " ".join(memory.text.split())
    return words if len(words) <= SHOWN else words[: SHOWN - 1] + "…"


@explorer.get("/timeline/span")
def time_span(served: Served) -> TimeSpan:
    """Say how far valid time and known time reach."""
    return served.kb.graph.span(scope=served.scope())


@explorer.get("/timeline/concepts/{id}")
def concept_history(id: ConceptId, served: Served, limit: Limit = 200) -> list[Edge]:
    """Give every version of a concept's edges; one with `retired_at` is not held true any more."""
    name = concept_of(id, served).concept.name
    return served.kb.graph.history(name, scope=served.scope(), limit=served.require_rows(limit))


@explorer.get("/timeline/changes")
def what_changed(
    served: Served,
    since: Annotated[Moment, Query(description="After this time.")],
    until: Annotated[Moment, Query(description="Up to this time.")],
    axis: Annotated[Literal["valid", "known"], Query(description="When it was true, or when it was known.")] = "valid",
    limit: Limit = 100,
) -> EdgeChanges:
    """Give the edges that began and those that ended between two moments."""
    return served.kb.graph.changes(since, until, axis=axis, scope=served.scope(), limit=served.require_rows(limit))


@explorer.get("/timeline/conflicts")
def conflicts(served: Served, limit: Limit = 50) -> list[Conflict]:
    """Give the edges that contradict each other, with their evidence."""
    return served.kb.graph.conflicts(scope=served.scope(), limit=served.require_rows(limit))


@explorer.get("/timeline/superseded")
def superseded(served: Served, limit: Limit = 50) -> list[SupersededMemory]:
    """Give the memories that gave way."""
    return served.kb.graph.superseded(scope=served.scope(), limit=served.require_rows(limit))
