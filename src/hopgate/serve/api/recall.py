"""`POST /recall`: a query in, hits out."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, cast

from fastapi import APIRouter

from hopgate.recall.hit import Hit
from hopgate.serve.access import PREFIX
from hopgate.serve.api.models.recall import (
    HitAnswer,
    LegAnswer,
    PassageAnswer,
    PathPartAnswer,
    QueryRequest,
    RecallAnswer,
    RecallRequest,
)
from hopgate.serve.problems import RefusedError
from hopgate.serve.service import Served, Service

if TYPE_CHECKING:
    from hopgate.recall.settings import RecallOptions

LEGS = ("lexical", "dense", "graph")
router = APIRouter(prefix=PREFIX, tags=["recall"])


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
