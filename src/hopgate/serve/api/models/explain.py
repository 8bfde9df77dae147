"""Why a memory is a hit, or is not."""

from __future__ import annotations

from pydantic import BaseModel

from hopgate.serve.api.models.recall import QueryRequest
from hopgate.serve.api.models.values import Key


class ExplainRequest(QueryRequest):
    """A query as it was asked, and the memory that is looked for among its hits."""

    id: Key


class LegSightAnswer(BaseModel):
    """Where a leg has a memory, and why there or not at all."""

    rank: int | None
    score: float | None
    reason: str


class ExplainAnswer(BaseModel):
    """Where a memory is among a query's hits, or why it is not there."""

    id: str
    present: bool
    rank: int | None
    legs: dict[str, LegSightAnswer]
    removed_by: list[str]
    sentence: str
