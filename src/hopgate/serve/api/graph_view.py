"""`/graph`: parts of the graph to draw, and a question's walk, for the explorer's page Graph."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query

from hopgate.errors import HopgateError
from hopgate.graph.inspect.neighbourhood import TOGETHER
from hopgate.serve.api.models.values import AsOf, KnownAt
from hopgate.serve.api.models.views import (
    DrawnConceptAnswer,
    DrawnEdgeAnswer,
    GraphOverviewAnswer,
    GraphViewAnswer,
    WalkAnswer,
    WalkNodeAnswer,
    WalkRequest,
)
from hopgate.serve.problems import RefusedError, responses
from hopgate.serve.service import Served

if TYPE_CHECKING:
    from hopgate.graph.inspect.query_walk import QueryWalk
    from hopgate.kb import KnowledgeBase

router = APIRouter(prefix="/graph", tags=["explorer"])
# A browser draws so many fluently: see docs/research/explorer.md.
MOST = 5000


@router.get("/overview", response_model=GraphOverviewAnswer)
def overview(served: Served) -> GraphOverviewAnswer:
    """Say how large the graph is, and give its communities with what joins them."""
    served.require_whole_store()
    counts = served.kb.graph.counts()
    return GraphOverviewAnswer(concepts=counts["concepts"], edges=counts["edges"], communities=[], links=[])


@router.get("/view", response_model=GraphViewAnswer, responses=responses(404))
def view(
    served: Served,
    concept: Annotated[int | None, Query(description="Around this concept.", ge=1, le=2**63 - 1)] = None,
    depth: Annotated[int, Query(description="So many edges far.", ge=1, le=4)] = 1,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Annotated[int, Query(description="At most so many concepts.", ge=1, le=MOST)] = 100,
) -> GraphViewAnswer:
    """Give a part of the graph: around a concept, or the largest concepts of all."""
    served.require_whole_store()
    try:
        found = served.kb.graph.neighbourhood(concept, depth=depth, as_of=as_of, known_at=known_at, limit=limit)
    except HopgateError as error:
        raise RefusedError(404, str(error)) from None
    # The values were made here and need no check: that would take as long as reading them.
    return GraphViewAnswer.model_construct(
        nodes=[DrawnConceptAnswer.model_construct(**asdict(one), community=None) for one in found.concepts],
        edges=[DrawnEdgeAnswer.model_construct(**asdict(one)) for one in found.edges],
        left_out=found.left_out,
    )


@router.post("/walk", response_model=WalkAnswer)
def walk(asked: WalkRequest, served: Served) -> WalkAnswer:
    """Walk from a question as recall does, and give what that visits most, step by step."""
    served.require_whole_store()
    if len(asked.query) > served.settings.max_query:
        raise RefusedError(422, f"a query has at most {served.settings.max_query:,} characters here: shorten it")
    found = served.kb.graph.walk(asked.query, memories=asked.memories, concepts=asked.concepts, as_of=asked.as_of)
    steps, places = found.steps(), {name: at for at, name in enumerate(found.nodes)}
    relations = _relations(served.kb, found)
    return WalkAnswer(
        query=asked.query,
        nodes=[
            WalkNodeAnswer(
                kind="memory" if node.is_memory else "concept",
                id=name if node.concept_id is None else node.concept_id,
                text=name,
                mass=node.mass,
                seed=node.is_seed,
                step=steps[name],
            )
            for name, node in found.nodes.items()
        ],
        lines=[(places[one], places[other], relations.get(frozenset((one, other)), "")) for one, other in found.lines],
    )


def _relations(kb: KnowledgeBase, found: QueryWalk) -> dict[frozenset[str], str]:
    """What the lines of a walk are called: an edge's relation, or that a memory mentions a concept."""
    ids = {node.concept_id: name for name, node in found.nodes.items() if node.concept_id is not None}
    names = {
        frozenset((ids[edge.source], ids[edge.target])): edge.relation
        for edge in kb.graph.neighbourhood(among=list(ids), limit=max(1, len(ids))).edges
        if edge.relation != TOGETHER
    }
    for pair in found.lines:
        kinds = {found.nodes[name].is_memory for name in pair}
        names.setdefault(frozenset(pair), "mentions" if kinds == {True, False} else "next to")
    return names
