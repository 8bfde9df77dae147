"""Requests and answers of the explorer's pictures: parts of the graph, walks, and the two times."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from hopgate.serve.api.models.graph import EdgeAnswer
from hopgate.serve.api.models.values import Moment, Strict, Text


class DrawnConceptAnswer(BaseModel):
    """A concept to draw: how many memories talk about it, and when one last did."""

    id: int
    name: str
    kind: str | None
    memories: int
    last: datetime | None


class DrawnEdgeAnswer(BaseModel):
    """A line between two concepts, by their ids."""

    source: int
    target: int
    relation: str
    weight: float


class GraphViewAnswer(BaseModel):
    """A part of the graph, and how many more concepts, and lighter edges, were left out."""

    nodes: list[DrawnConceptAnswer]
    edges: list[DrawnEdgeAnswer]
    left_out: int
    edges_left_out: int


class GraphOverviewAnswer(BaseModel):
    """How large the graph is."""

    concepts: int
    edges: int


class DrawnClusterAnswer(BaseModel):
    """A cluster: its most telling words and members as a name, how large it is, and the ids of its concepts."""

    id: int
    name: str
    size: int
    memories: int
    concepts: list[int]


class ClusterLinkAnswer(BaseModel):
    """What joins two clusters: the weight of the edges between their concepts."""

    source: int
    target: int
    weight: float


class DrawnClustersAnswer(BaseModel):
    """The clusters of more than one concept, the largest first, and what joins them."""

    clusters: list[DrawnClusterAnswer]
    links: list[ClusterLinkAnswer]
    alone: int
    modularity: float


class WalkRequest(Strict):
    """A question whose walk is wanted."""

    query: Annotated[Text, Field(min_length=1)]
    as_of: Moment | None = None
    memories: Annotated[int, Field(ge=1, le=50)] = 10
    concepts: Annotated[int, Field(ge=1, le=100)] = 16


class WalkNodeAnswer(BaseModel):
    """A memory or a concept that a walk visits, its share of the walks, and how many steps it is from the start."""

    kind: Literal["concept", "memory"]
    id: int | str
    text: str
    concept_kind: str | None
    mass: float
    seed: bool
    step: int


class WalkAnswer(BaseModel):
    """The part of the graph that a question's walk visits most; lines are two places in `nodes` and a relation."""

    query: str
    nodes: list[WalkNodeAnswer]
    lines: list[tuple[int, int, str]]


class SpanAnswer(BaseModel):
    """How far valid time and known time reach; null where no edge has a date."""

    valid_from: datetime | None
    valid_to: datetime | None
    known_from: datetime | None
    known_to: datetime | None


class HistoryAnswer(BaseModel):
    """Every version of a concept's edges; one with `retired_at` is believed no more."""

    concept: int
    name: str
    edges: list[EdgeAnswer]


class ChangesAnswer(BaseModel):
    """What began and what ended between two moments."""

    began: list[EdgeAnswer]
    ended: list[EdgeAnswer]


class ConflictAnswer(BaseModel):
    """Two edges that cannot both hold; `settled` where the newer one ended the older one."""

    older: EdgeAnswer
    newer: EdgeAnswer
    settled: bool


class SupersededAnswer(BaseModel):
    """A memory that gave way to another."""

    memory: str
    by: str | None
    since: datetime
    reason: str


class ConflictsAnswer(BaseModel):
    """Contradictions among edges, and memories that gave way."""

    conflicts: list[ConflictAnswer]
    superseded: list[SupersededAnswer]
