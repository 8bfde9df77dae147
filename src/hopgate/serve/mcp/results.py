"""What tools answer, as types: their schemas tell an assistant what it gets."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field


class MemoryItem(BaseModel):
    """A memory."""

    id: str = Field(description="The memory's id: for explain, forget and hopgate://memory/{id}.")
    content: str = Field(description="Its text, the title first; of a long one the part that fits the question.")
    cut: bool = Field(description="Whether there is more: read hopgate://memory/{id} for all of it.")
    scope: str | None = None
    created_at: datetime | None = Field(default=None, description="When it was written down.")


class HitItem(MemoryItem):
    """A memory that answers a question."""

    rank: int
    score: float
    why: str = Field(description="What put it there: which legs found it, and its path through the graph.")


class RecallResult(BaseModel):
    """Memories that answer a question, the best first; none where nothing fits."""

    hits: list[HitItem]


class RememberResult(BaseModel):
    """A memory that was stored."""

    id: str
    new: bool = Field(description="False where this text was known already.")
    scope: str | None
    linked: bool = Field(description="Whether it is in the graph by now.")


class ExplainResult(BaseModel):
    """Why a memory is among the hits of a question, or why it is not."""

    id: str
    present: bool
    rank: int | None
    sentence: str
    legs: dict[str, str] = Field(description="What each leg says about it.")


class RelationItem(BaseModel):
    """A relation between two concepts, since when and until when it is true, and who says so."""

    source: str
    relation: str
    target: str
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    known_since: datetime | None = None
    evidence: list[str] = Field(description="Ids of the memories that say so.")


class RelationsResult(BaseModel):
    """The relations of a concept."""

    concept: str
    relations: list[RelationItem]
    more: bool = Field(description="Whether there are more than were asked for.")


class ChangesResult(BaseModel):
    """What became known between two times."""

    since: datetime
    until: datetime
    memories: list[MemoryItem] = Field(description="Memories that were written down, the newest first.")
    began: list[RelationItem] = Field(description="Relations that were not known before, or not so.")
    ended: list[RelationItem] = Field(description="Relations that were known before and no longer hold.")
    more: bool = Field(description="Whether there is more than was asked for.")


class ForgetResult(BaseModel):
    """Whether a memory was deleted, and if not, what to do."""

    id: str
    deleted: bool
    message: str
    confirm_token: str | None = Field(default=None, description="Pass it to forget once the user has agreed.")


class ForgetAnswer(BaseModel):
    """What the user says to a deletion."""

    delete: bool = Field(description="Delete this memory, and what only it supports in the graph, for good.")
