"""Concepts, edges and clusters; and for the explorer the graph as it is drawn, a question's walk, and the two times."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse

from hopgate.errors import HopgateError
from hopgate.graph.inspect.edges import ConceptDetail, Conflict, Edge, EdgeChanges, SupersededMemory, TimeSpan
from hopgate.graph.inspect.view import TOGETHER, Neighbourhood, QueryWalk
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


class ConceptAnswer(BaseModel):
    """A concept: its name, its aliases, its kind, and how many memories talk about it."""

    id: int
    name: str
    aliases: list[str]
    kind: str | None
    memory_count: int


class ConceptsAnswer(BaseModel):
    """Concepts, those first that most memories talk about."""

    concepts: list[ConceptAnswer]


class EdgesAnswer(BaseModel):
    """Edges, the heaviest first."""

    edges: list[Edge]


class ConceptDetailAnswer(ConceptAnswer):
    """A concept with the memories that talk about it, the newest first, and its edges."""

    memories: list[MemoryAnswer]
    edges: list[Edge]


class MemberAnswer(BaseModel):
    """A concept of a cluster."""

    id: int
    name: str
    kind: str | None
    memories: int


class ClusterAnswer(BaseModel):
    """A cluster: its label, its telling words, how large it is, what it is part of, and some of its concepts."""

    id: int
    label: str
    words: list[str]
    size: int
    memories: int
    parent: int | None
    parts: list[int]
    members: list[MemberAnswer]


class ClustersAnswer(BaseModel):
    """The clusters that the graph's structure makes of its concepts, the largest first, and how well they hold."""

    resolution: float
    level: int
    levels: int
    version: int
    modularity: float
    scopes: list[str]
    clusters: list[ClusterAnswer]


class DrawnConceptAnswer(BaseModel):
    """A concept to draw: how many memories talk about it, and when one last did."""

    id: int
    name: str
    kind: str | None
    memories: int
    last: datetime | None


class DrawnEdgeAnswer(BaseModel):
    """A line between two concepts, by their ids."""

    source: int
    target: int
    relation: str
    weight: float


class GraphViewAnswer(BaseModel):
    """A part of the graph, and how many more concepts, and lighter edges, were left out."""

    nodes: list[DrawnConceptAnswer]
    edges: list[DrawnEdgeAnswer]
    left_out: int
    edges_left_out: int


class GraphOverviewAnswer(BaseModel):
    """How large the graph is."""

    concepts: int
    edges: int


class DrawnClusterAnswer(BaseModel):
    """A cluster: its most telling words and members as a name, how large it is, and the ids of its concepts."""

    id: int
    name: str
    size: int
    memories: int
    concepts: list[int]


class ClusterLinkAnswer(BaseModel):
    """What joins two clusters: the weight of the edges between their concepts."""

    source: int
    target: int
    weight: float


class DrawnClustersAnswer(BaseModel):
    """The clusters of more than one concept, the largest first, and what joins them."""

    clusters: list[DrawnClusterAnswer]
    links: list[ClusterLinkAnswer]
    alone: int
    modularity: float


class WalkRequest(Strict):
    """A question whose walk is wanted."""

    query: Annotated[Text, Field(min_length=1)]
    as_of: Moment | None = None
    memories: Annotated[int, Field(ge=1, le=50)] = 10
    concepts: Annotated[int, Field(ge=1, le=100)] = 16


class WalkNodeAnswer(BaseModel):
    """A memory or a concept that a walk visits, its share of the walks, and how many steps it is from the start."""

    kind: Literal["concept", "memory"]
    id: int | str
    text: str
    concept_kind: str | None
    mass: float
    seed: bool
    step: int


class WalkAnswer(BaseModel):
    """The part of the graph that a question's walk visits most; lines are two places in `nodes` and a relation."""

    query: str
    nodes: list[WalkNodeAnswer]
    lines: list[tuple[int, int, str]]


class HistoryAnswer(BaseModel):
    """Every version of a concept's edges; one with `retired_at` is believed no more."""

    concept: int
    name: str
    edges: list[Edge]


class ConflictsAnswer(BaseModel):
    """Contradictions among edges, and memories that gave way."""

    conflicts: list[Conflict]
    superseded: list[SupersededMemory]


def concept_of(
    key: int, served: Service, *, as_of: datetime | None = None, known_at: datetime | None = None, limit: int = 1
) -> ConceptDetail:
    """Give a concept as the request may see it; one that its scopes do not talk about is not there."""
    try:
        return served.kb.graph.concept(key, as_of=as_of, known_at=known_at, scope=served.scope(), limit=limit)
    except HopgateError as error:
        raise RefusedError(404, str(error)) from None


@router.get("/concepts", response_model=ConceptsAnswer)
def list_concepts(
    served: Served,
    search: Annotated[Text | None, Query(description="Only with a name that holds this.", max_length=200)] = None,
    kind: Annotated[Text | None, Query(description="Only of this kind.", max_length=200)] = None,
    scope: ScopeQuery = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> ConceptsAnswer:
    """List concepts, those first that most memories talk about."""
    served.require_rows(limit)
    found = served.kb.graph.concepts(
        kind=kind,
        search=search,
        as_of=as_of,
        known_at=known_at,
        scope=served.scope(scope),
        limit=limit,
        offset=offset,
    )
    return ConceptsAnswer(concepts=[ConceptAnswer(**asdict(concept)) for concept in found])


@router.get("/concepts/{id}", response_model=ConceptDetailAnswer)
def get_concept(
    id: ConceptId, served: Served, as_of: AsOf = None, known_at: KnownAt = None, limit: Limit = 20
) -> ConceptDetailAnswer:
    """Look at one concept: its names, its memories, its edges."""
    served.require_rows(limit)
    detail = concept_of(id, served, as_of=as_of, known_at=known_at, limit=limit)
    known = (served.kb.get(key) for key in detail.memories)
    return ConceptDetailAnswer(
        **asdict(detail.concept),
        memories=[shown(memory, served) for memory in known if memory],
        edges=list(detail.edges),
    )


@router.get("/edges", response_model=EdgesAnswer)
def list_edges(
    served: Served,
    concept: Annotated[Text | None, Query(description="A concept's id, or one of its names.", max_length=1000)] = None,
    relation: Annotated[Text | None, Query(description="Only of this relation.", max_length=1000)] = None,
    scope: ScopeQuery = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Limit = 50,
) -> EdgesAnswer:
    """List edges, the heaviest first: those true as of a time, as known at a time."""
    served.require_rows(limit)
    found = served.kb.graph.edges(
        _named(concept),
        relation=relation,
        as_of=as_of,
        known_at=known_at,
        scope=served.scope(scope),
        limit=limit,
    )
    return EdgesAnswer(edges=found)


def _named(concept: str | None) -> str | int | None:
    """A concept's id where it is a number, else its name.

    Examples
    --------
    >>> _named("17"), _named("atlas"), _named("٣")
    (17, 'atlas', '٣')
    """
    # As many digits as a bigint always holds.
    return int(concept) if concept is not None and re.fullmatch("[0-9]{1,18}", concept) else concept


@router.get("/clusters", response_model=ClustersAnswer)
def list_clusters(
    served: Served,
    resolution: Resolution = 1.0,
    level: Annotated[int, Query(description="0 is the coarsest.", ge=0, le=100)] = 0,
    scope: ScopeQuery = None,
    members: Annotated[int, Query(description="So many of each one's concepts.", ge=0, le=10_000)] = 10,
) -> ClustersAnswer:
    """List the clusters of one level, the largest first."""
    served.require_rows(members, "members")
    found = served.kb.graph.clusters(resolution=resolution, level=level, scope=served.scope(scope))
    return ClustersAnswer.model_validate(found.to_dict(members))


@router.get("/clusters/{id}", response_model=ClusterAnswer)
def get_cluster(
    id: Annotated[int, Path(description="The cluster's id.", ge=0, le=2**63 - 1)],
    served: Served,
    resolution: Resolution = 1.0,
    scope: ScopeQuery = None,
    limit: Limit = 100,
) -> ClusterAnswer:
    """Look at one cluster of any level, with so many of its concepts, the most central first."""
    served.require_rows(limit)
    scopes = served.scope(scope)
    found = served.kb.graph.clusters(resolution=resolution, scope=scopes)
    for level in range(found.levels):
        if level:
            found = served.kb.graph.clusters(resolution=resolution, level=level, scope=scopes)
        try:
            return ClusterAnswer.model_validate(found[id].to_dict(limit))
        except HopgateError:
            continue
    raise RefusedError(404, f"there is no cluster {id} here: /clusters lists them")


@explorer.get("/graph/overview", response_model=GraphOverviewAnswer)
def overview(served: Served) -> GraphOverviewAnswer:
    """Say how large the graph is."""
    scopes, graph = served.scope(), served.kb.graph
    if scopes is not None:
        concepts, edges = graph.concepts(scope=scopes, limit=MOST_COUNTED), graph.edges(scope=scopes)
        return GraphOverviewAnswer(concepts=len(concepts), edges=len(edges))
    counts = graph.counts()
    return GraphOverviewAnswer(concepts=counts["concepts"], edges=counts["edges"])


@explorer.get("/graph/clusters", response_model=DrawnClustersAnswer)
def drawn_clusters(served: Served) -> DrawnClustersAnswer:
    """Give the clusters of the graph, and what joins them; they are found when they are first asked for."""
    scopes = served.scope()
    found = served.kb.graph.clusters(scope=scopes)
    several = [one for one in found if len(one) > 1]
    place, weights = found.assignment, defaultdict[tuple[int, int], float](float)
    kept = {one.id for one in several}
    for source, target, weight in served.kb.graph.joined_pairs(scope=scopes):
        one, other = sorted((place.get(source, 0), place.get(target, 0)))
        if one != other and one in kept and other in kept:
            weights[one, other] += weight
    return DrawnClustersAnswer(
        clusters=[
            DrawnClusterAnswer(
                id=one.id,
                name=one.label,
                size=len(one),
                memories=one.memories,
                concepts=[concept.id for concept in one.members],
            )
            for one in several
        ],
        links=[ClusterLinkAnswer(source=one, target=other, weight=sum_) for (one, other), sum_ in weights.items()],
        alone=len(found) - len(several),
        modularity=found.modularity,
    )


@explorer.get("/graph/view", response_model=GraphViewAnswer)
def view(
    served: Served,
    concept: Annotated[int | None, Query(description="Around this concept.", ge=1 - 2**63, le=2**63 - 1)] = None,
    cluster: Annotated[int | None, Query(description="Of this cluster.", ge=0, le=2**31 - 1)] = None,
    depth: Annotated[int, Query(description="So many edges far.", ge=1, le=4)] = 1,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Annotated[int, Query(description="At most so many concepts.", ge=1, le=MOST)] = 100,
) -> JSONResponse:
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
    return JSONResponse(found.to_dict())


@explorer.post("/graph/walk", response_model=WalkAnswer)
def walk(asked: WalkRequest, served: Served) -> WalkAnswer:
    """Walk from a question as recall does, and give what that visits most, step by step."""
    scopes, graph = served.scope(), served.kb.graph
    if len(asked.query) > served.settings.max_query:
        raise RefusedError(422, f"a query has at most {served.settings.max_query:,} characters here: shorten it")
    found = graph.walk(asked.query, memories=asked.memories, concepts=asked.concepts, as_of=asked.as_of, scope=scopes)
    steps, places = found.steps(), {name: at for at, name in enumerate(found.nodes)}
    ids = [node.concept_id for node in found.nodes.values() if node.concept_id is not None]
    drawn = graph.neighbourhood(among=ids, scope=scopes, limit=max(1, len(ids)))
    relations = _relations(found, drawn)
    kinds = {concept.id: concept.kind for concept in drawn.concepts}
    return WalkAnswer(
        query=asked.query,
        nodes=[
            WalkNodeAnswer(
                kind="memory" if node.concept_id is None else "concept",
                id=name if node.concept_id is None else node.concept_id,
                text=_beginning(served, name) if node.concept_id is None else name,
                concept_kind=None if node.concept_id is None else kinds.get(node.concept_id),
                mass=node.mass,
                seed=node.is_seed,
                step=steps[name],
            )
            for name, node in found.nodes.items()
        ],
        lines=[(places[one], places[other], relations[frozenset((one, other))]) for one, other in found.lines],
    )


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


@explorer.get("/timeline/span", response_model=TimeSpan)
def time_span(served: Served) -> TimeSpan:
    """Say how far valid time and known time reach."""
    return served.kb.graph.span(scope=served.scope())


@explorer.get("/timeline/concepts/{id}", response_model=HistoryAnswer)
def concept_history(id: ConceptId, served: Served, limit: Limit = 200) -> HistoryAnswer:
    """Give every version of a concept's edges."""
    name = concept_of(id, served).concept.name
    found = served.kb.graph.history(name, scope=served.scope(), limit=served.require_rows(limit))
    return HistoryAnswer(concept=id, name=name, edges=found)


@explorer.get("/timeline/changes", response_model=EdgeChanges)
def what_changed(
    served: Served,
    since: Annotated[Moment, Query(description="After this time.")],
    until: Annotated[Moment, Query(description="Up to this time.")],
    axis: Annotated[Literal["valid", "known"], Query(description="When it was true, or when it was known.")] = "valid",
    limit: Limit = 100,
) -> EdgeChanges:
    """Give the edges that began and those that ended between two moments."""
    return served.kb.graph.changes(since, until, axis=axis, scope=served.scope(), limit=served.require_rows(limit))


@explorer.get("/timeline/conflicts", response_model=ConflictsAnswer)
def conflicts(served: Served, limit: Limit = 50) -> ConflictsAnswer:
    """Give the edges that contradict each other, with their evidence, and the memories that gave way."""
    served.require_rows(limit)
    graph, scopes = served.kb.graph, served.scope()
    return ConflictsAnswer(
        conflicts=graph.conflicts(scope=scopes, limit=limit), superseded=graph.superseded(scope=scopes, limit=limit)
    )
