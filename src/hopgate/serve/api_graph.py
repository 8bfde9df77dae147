"""Concepts, edges and clusters; for the explorer the graph as drawn, and the two times."""

import re
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, TypeAdapter
from starlette.responses import Response

from hopgate.graph.inspect import Conflict, EdgeChanges, Neighbourhood
from hopgate.serve.api_memories import MemoryAnswer, shown
from hopgate.serve.bounds import AsOf, KnownAt, Moment, Offset, Rows, Scopes, Served, Text
from hopgate.serve.middleware import PREFIX
from hopgate.store.graph.concept_rows import Concept
from hopgate.store.graph.edge_rows import Edge, TimeSpan
from hopgate.store.superseded import SupersededMemory

router = APIRouter(prefix=PREFIX, tags=["graph"])
# What only the explorer's pages ask for.
explorer = APIRouter(prefix=PREFIX, tags=["explorer"])

# As far as a bigint; a scope's own concepts have negative ids.
ConceptId = Annotated[int, Path(description="The concept's id.", ge=1 - 2**63, le=2**63 - 1)]
Resolution = Annotated[float, Query(description="Above 1 more and smaller clusters.", ge=0.01, le=100)]
# What is asked of the browser: benchmarks/explorer.py measures it.
MOST = 5000
_PICTURE = TypeAdapter(Neighbourhood)


async def narrowed(scope: Scopes, limit: Rows, as_of: AsOf = None, known_at: KnownAt = None) -> dict[str, Any]:
    """Give what narrows a look at the graph as `kb.graph` takes it."""
    return {"scope": scope, "as_of": as_of, "known_at": known_at, "limit": limit}


Narrowed = Annotated[dict[str, Any], Depends(narrowed)]


class ConceptAnswer(BaseModel):
    """A concept with the memories that talk about it, the newest first, and its edges."""

    concept: Concept
    memories: list[MemoryAnswer]
    edges: list[Edge]


@router.get("/concepts")
def list_concepts(
    served: Served,
    narrowing: Narrowed,
    search: Annotated[Text | None, Query(description="Only with a name that holds this.", max_length=200)] = None,
    kind: Annotated[Text | None, Query(description="Only of this kind.", max_length=200)] = None,
    offset: Offset = 0,
) -> list[Concept]:
    """List concepts, those first that most memories talk about."""
    return served.kb.graph.concepts(kind=kind, search=search, offset=offset, **narrowing)


@router.get("/concepts/{id}")
def get_concept(id: ConceptId, served: Served, narrowing: Narrowed) -> ConceptAnswer:
    """Look at one concept: its names, its memories, its edges."""
    detail = served.kb.graph.concept(id, **narrowing)
    memories = [shown(memory, served) for memory in map(served.kb.get, detail.memories) if memory]
    return ConceptAnswer(concept=detail.concept, memories=memories, edges=list(detail.edges))


@router.get("/edges")
def list_edges(
    served: Served,
    narrowing: Narrowed,
    concept: Annotated[Text | None, Query(description="A concept's id, or one of its names.", max_length=1000)] = None,
    relation: Annotated[Text | None, Query(description="Only of this relation.", max_length=1000)] = None,
) -> list[Edge]:
    """List edges, the heaviest first: those true as of a time, as known at a time."""
    # A number of so many digits as a bigint always holds is an id.
    of = int(concept) if concept and re.fullmatch("[0-9]{1,18}", concept) else concept
    return served.kb.graph.edges(of, relation=relation, **narrowing)


@router.get("/clusters")
def list_clusters(
    served: Served,
    scope: Scopes,
    resolution: Resolution = 1.0,
    members: Annotated[int, Query(description="So many of each one's concepts.", ge=0, le=10_000)] = 10,
) -> dict[str, Any]:
    """List the clusters, the largest first: as `hopgate concepts clusters --json`."""
    served.require_rows(members, "members")
    return served.kb.graph.clusters(resolution=resolution, scope=scope).to_dict(members)


@router.get("/clusters/{id}")
def get_cluster(
    id: Annotated[int, Path(description="The cluster's id.", ge=0, le=2**63 - 1)],
    served: Served,
    scope: Scopes,
    limit: Rows,
    resolution: Resolution = 1.0,
) -> dict[str, Any]:
    """Look at one cluster, with so many of its concepts, the most central first."""
    return served.kb.graph.clusters(resolution=resolution, scope=scope)[id].to_dict(limit)


@explorer.get("/graph/clusters")
def clusters_of_concepts(served: Served, scope: Scopes) -> list[dict[str, Any]]:
    """Give the clusters of more than one concept, the largest first, with the ids of their concepts."""
    return [
        {"id": cluster.id, "name": cluster.label, "concepts": [concept.id for concept in cluster.members]}
        for cluster in served.kb.graph.clusters(scope=scope)
        if len(cluster) > 1
    ]


@explorer.get("/graph/view", response_model=Neighbourhood)
def view(
    served: Served,
    scope: Scopes,
    concept: Annotated[int | None, Query(description="Around this concept.", ge=1 - 2**63, le=2**63 - 1)] = None,
    cluster: Annotated[int | None, Query(description="Of this cluster.", ge=0, le=2**31 - 1)] = None,
    depth: Annotated[int, Query(description="So many edges far.", ge=1, le=4)] = 1,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Annotated[int, Query(description="At most so many concepts.", ge=1, le=MOST)] = 100,
) -> Response:
    """Give a part of the graph: around a concept, of a cluster, or the largest concepts of all."""
    graph = served.kb.graph
    among = None if cluster is None else [member.id for member in graph.clusters(scope=scope)[cluster].members]
    picture = graph.neighbourhood(
        concept, among=among, depth=depth, as_of=as_of, known_at=known_at, scope=scope, limit=limit
    )
    # As it is: to check thousands of values that were made here takes longer than to read them.
    return Response(_PICTURE.dump_json(picture), media_type="application/json")


@explorer.get("/timeline/span")
def time_span(served: Served, scope: Scopes) -> TimeSpan:
    """Say how far valid time and known time reach."""
    return served.kb.graph.span(scope=scope)


@explorer.get("/timeline/concepts/{id}")
def concept_history(id: ConceptId, served: Served, scope: Scopes, limit: Rows) -> list[Edge]:
    """Give every version of a concept's edges, in each scope that has it; `retired_at`: it is held true no more."""
    name = served.kb.graph.concept(id, scope=scope, limit=1).concept.name
    return served.kb.graph.history(name, scope=scope, limit=limit)


@explorer.get("/timeline/changes")
def what_changed(
    served: Served,
    scope: Scopes,
    limit: Rows,
    since: Annotated[Moment, Query(description="After this time.")],
    until: Annotated[Moment, Query(description="Up to this time.")],
    axis: Annotated[Literal["valid", "known"], Query(description="When it was true, or when it was known.")] = "valid",
) -> EdgeChanges:
    """Give the edges that began and those that ended between two moments."""
    return served.kb.graph.changes(since, until, axis=axis, scope=scope, limit=limit)


@explorer.get("/timeline/conflicts")
def conflicts(served: Served, scope: Scopes, limit: Rows) -> list[Conflict]:
    """Give the edges that contradict each other, with their evidence."""
    return served.kb.graph.conflicts(scope=scope, limit=limit)


@explorer.get("/timeline/superseded")
def superseded(served: Served, scope: Scopes, limit: Rows) -> list[SupersededMemory]:
    """Give the memories that gave way."""
    return served.kb.graph.superseded(scope=scope, limit=limit)
