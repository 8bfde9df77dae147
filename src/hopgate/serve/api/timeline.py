"""`/timeline`: the graph along its two times, for the explorer's page Time."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, Query

from hopgate.serve.access import PREFIX
from hopgate.serve.api.concepts import concept_of
from hopgate.serve.api.edges import edge_answer
from hopgate.serve.api.models.values import ConceptId, Limit, Moment
from hopgate.serve.api.models.views import (
    ChangesAnswer,
    ConflictAnswer,
    ConflictsAnswer,
    HistoryAnswer,
    SpanAnswer,
    SupersededAnswer,
)
from hopgate.serve.service import Served

router = APIRouter(prefix=f"{PREFIX}/timeline", tags=["explorer"])


@router.get("/span", response_model=SpanAnswer)
def time_span(served: Served) -> SpanAnswer:
    """Say how far valid time and known time reach."""
    return SpanAnswer(**asdict(served.kb.graph.span(scope=served.scope(None))))


@router.get("/concepts/{id}", response_model=HistoryAnswer)
def concept_history(id: ConceptId, served: Served, limit: Limit = 200) -> HistoryAnswer:
    """Give every version of a concept's edges."""
    name = concept_of(id, served).concept.name
    found = served.kb.graph.history(name, scope=served.scope(None), limit=served.require_rows(limit))
    return HistoryAnswer(concept=id, name=name, edges=[edge_answer(edge) for edge in found])


@router.get("/changes", response_model=ChangesAnswer)
def what_changed(
    served: Served,
    since: Annotated[Moment, Query(description="After this time.")],
    until: Annotated[Moment, Query(description="Up to this time.")],
    axis: Annotated[Literal["valid", "known"], Query(description="When it was true, or when it was known.")] = "valid",
    limit: Limit = 100,
) -> ChangesAnswer:
    """Give the edges that began and those that ended between two moments."""
    found = served.kb.graph.changes(since, until, axis=axis, scope=served.scope(None), limit=served.require_rows(limit))
    return ChangesAnswer(
        began=[edge_answer(edge) for edge in found.began], ended=[edge_answer(edge) for edge in found.ended]
    )


@router.get("/conflicts", response_model=ConflictsAnswer)
def conflicts(served: Served, limit: Limit = 50) -> ConflictsAnswer:
    """Give the edges that contradict each other, with their evidence, and the memories that gave way."""
    served.require_rows(limit)
    graph, scopes = served.kb.graph, served.scope(None)
    return ConflictsAnswer(
        conflicts=[
            ConflictAnswer(older=edge_answer(one.older), newer=edge_answer(one.newer), settled=one.settled)
            for one in graph.conflicts(scope=scopes, limit=limit)
        ],
        superseded=[SupersededAnswer(**asdict(one)) for one in graph.superseded(scope=scopes, limit=limit)],
    )
