"""Clusters of concepts, as they are answered."""

from __future__ import annotations

from pydantic import BaseModel


class MemberAnswer(BaseModel):
    """A concept of a cluster."""

    id: int
    name: str
    kind: str | None
    memories: int


class ClusterAnswer(BaseModel):
    """A cluster: its label, its telling words, how large it is, what it is part of, and some of its concepts."""

    id: int
    label: str
    words: list[str]
    size: int
    memories: int
    parent: int | None
    parts: list[int]
    members: list[MemberAnswer]


class ClustersAnswer(BaseModel):
    """The clusters that the graph's structure makes of its concepts, the largest first, and how well they hold."""

    resolution: float
    level: int
    levels: int
    version: int
    modularity: float
    scopes: list[str]
    clusters: list[ClusterAnswer]
