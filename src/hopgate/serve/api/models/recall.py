"""A recall, as it is asked for and answered."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from hopgate.recall.filters import MAX_QUERY_CHARACTERS
from hopgate.recall.fuse import SortBy
from hopgate.recall.settings import MAX_DEPTH
from hopgate.serve.api.models.values import Key, Moment, Strict

LegName = Literal["lexical", "dense", "graph"]
Weight = Annotated[float, Field(ge=0, le=5)]


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
