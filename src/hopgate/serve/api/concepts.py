"""`/concepts`: list and search them, look at one."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query

from hopgate.errors import HopgateError
from hopgate.serve.access import PREFIX
from hopgate.serve.api.edges import edge_answer
from hopgate.serve.api.memories import shown
from hopgate.serve.api.models.graph import ConceptAnswer, ConceptDetailAnswer, ConceptsAnswer
from hopgate.serve.api.models.values import AsOf, ConceptId, KnownAt, Limit, Offset, ScopeQuery, Text
from hopgate.serve.problems import RefusedError
from hopgate.serve.service import Served, Service

if TYPE_CHECKING:
    from hopgate.graph.inspect.edges import ConceptDetail

router = APIRouter(prefix=f"{PREFIX}/concepts", tags=["graph"])


def concept_of(
    key: int, served: Service, *, as_of: datetime | None = None, known_at: datetime | None = None, limit: int = 1
) -> ConceptDetail:
    """Give a concept as the request may see it; one that its scopes do not talk about is not there."""
    try:
        return served.kb.graph.concept(key, as_of=as_of, known_at=known_at, scope=served.scope(None), limit=limit)
    except HopgateError as error:
        raise RefusedError(404, str(error)) from None


@router.get("", response_model=ConceptsAnswer)
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


@router.get("/{id}", response_model=ConceptDetailAnswer)
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
        edges=[edge_answer(edge) for edge in detail.edges],
    )
