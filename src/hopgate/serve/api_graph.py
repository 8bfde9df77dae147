"""Concepts, edges and clusters; for the explorer the graph as drawn, the two times, and what is mended."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, Field, TypeAdapter
from starlette.requests import Request
from starlette.responses import Response

from hopgate.errors import HopgateError
from hopgate.graph.build.curate import Action, Curation, Proposal
from hopgate.graph.build.merge import Change, MergeProposal, RemovalPreview
from hopgate.graph.inspect import ConceptDetail, Conflict, EdgeChanges, Neighbourhood
from hopgate.serve.api_memories import MemoryAnswer, shown
from hopgate.serve.bounds import (
    AsOf,
    ConceptId,
    Key,
    KnownAt,
    Limit,
    Moment,
    Offset,
    ScopeQuery,
    Served,
    Service,
    Strict,
    Text,
)
from hopgate.serve.middleware import PREFIX, RefusedError
from hopgate.store.graph.concept_rows import Concept
from hopgate.store.graph.edge_rows import Edge, TimeSpan
from hopgate.store.journal import MARK, JournalEntry
from hopgate.store.superseded import SupersededMemory

router = APIRouter(prefix=PREFIX, tags=["graph"])
# What only the explorer's pages ask for.
explorer = APIRouter(prefix=PREFIX, tags=["explorer"])

Resolution = Annotated[float, Query(description="Above 1 more and smaller clusters.", ge=0.01, le=100)]
NameText = Annotated[Text, Field(min_length=1, max_length=1000)]
EntryId = Annotated[int, Path(description="The entry's id.", ge=1, le=2**63 - 1)]
# What is asked of the browser: benchmarks/explorer.py measures it.
MOST = 5000
_PICTURE = TypeAdapter(Neighbourhood)


def narrowed(
    served: Served, scope: ScopeQuery = None, as_of: AsOf = None, known_at: KnownAt = None, limit: Limit = 50
) -> dict[str, Any]:
    """Give what narrows a look at the graph as `kb.graph` takes it."""
    limit = served.require_rows(limit)
    return {"scope": served.allowed_scopes(scope), "as_of": as_of, "known_at": known_at, "limit": limit}


Narrowed = Annotated[dict[str, Any], Depends(narrowed)]


class ConceptAnswer(BaseModel):
    """A concept with the memories that talk about it, the newest first, and its edges."""

    concept: Concept
    memories: list[MemoryAnswer]
    edges: list[Edge]


def concept_of(key: int, served: Service, **narrowing: Any) -> ConceptDetail:
    """Give a concept as the request may see it; one that its scopes do not talk about is not there."""
    try:
        return served.kb.graph.concept(key, **{"scope": served.allowed_scopes(), "limit": 1, **narrowing})
    except HopgateError as error:
        raise RefusedError(404, str(error)) from None


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
    detail = concept_of(id, served, **narrowing)
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
    return served.kb.graph.edges(_named(concept), relation=relation, **narrowing)


def _named(concept: str | None) -> str | int | None:
    """A concept's id where it is a number, of as many digits as a bigint always holds; else its name."""
    return int(concept) if concept is not None and re.fullmatch("[0-9]{1,18}", concept) else concept


@router.get("/clusters")
def list_clusters(
    served: Served,
    resolution: Resolution = 1.0,
    scope: ScopeQuery = None,
    members: Annotated[int, Query(description="So many of each one's concepts.", ge=0, le=10_000)] = 10,
) -> dict[str, Any]:
    """List the clusters, the largest first: as `hopgate concepts clusters --json`."""
    served.require_rows(members, "members")
    return served.kb.graph.clusters(resolution=resolution, scope=served.allowed_scopes(scope)).to_dict(members)


@router.get("/clusters/{id}")
def get_cluster(
    id: Annotated[int, Path(description="The cluster's id.", ge=0, le=2**63 - 1)],
    served: Served,
    resolution: Resolution = 1.0,
    scope: ScopeQuery = None,
    limit: Limit = 100,
) -> dict[str, Any]:
    """Look at one cluster, with so many of its concepts, the most central first."""
    served.require_rows(limit)
    for cluster in served.kb.graph.clusters(resolution=resolution, scope=served.allowed_scopes(scope)):
        if cluster.id == id:
            return cluster.to_dict(limit)
    raise RefusedError(404, f"there is no cluster {id} here: /clusters lists them")


@explorer.get("/graph/clusters")
def clusters_of_concepts(served: Served) -> list[dict[str, Any]]:
    """Give the clusters of more than one concept, the largest first, with the ids of their concepts."""
    found = served.kb.graph.clusters(scope=served.allowed_scopes())
    return [
        {"id": cluster.id, "name": cluster.label, "concepts": [concept.id for concept in cluster.members]}
        for cluster in found
        if len(cluster) > 1
    ]


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
    scopes, graph = served.allowed_scopes(), served.kb.graph
    try:
        among = None if cluster is None else [one.id for one in graph.clusters(scope=scopes)[cluster].members]
        found = graph.neighbourhood(
            concept, among=among, depth=depth, as_of=as_of, known_at=known_at, scope=scopes, limit=limit
        )
    except HopgateError as error:
        raise RefusedError(404, str(error)) from None
    # As it is: to check thousands of values that were made here takes longer than to read them.
    return Response(_PICTURE.dump_json(found), media_type="application/json")


@explorer.get("/timeline/span")
def time_span(served: Served) -> TimeSpan:
    """Say how far valid time and known time reach."""
    return served.kb.graph.span(scope=served.allowed_scopes())


@explorer.get("/timeline/concepts/{id}")
def concept_history(id: ConceptId, served: Served, limit: Limit = 200) -> list[Edge]:
    """Give every version of a concept's edges; one with `retired_at` is not held true any more."""
    name = concept_of(id, served).concept.name
    return served.kb.graph.history(name, scope=served.allowed_scopes(), limit=served.require_rows(limit))


@explorer.get("/timeline/changes")
def what_changed(
    served: Served,
    since: Annotated[Moment, Query(description="After this time.")],
    until: Annotated[Moment, Query(description="Up to this time.")],
    axis: Annotated[Literal["valid", "known"], Query(description="When it was true, or when it was known.")] = "valid",
    limit: Limit = 100,
) -> EdgeChanges:
    """Give the edges that began and those that ended between two moments."""
    return served.kb.graph.changes(
        since, until, axis=axis, scope=served.allowed_scopes(), limit=served.require_rows(limit)
    )


@explorer.get("/timeline/conflicts")
def conflicts(served: Served, limit: Limit = 50) -> list[Conflict]:
    """Give the edges that contradict each other, with their evidence."""
    return served.kb.graph.conflicts(scope=served.allowed_scopes(), limit=served.require_rows(limit))


@explorer.get("/timeline/superseded")
def superseded(served: Served, limit: Limit = 50) -> list[SupersededMemory]:
    """Give the memories that gave way."""
    return served.kb.graph.superseded(scope=served.allowed_scopes(), limit=served.require_rows(limit))


class MergeRequest(Strict):
    """Two concepts to make one, each by one of its names; `kept` stays."""

    kept: NameText
    merged: NameText


class KeepApartRequest(Strict):
    """A name that was left undecided, and is not the one it resembles."""

    name: NameText


class CurationRequest(Strict):
    """A proposal to carry out, as it was given."""

    action: Literal["UPDATE", "DELETE", "NOOP"]
    memory: Key
    older: Key


class RemovalRequest(Strict):
    """Memories that may be deleted or marked as sensitive."""

    ids: Annotated[list[Key], Field(min_length=1, max_length=10)]


def whole_store(served: Served, request: Request) -> None:
    """Refuse to show or move what others say where some scopes are bound, and to change what is served for reading."""
    if request.method == "POST":
        served.require_writing()
    served.require_whole_store("merges, curation and the log are")


mend = APIRouter(prefix=f"{PREFIX}/mend", tags=["explorer"], dependencies=[Depends(whole_store)])


@mend.get("/merges")
def merge_proposals(served: Served, limit: Limit = 50) -> list[MergeProposal]:
    """List the names that may be one concept, the most alike first."""
    return served.kb.graph.merge_proposals(limit=served.require_rows(limit))


@mend.post("/merges/preview")
def preview_merge(asked: MergeRequest, served: Served) -> Change:
    """Say what a merge would change; nothing does."""
    return served.kb.graph.merge(asked.kept, asked.merged, dry_run=True)


@mend.post("/merges")
def accept_merge(asked: MergeRequest, served: Served) -> JournalEntry:
    """Make two concepts one; give the log's entry."""
    served.kb.graph.merge(asked.kept, asked.merged)
    return served.kb.upkeep.log(limit=1)[0]


@mend.post("/merges/refuse")
def refuse_merge(asked: KeepApartRequest, served: Served) -> JournalEntry:
    """Keep a name apart from the one it resembles; give the log's entry."""
    served.kb.graph.keep_apart(asked.name)
    return served.kb.upkeep.log(limit=1)[0]


@mend.get("/curation")
def curation(served: Served, limit: Limit = 20) -> Curation:
    """List memories that repeat, extend or contradict others."""
    return served.kb.graph.curation(limit=served.require_rows(limit))


@mend.post("/curation")
def accept_curation(asked: CurationRequest, served: Served) -> JournalEntry:
    """Let a memory give way to another: recall leaves it out from now on; give the log's entry."""
    for key in (asked.memory, asked.older):
        served.memory(key)
    served.kb.graph.supersede([Proposal(Action(asked.action), asked.memory, asked.older)])
    return served.kb.upkeep.log(limit=1)[0]


@explorer.post("/mend/removal/preview")
def preview_removal(asked: RemovalRequest, served: Served) -> RemovalPreview:
    """Say what would go from the graph with memories that are deleted or marked as sensitive; nothing does."""
    served.require_writing()
    known = [served.memory(key).external_id for key in dict.fromkeys(asked.ids)]
    return served.kb.graph.removal_preview(known, scope=served.allowed_scopes())


@mend.get("/log")
def manual_changes(served: Served, limit: Limit = 50) -> list[JournalEntry]:
    """Give what was changed by hand, the last entry first; a deletion cannot be undone."""
    return served.kb.upkeep.log(limit=served.require_rows(limit))


@mend.post("/log/{id}/undo")
def undo(id: EntryId, served: Served) -> JournalEntry:
    """Take an entry of the log back."""
    try:
        entry = served.kb.upkeep.entry(id)
    except HopgateError as error:
        raise RefusedError(404, str(error)) from None
    if entry.action == MARK:
        served.require_unmarking()
    return served.kb.upkeep.undo(id)
