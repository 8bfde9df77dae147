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
from hopgate.serve.problems import RefusedError
from hopgate.serve.values import Key, Limit, MemoryId, Moment, ScopeQuery, Strict, Text
from hopgate.sources.source import digest

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


@router.get("/memories", response_model=MemoryPage)
def list_memories(
    served: Served,
    scope: ScopeQuery = None,
    after: Annotated[Key | None, Query(description="Go on after this memory.")] = None,
    limit: Limit = 50,
) -> MemoryPage:
    """List memories in the order of arrival."""
    served.require_rows(limit)
    if after is not None:
        served.memory(after)
    found = served.kb.page(scope=served.scope(scope), after=after, limit=limit)
    following = found[-1].external_id if len(found) == limit else None
    return MemoryPage(memories=[shown(memory, served) for memory in found], next=following)


@router.post("/memories", response_model=WrittenAnswer, responses={201: {"model": WrittenAnswer}})
def add_memory(asked: MemoryRequest, served: Served, response: Response) -> WrittenAnswer:
    """Remember one text, or bring the memory of that id up to date; 201 where it is new."""
    served.require_writing()
    scope = served.bound[0] if asked.scope is None and served.bound else asked.scope
    served.scope(scope)
    values = asked.model_dump(exclude={"id", "text", "tags", "scope", "link"})
    # Of a sensitive text not even a digest is shown: a short one could be guessed from it.
    made = secrets.token_hex(8) if asked.is_sensitive else digest(scope, asked.title, asked.text)
    key = asked.id or f"add#{made}"
    with served.writing() as within:
        new = Memory(key, asked.text, tags=tuple(asked.tags), scope=scope, **values)
        written = served.kb.add(new, within=within)
    done = served.caught_up(key, written) if asked.link else None
    response.status_code = 201 if written.added else 200
    return WrittenAnswer(
        id=key,
        new=bool(written.added),
        embedded=done.embedded if done else 0,
        linked=done.linked if done else 0,
        memory=shown(served.memory(key), served),
    )


@router.get("/memories/{id:path}", response_model=MemoryAnswer)
def get_memory(id: MemoryId, served: Served) -> MemoryAnswer:
    """Read one memory."""
    return shown(served.memory(id), served)


@router.delete("/memories/{id:path}", response_model=DeletedAnswer)
def delete_memory(id: MemoryId, served: Served) -> DeletedAnswer:
    """Delete a memory, all that was made of it, and what only it supported in the graph."""
    served.require_writing()
    with served.writing() as within:
        return DeletedAnswer(deleted=served.kb.delete([served.memory(id).external_id], within=within))


@router.post("/memories/{id:path}/sensitive", response_model=SensitiveAnswer)
def mark_memory(id: MemoryId, asked: SensitiveRequest, served: Served) -> SensitiveAnswer:
    """Mark a memory as sensitive, which removes all that was made of its text; or take the mark away."""
    served.require_writing()
    memory = served.memory(id)
    if asked.sensitive:
        with served.writing() as within:
            served.kb.mark_sensitive([memory.external_id], within=within)
    elif memory.is_sensitive and not served.allow_sensitive:
        raise RefusedError(
            403, "to take the mark away would show its text: start hopgate serve with --show-sensitive, or use the "
            "command hopgate sensitive --undo"
        )  # fmt: skip
    else:
        with served.writing() as within:
            served.kb.unmark_sensitive([memory.external_id], within=within)
    return SensitiveAnswer(
        id=memory.external_id, is_sensitive=asked.sensitive, changed=asked.sensitive != memory.is_sensitive
    )


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
