"""`POST /recall` and `POST /explain`: a query in, hits out; why a memory is one of them; and the store's settings."""

from __future__ import annotations

import time
from dataclasses import fields
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from hopgate.options import request_model
from hopgate.recall.filters import MAX_QUERY_CHARACTERS
from hopgate.recall.hit import Hit, LegPart, Passage
from hopgate.recall.settings import OPTIONS
from hopgate.recall.why_not import Explanation
from hopgate.serve.api_memories import MemoryAnswer, shown
from hopgate.serve.bounds import Served, Service
from hopgate.serve.middleware import PREFIX
from hopgate.serve.values import Key, Moment, Text

router = APIRouter(prefix=PREFIX, tags=["recall"])

SettingsRequest = request_model("SettingsRequest", OPTIONS.values(), walk=dict[str, Any])
# A request does not say which files or models of the server are read.
_ASKED = [option for option in OPTIONS.values() if option.name != "rerank_model"]
QuerySettings = request_model("QuerySettings", _ASKED, walk=dict[str, Any])


class QueryRequest(QuerySettings):  # type: ignore[misc, valid-type]
    """What to recall, which memories may be found, and the settings that are otherwise for this query."""

    query: Annotated[Text, Field(min_length=1, max_length=MAX_QUERY_CHARACTERS)]
    legs: Annotated[list[Literal["lexical", "dense", "graph"]], Field(min_length=1, max_length=3)] | None = None
    scope: Key | Annotated[list[Key], Field(max_length=100)] | None = None
    exclude: Annotated[list[Key], Field(max_length=1000, default_factory=list)]
    as_of: Moment | None = None
    known_at: Moment | None = None
    include_superseded: bool = False
    cluster: Annotated[int, Field(ge=0, le=2**63 - 1)] | None = None

    def options(self, served: Service) -> dict[str, Any]:
        """Give the filters and settings as `KnowledgeBase.recall` and `explain` take them."""
        if self.k is not None:
            served.require_rows(self.k, "k")
        given = self.model_dump(include={*OPTIONS, *QueryRequest.__annotations__} - {"query"}, exclude_none=True)
        return {**given, "scope": served.scope(self.scope)}


class RecallRequest(QueryRequest):
    """A recall."""

    explain: bool = True


class ExplainRequest(QueryRequest):
    """A query as it was asked, and the memory that is looked for among its hits."""

    id: Key


class HitAnswer(BaseModel):
    """A recalled memory, and what put it there: as `hopgate.Hit`."""

    memory: MemoryAnswer
    rank: int
    score: float
    legs: dict[str, LegPart]
    unseen: dict[str, float]
    bonus: float
    prior: float
    lifted: bool
    in_graph: bool
    rerank_score: float | None
    walk_score: float | None
    path: Annotated[list[dict[str, str | int | None]], Field(description="The graph's: parts of a kind, text and id.")]
    passage: Passage | None
    mixture: str
    as_of: str


class RecallAnswer(BaseModel):
    """The hits, best first; the settings in force, and where they come from."""

    hits: list[HitAnswer]
    settings: str
    origin: str
    took_ms: float


@router.post("/recall")
def recall(asked: RecallRequest, served: Served) -> RecallAnswer:
    """Recall the memories that answer a query, best first."""
    options = asked.options(served)
    resolved = served.kb.store_settings.resolve()
    begun = time.perf_counter()
    hits = served.kb.recall(asked.query, explain=asked.explain, **options)
    took = time.perf_counter() - begun
    changes = {name: value for name, value in options.items() if name in OPTIONS}
    settings = resolved.settings.replaced(changes)
    return RecallAnswer(
        hits=[_answer(hit, served) for hit in hits],
        settings=repr(settings if asked.legs is None else settings.only(asked.legs)),
        origin=origin({**resolved.sources, **dict.fromkeys(changes, "this request")}),
        took_ms=round(took * 1000, 3),
    )


def _answer(hit: Hit, served: Service) -> HitAnswer:
    values = {field.name: getattr(hit, field.name) for field in fields(hit)}
    values["memory"], values["path"] = shown(hit.memory, served), [part._asdict() for part in hit.path_parts]
    values["passage"] = hit.passage if served.shows(hit.memory) else None
    return HitAnswer(**values)


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


@router.post("/explain")
def explain(asked: ExplainRequest, served: Served) -> Explanation:
    """Say where a memory is among a query's hits, or why it is not there."""
    return served.kb.explain(asked.query, served.memory(asked.id).external_id, **asked.options(served))


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
