"""`/memories`: list them, read one, remember one, delete one, mark one as sensitive."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from hopgate.memory import DEFAULT_IMPORTANCE, MAX_SEARCHABLE_BYTES, Memory
from hopgate.serve.bounds import BoundStore, Served
from hopgate.serve.middleware import PREFIX
from hopgate.serve.values import Key, Limit, MemoryId, Moment, ScopeQuery, Strict, Text
from hopgate.upkeep import CaughtUp

router = APIRouter(prefix=PREFIX, tags=["memories"])

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


class WrittenAnswer(BaseModel):
    """What became of a memory: whether it is new, and how many were embedded and linked with it."""

    new: bool
    embedded: int
    linked: int
    memory: MemoryAnswer


class SensitiveRequest(Strict):
    """Whether a memory is sensitive."""

    sensitive: bool


@router.get("/memories")
def list_memories(
    served: Served,
    scope: ScopeQuery = None,
    after: Annotated[Key | None, Query(description="Go on after this memory, the last one of a page.")] = None,
    limit: Limit = 50,
) -> list[MemoryAnswer]:
    """List memories in the order of arrival, page by page."""
    served.require_rows(limit)
    if after is not None:
        served.memory(after)
    return [shown(memory, served) for memory in served.kb.page(scope=served.scope(scope), after=after, limit=limit)]


@router.post("/memories", responses={201: {"model": WrittenAnswer}})
def add_memory(asked: MemoryRequest, served: Served, response: Response) -> WrittenAnswer:
    """Remember one text, or bring the memory of that id up to date; 201 where it is new."""
    served.require_writing()
    scope = served.bound[0] if asked.scope is None and served.bound else asked.scope
    served.scope(scope)
    values = asked.model_dump(exclude={"id", "text", "tags", "scope", "link"})
    # Of a sensitive text not even a digest is shown: a short one could be guessed from it.
    made = secrets.token_hex(8) if asked.is_sensitive else served.kb.made_id(scope, asked.title, asked.text)
    key = asked.id or f"add#{made}"
    with served.writing() as within:
        new = Memory(key, asked.text, tags=tuple(asked.tags), scope=scope, **values)
        written = served.kb.add(new, within=within)
    done = served.caught_up(key, written) if asked.link else CaughtUp(0, 0)
    response.status_code = 201 if written.added else 200
    memory = shown(served.memory(key), served)
    return WrittenAnswer(new=bool(written.added), embedded=done.embedded, linked=done.linked, memory=memory)


@router.get("/memories/{id:path}")
def get_memory(id: MemoryId, served: Served) -> MemoryAnswer:
    """Read one memory."""
    return shown(served.memory(id), served)


@router.delete("/memories/{id:path}")
def delete_memory(id: MemoryId, served: Served) -> dict[str, int]:
    """Delete a memory, all that was made of it, and what only it supported in the graph; say how many went."""
    served.require_writing()
    with served.writing() as within:
        return {"deleted": served.kb.delete([served.memory(id).external_id], within=within)}


@router.post("/memories/{id:path}/sensitive")
def mark_memory(id: MemoryId, asked: SensitiveRequest, served: Served) -> MemoryAnswer:
    """Mark a memory as sensitive, which removes all that was made of its text; or take the mark away."""
    served.require_writing()
    memory = served.memory(id)
    if not asked.sensitive and memory.is_sensitive:
        served.require_unmarking()
    change = served.kb.mark_sensitive if asked.sensitive else served.kb.unmark_sensitive
    with served.writing() as within:
        change([memory.external_id], within=within)
    return shown(served.memory(id), served)


def shown(memory: Memory, served: BoundStore) -> MemoryAnswer:
    """Give a memory as a request may see it: of a sensitive one, what is not its text."""
    open_ = served.shows(memory)
    return MemoryAnswer(
        id=memory.external_id,
        title=memory.title if open_ else None,
        content=memory.content if open_ else None,
        tags=list(memory.tags) if open_ else None,
        category=memory.category if open_ else None,
        importance=memory.importance,
        is_sensitive=memory.is_sensitive or not open_,
        scope=memory.scope,
        created_at=memory.created_at,
        thread=memory.thread if open_ else None,
        reply_to=served.named(memory.reply_to),
        language=memory.language,
        superseded_by=served.named(memory.superseded_by),
        superseded_at=memory.superseded_at,
    )
