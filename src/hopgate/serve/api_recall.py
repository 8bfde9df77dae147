"""`POST /recall` and `POST /explain`: a query in, hits out; why a memory is one of them, or is not."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Annotated, Any, Literal, cast

from fastapi import APIRouter
from pydantic import BaseModel, Field

from hopgate.options import request_model
from hopgate.recall.filters import MAX_QUERY_CHARACTERS
from hopgate.recall.fuse import SortBy
from hopgate.recall.hit import Hit
from hopgate.recall.settings import MAX_DEPTH, OPTIONS, RecallOptions
from hopgate.recall.why_not import ExplainOptions, LegSight
from hopgate.serve.bounds import Served, Service
from hopgate.serve.middleware import PREFIX
from hopgate.serve.problems import RefusedError
from hopgate.serve.values import Key, Moment, Strict

router = APIRouter(prefix=PREFIX, tags=["recall"])

LegName = Literal["lexical", "dense", "graph"]
Weight = Annotated[float, Field(ge=0, le=5)]
LEGS = ("lexical", "dense", "graph")


class WeightsRequest(Strict):
    """The weight of each leg in this query; 0 skips it, and what is left out stays as it is set."""

    lexical: Weight | None = None
    dense: Weight | None = None
    graph: Weight | None = None


class QueryRequest(Strict):
    """What to recall, which memories may be found, and what is set otherwise for this query."""

    query: Annotated[str, Field(min_length=1, max_length=MAX_QUERY_CHARACTERS)]
    k: Annotated[int, Field(ge=1, le=MAX_DEPTH)] | None = None
    scope: Key | Annotated[list[Key], Field(max_length=100)] | None = None
    exclude: Annotated[list[Key], Field(max_length=1000, default_factory=list)]
    as_of: Moment | None = None
    known_at: Moment | None = None
    include_superseded: bool = False
    cluster: Annotated[int, Field(ge=0, le=2**63 - 1)] | None = None
    legs: Annotated[list[LegName], Field(min_length=1, max_length=3)] | None = None
    weights: WeightsRequest | None = None
    sort_by: SortBy | None = None
    depth: Annotated[int, Field(ge=1, le=MAX_DEPTH)] | None = None
    min_score: float | None = None
    rerank: bool | None = None


class RecallRequest(QueryRequest):
    """A recall."""

    explain: bool = True


class LegAnswer(BaseModel):
    """One leg's part in a hit: its rank and score there, what that added, and its share of the hit's score."""

    rank: int
    score: float
    contribution: float
    share: float


class PassageAnswer(BaseModel):
    """The part of a long memory that speaks for it."""

    start: int
    end: int
    text: str


class PathPartAnswer(BaseModel):
    """One part of the graph's path to a memory: a node with its id, or the step to the next."""

    kind: Literal["seed", "concept", "relation", "neighbour", "memory"]
    text: str
    id: int | str | None = None


class HitAnswer(BaseModel):
    """A recalled memory. Its texts are null where it is sensitive and the server does not show that."""

    rank: int
    id: str
    title: str | None
    content: str | None
    passage: PassageAnswer | None
    score: float
    scope: str | None
    created_at: datetime | None
    importance: float
    is_sensitive: bool
    legs: dict[LegName, LegAnswer | None]
    unseen: dict[str, float]
    bonus: float
    prior: float
    lifted: bool
    in_graph: bool
    rerank_score: float | None
    walk_score: float | None
    paths: list[list[PathPartAnswer]]
    mixture: str
    as_of: str


class RecallAnswer(BaseModel):
    """The hits, best first; the settings in force, and where they come from."""

    hits: list[HitAnswer]
    settings: str
    origin: str
    took_ms: float


class ExplainRequest(QueryRequest):
    """A query as it was asked, and the memory that is looked for among its hits."""

    id: Key


class ExplainAnswer(BaseModel):
    """Where a memory is among a query's hits, or why it is not there."""

    id: str
    present: bool
    rank: int | None
    legs: dict[str, LegSight]
    removed_by: list[str]
    sentence: str


SettingsRequest = request_model("SettingsRequest", OPTIONS.values(), walk=dict[str, Any])


@router.get("/settings")
def get_settings(served: Served) -> dict[str, Any]:
    """Give every setting of recall, where each comes from, and the gate that the graph has left behind if there is one.

    As `hopgate settings --json`.
    """
    settings = served.kb.store_settings
    return {"settings": settings.rows(), "graph_changed_since": settings.stale_gate()}


@router.patch("/settings")
def change_settings(asked: SettingsRequest, served: Served) -> dict[str, Any]:  # type: ignore[valid-type]
    """Change settings of this store, from the next request on; null forgets what the store says of one."""
    served.require_whole_store("settings are")
    served.require_writing()
    changes: dict[str, Any] = asked.model_dump(exclude_unset=True)  # type: ignore[attr-defined]
    served.kb.store_settings.set({name: value for name, value in changes.items() if value is not None})
    if forgotten := [name for name, value in changes.items() if value is None]:
        served.kb.store_settings.unset(forgotten)
    return get_settings(served)


@router.post("/recall", response_model=RecallAnswer)
def recall(asked: RecallRequest, served: Served) -> RecallAnswer:
    """Recall the memories that answer a query, best first."""
    changes = changes_of(asked, served)
    resolved = served.kb.store_settings.resolve()
    begun = time.perf_counter()
    hits = served.kb.recall(
        asked.query,
        legs=asked.legs,
        explain=asked.explain,
        **filters_of(asked, served),
        **cast("RecallOptions", changes),
    )
    took = time.perf_counter() - begun
    settings = resolved.settings.replaced(changes)
    return RecallAnswer(
        hits=[_hit(hit, served) for hit in hits],
        settings=repr(settings if asked.legs is None else settings.only(asked.legs)),
        origin=origin({**resolved.sources, **dict.fromkeys(changes, "this request")}),
        took_ms=round(took * 1000, 3),
    )


def filters_of(asked: QueryRequest, served: Service) -> dict[str, Any]:
    """What decides which memories a query may find, as `KnowledgeBase.recall` takes it."""
    return {
        "scope": served.scope(asked.scope),
        "exclude": asked.exclude,
        "as_of": asked.as_of,
        "known_at": asked.known_at,
        "include_superseded": asked.include_superseded,
        "cluster": asked.cluster,
    }


def changes_of(asked: QueryRequest, served: Service) -> dict[str, Any]:
    """The settings that a query changes, as `KnowledgeBase.recall` takes them."""
    if len(asked.query) > served.settings.max_query:
        raise RefusedError(422, f"a query has at most {served.settings.max_query:,} characters here: shorten it")
    if asked.k is not None:
        served.require_rows(asked.k, "k")
    given: dict[str, Any] = {name: getattr(asked, name) for name in ("k", "sort_by", "depth", "min_score", "rerank")}
    if asked.weights is not None:
        given |= asked.weights.model_dump()
    return {name: value for name, value in given.items() if value is not None}


def origin(sources: dict[str, str]) -> str:
    """Say in a line where settings come from: who set what is not a default.

    Examples
    --------
    >>> origin({"k": "default", "graph": "gate 1f3c", "fuser": "gate 1f3c", "depth": "this request"})
    'gate 1f3c: graph, fuser; this request: depth'
    >>> origin({"k": "default"})
    'defaults'
    """
    by_source: dict[str, list[str]] = {}
    for name, source in sources.items():
        if source != "default":
            by_source.setdefault(source, []).append(name)
    return "; ".join(f"{source}: {', '.join(names)}" for source, names in by_source.items()) or "defaults"


def _hit(hit: Hit, served: Service) -> HitAnswer:
    memory, shown = hit.memory, served.shows(hit.memory)
    whole = sum(part.contribution for part in hit.legs.values()) + sum(hit.unseen.values()) + hit.bonus
    legs = {
        name: LegAnswer(rank=part.rank, score=part.score, contribution=part.contribution,
                        share=part.contribution / whole if whole else 0.0)
        for name, part in hit.legs.items()
    }  # fmt: skip
    passage = hit.passage if shown else None
    path = [
        PathPartAnswer(kind="seed" if at == 0 else part.kind, text=part.text, id=part.id)
        for at, part in enumerate(hit.path_parts)
    ]
    return HitAnswer(
        rank=hit.rank,
        id=hit.external_id,
        title=memory.title if shown else None,
        content=memory.content if shown else None,
        passage=PassageAnswer(start=passage.start, end=passage.end, text=passage.text) if passage else None,
        score=hit.score,
        scope=memory.scope,
        created_at=memory.created_at,
        importance=memory.importance,
        is_sensitive=memory.is_sensitive or not shown,
        legs=cast("dict[Any, LegAnswer | None]", {name: legs.get(name) for name in LEGS}),
        unseen=dict(hit.unseen),
        bonus=hit.bonus,
        prior=hit.prior,
        lifted=hit.lifted,
        in_graph=hit.in_graph,
        rerank_score=hit.rerank_score,
        walk_score=hit.walk_score,
        paths=[path] if path else [],
        mixture=hit.mixture,
        as_of=hit.as_of,
    )


@router.post("/explain", response_model=ExplainAnswer)
def explain(asked: ExplainRequest, served: Served) -> ExplainAnswer:
    """Say where a memory is among a query's hits, or why it is not there."""
    memory = served.memory(asked.id)
    options = {"legs": asked.legs, **filters_of(asked, served), **changes_of(asked, served)}
    found = served.kb.explain(asked.query, memory.external_id, **cast("ExplainOptions", options))
    return ExplainAnswer(
        id=found.external_id,
        present=found.present,
        rank=found.rank,
        legs=dict(found.legs),
        removed_by=list(found.removed_by),
        sentence=found.sentence,
    )
