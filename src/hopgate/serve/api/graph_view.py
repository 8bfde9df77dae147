"""`/graph`: parts of the graph to draw, and a question's walk, for the explorer's page Graph."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query
from starlette.responses import JSONResponse

from hopgate.errors import HopgateError
from hopgate.graph.inspect.view import TOGETHER
from hopgate.serve.access import PREFIX
from hopgate.serve.api.models.values import AsOf, KnownAt
from hopgate.serve.api.models.views import (
    ClusterLinkAnswer,
    DrawnClusterAnswer,
    DrawnClustersAnswer,
    GraphOverviewAnswer,
    GraphViewAnswer,
    WalkAnswer,
    WalkNodeAnswer,
    WalkRequest,
)
from hopgate.serve.problems import RefusedError
from hopgate.serve.service import Served, Service

if TYPE_CHECKING:
    from hopgate.graph.inspect.view import Neighbourhood, QueryWalk

router = APIRouter(prefix=f"{PREFIX}/graph", tags=["explorer"])
# What is asked of the browser: benchmarks/explorer.py measures it.
MOST = 5000
MOST_COUNTED = 1_000_000
# Of a memory on a walk so many characters.
SHOWN = 32


@router.get("/overview", response_model=GraphOverviewAnswer)
def overview(served: Served) -> GraphOverviewAnswer:
    """Say how large the graph is."""
    scopes, graph = served.scope(None), served.kb.graph
    if scopes is not None:
        concepts, edges = graph.concepts(scope=scopes, limit=MOST_COUNTED), graph.edges(scope=scopes)
        return GraphOverviewAnswer(concepts=len(concepts), edges=len(edges))
    counts = graph.counts()
    return GraphOverviewAnswer(concepts=counts["concepts"], edges=counts["edges"])


@router.get("/clusters", response_model=DrawnClustersAnswer)
def drawn_clusters(served: Served) -> DrawnClustersAnswer:
    """Give the clusters of the graph, and what joins them; they are found when they are first asked for."""
    scopes = served.scope(None)
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


@router.get("/view", response_model=GraphViewAnswer)
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
    scopes, graph = served.scope(None), served.kb.graph
    try:
        among = None if cluster is None else [one.id for one in graph.clusters(scope=scopes).members(cluster)]
        found = graph.neighbourhood(
            concept, among=among, depth=depth, as_of=as_of, known_at=known_at, scope=scopes, limit=limit
        )
    except HopgateError as error:
        raise RefusedError(404, str(error)) from None
    # As it is: to check thousands of values that were made here takes longer than to read them.
    return JSONResponse(found.to_dict())


@router.post("/walk", response_model=WalkAnswer)
def walk(asked: WalkRequest, served: Served) -> WalkAnswer:
    """Walk from a question as recall does, and give what that visits most, step by step."""
    scopes, graph = served.scope(None), served.kb.graph
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
