"""`/concepts`: list and search them, look at one."""

from __future__ import annotations

from dataclasses import asdict
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
    from hopgate.store.graph.concept_rows import Concept

router = APIRouter(prefix=f"{PREFIX}/concepts", tags=["graph"])
# A store whose scopes have more concepts than this has its own way of looking for one.
MOST = 1_000_000


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
    bound = served.scope(None)
    concept = _within(id, bound, served) if bound is not None else None
    try:
        detail = served.kb.graph.concept(id, as_of=as_of, known_at=known_at, limit=limit)
    except HopgateError as error:
        raise RefusedError(404, str(error)) from None
    known = (served.kb.get(key) for key in detail.memories)
    edges = detail.edges
    if bound is not None:
        edges = tuple(served.kb.graph.edges(id, as_of=as_of, known_at=known_at, scope=bound, limit=limit))
    return ConceptDetailAnswer(
        **asdict(concept or detail.concept),
        memories=[shown(memory, served) for memory in known if memory and (bound is None or memory.scope in bound)],
        edges=[edge_answer(edge) for edge in edges],
    )


def _within(key: int, scopes: list[str], served: Service) -> Concept:
    """The concept as some scopes' memories name it; one that they do not talk about is not there."""
    for concept in served.kb.graph.concepts(scope=scopes, limit=MOST):
        if concept.id == key:
            return concept
    raise RefusedError(404, f"there is no concept {key}")
