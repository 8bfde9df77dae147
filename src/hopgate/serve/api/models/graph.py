"""Concepts and edges, as they are answered."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel

from hopgate.serve.api.models.memories import MemoryAnswer


class ConceptAnswer(BaseModel):
    """A concept: its name, its aliases, its kind, and how many memories talk about it."""

    id: int
    name: str
    aliases: list[str]
    kind: str | None
    memory_count: int


class ConceptsAnswer(BaseModel):
    """Concepts, those first that most memories talk about."""

    concepts: list[ConceptAnswer]


class EdgeAnswer(BaseModel):
    """An edge: true from `valid_from` to `valid_to`, known from `recorded_at` to `retired_at`, with its evidence."""

    source: str
    relation: str
    target: str
    weight: float
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime | None
    retired_at: datetime | None
    evidence: list[str]


class EdgesAnswer(BaseModel):
    """Edges, the heaviest first."""

    edges: list[EdgeAnswer]


class ConceptDetailAnswer(ConceptAnswer):
    """A concept with the memories that talk about it, the newest first, and its edges."""

    memories: list[MemoryAnswer]
    edges: list[EdgeAnswer]
