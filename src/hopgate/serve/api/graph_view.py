"""`/graph`: parts of the graph to draw, and a question's walk, for the explorer's page Graph."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query

from hopgate.errors import HopgateError
from hopgate.graph.inspect.neighbourhood import TOGETHER
from hopgate.serve.access import PREFIX
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
from hopgate.serve.service import Served, Service

if TYPE_CHECKING:
    from hopgate.graph.inspect.neighbourhood import Neighbourhood
    from hopgate.graph.inspect.query_walk import QueryWalk

router = APIRouter(prefix=f"{PREFIX}/graph", tags=["explorer"])
# A browser draws so many fluently: see docs/research/explorer.md.
MOST = 5000
# Of a memory on a walk so many characters.
SHOWN = 40


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
    ids = [node.concept_id for node in found.nodes.values() if node.concept_id is not None]
    drawn = served.kb.graph.neighbourhood(among=ids, limit=max(1, len(ids)))
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
    words = " ".join((memory.title or memory.content).split())
    return words if len(words) <= SHOWN else words[: SHOWN - 1] + "…"
