"""Memories, as they come in and go out."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field

from hopgate.memory import DEFAULT_IMPORTANCE, MAX_SEARCHABLE_BYTES
from hopgate.serve.api.models.values import Key, Moment, Strict, Text

Tags = Annotated[list[Annotated[Text, Field(max_length=1000)]], Field(max_length=1000)]


class MemoryRequest(Strict):
    """A memory to remember; the same id again brings it up to date."""

    id: Key | None = None
    text: Annotated[Text, Field(min_length=1, max_length=MAX_SEARCHABLE_BYTES)]
    title: Annotated[Text, Field(max_length=10_000)] = ""
    tags: Tags = Field(default_factory=list)
    category: Key | None = None
    importance: Annotated[float, Field(ge=0, le=1)] = DEFAULT_IMPORTANCE
    is_sensitive: bool = False
    scope: Key | None = None
    created_at: Moment | None = None
    thread: Key | None = None
    reply_to: Key | None = None
    language: Annotated[Text, Field(max_length=80)] | None = None
    link: Annotated[bool, Field(description="Embed and link it at once.")] = True


class MemoryAnswer(BaseModel):
    """A memory. Its texts are null where it is sensitive and the server does not show that."""

    id: str
    title: str | None
    content: str | None
    tags: list[str] | None
    category: str | None
    importance: float
    is_sensitive: bool
    scope: str | None
    created_at: datetime | None
    thread: str | None
    reply_to: str | None
    language: str | None
    superseded_by: str | None
    superseded_at: datetime | None


class MemoryPage(BaseModel):
    """Memories in the order of arrival; `next` is what `after` takes to go on, null at the end."""

    memories: list[MemoryAnswer]
    next: str | None


class WrittenAnswer(BaseModel):
    """What became of a memory: whether it is new, and how many were embedded and linked with it."""

    id: str
    new: bool
    embedded: int
    linked: int
    memory: MemoryAnswer


class DeletedAnswer(BaseModel):
    """How many memories were deleted."""

    deleted: int


class SensitiveRequest(Strict):
    """Whether a memory is sensitive."""

    sensitive: bool


class SensitiveAnswer(BaseModel):
    """A memory's mark, and whether it changed."""

    id: str
    is_sensitive: bool
    changed: bool
