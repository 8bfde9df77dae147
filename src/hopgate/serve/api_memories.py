"""`/recall`, `/explain` and `/settings`; `/memories`: list them, read, remember, delete, or mark them as sensitive."""

import time
from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, Field

from hopgate.answers.context import DEFAULT_TOKENS
from hopgate.memory import DEFAULT_IMPORTANCE, MAX_SEARCHABLE_BYTES, Memory
from hopgate.recall.explain import Explanation
from hopgate.recall.filters import MAX_QUERY_CHARACTERS
from hopgate.recall.hit import Hit, LegPart, Passage, WordMatch
from hopgate.recall.outdated import HitFact
from hopgate.recall.settings import OPTIONS
from hopgate.serve.bounds import BoundStore, Key, Moment, Rows, Scopes, Served, Service, Strict, Text, request_model
from hopgate.serve.middleware import PREFIX

router = APIRouter(prefix=PREFIX, tags=["recall"])
memories = APIRouter(prefix=PREFIX, tags=["memories"])

SettingsRequest = request_model("SettingsRequest", OPTIONS.values(), walk=dict[str, Any])
# A request does not say which files or models of the server are read.
_ASKED = [option for option in OPTIONS.values() if option.name != "rerank_model"]
QuerySettings = request_model("QuerySettings", _ASKED, walk=dict[str, Any])

# Queries or memories of one request.
MOST_AT_ONCE = 1000
QueryText = Annotated[Text, Field(min_length=1, max_length=MAX_QUERY_CHARACTERS)]
MemoryId = Annotated[Key, Path(description="The memory's external id.")]
Tags = Annotated[list[Annotated[Text, Field(max_length=1000)]], Field(max_length=1000)]
# What is null of a memory whose texts are not shown.
TEXTS = ("title", "content", "tags", "category", "thread")


class CitationAnswer(BaseModel):
    """A memory that a context cites."""

    number: int
    external_id: str
    created_at: datetime | None
    over: str
    similarity: float | None


class ContextAnswer(BaseModel):
    """What memories say of a query: text with numbered citations."""

    query: str
    text: str
    tokens: int
    citations: list[CitationAnswer]


class AskRequest(QuerySettings):  # type: ignore[misc, valid-type]
    """Which memories may be found, and the settings that are otherwise for this request."""

    legs: Annotated[list[Literal["lexical", "dense", "late", "graph"]], Field(min_length=1, max_length=4)] | None = None
    scope: Key | Annotated[list[Key], Field(max_length=100)] | None = None
    exclude: Annotated[list[Key], Field(max_length=1000, default_factory=list)]
    as_of: Moment | None = None
    known_at: Moment | None = None
    include_superseded: bool = False
    cluster: Annotated[int, Field(ge=0, le=2**63 - 1)] | None = None
    where: dict[str, Any] | None = None

    def options(self, served: Service) -> dict[str, Any]:
        """Give the filters and settings as `KnowledgeBase.recall` and `explain` take them."""
        if self.k is not None:
            served.require_rows(self.k, "k")
        given = self.model_dump(include={*OPTIONS, *AskRequest.__annotations__}, exclude_none=True)
        where = served.conditions(self.where)
        return {**given, "scope": served.allowed_scopes(self.scope), "where": where}


class QueryRequest(AskRequest):
    """What to recall."""

    query: QueryText


class RecallRequest(QueryRequest):
    """A recall."""

    explain: bool = True


class RecallManyRequest(AskRequest):
    """Many recalls, alike in all but what they ask."""

    queries: Annotated[list[QueryText], Field(min_length=1, max_length=MOST_AT_ONCE)]
    explain: bool = False


class ExplainRequest(QueryRequest):
    """A query as it was asked, and the memory that is looked for among its hits."""

    id: Key


class MemoryText(Strict):
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

    def memory(self) -> Memory:
        """Give it as a memory; one without an id is called "new"."""
        values = self.model_dump(include=_OF_MEMORY)
        return Memory(self.id or "new", self.text, tags=tuple(self.tags), **values)


_OF_MEMORY = MemoryText.model_fields.keys() - {"id", "text", "tags"}
Link = Annotated[bool, Field(description="Embed and link at once.")]


class MemoryRequest(MemoryText):
    """A memory to remember."""

    link: Link = True


class MemoriesRequest(Strict):
    """Memories to remember, all of them or, where one is refused, none."""

    memories: Annotated[list[MemoryText], Field(min_length=1, max_length=MOST_AT_ONCE)]
    link: Link = True


class SensitiveRequest(Strict):
    """Whether a memory is sensitive."""

    sensitive: bool


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


class WrittenManyAnswer(BaseModel):
    """What became of memories: how many are new or otherwise now, and how many were embedded and linked with them."""

    added: int
    updated: int
    embedded: int
    linked: int
    memories: list[MemoryAnswer]


class HitAnswer(BaseModel):
    """A recalled memory, and what put it there: as `hopgate.Hit`."""

    memory: MemoryAnswer
    rank: int
    score: float
    similarity: float | None
    cosine: float | None
    legs: dict[str, LegPart]
    unseen: dict[str, float]
    bonus: float
    prior: float
    in_graph: bool
    rerank_score: float | None
    path: Annotated[list[dict[str, str | int | None]], Field(description="The graph's: parts of a kind, text and id.")]
    passage: Passage | None
    matches: list[WordMatch]
    facts: list[HitFact]
    outdated: bool
    as_of: str


class RecallAnswer(BaseModel):
    """The hits, best first; the settings in force, and where they come from."""

    hits: list[HitAnswer]
    settings: str
    origin: str
    took_ms: float


class RecallManyAnswer(BaseModel):
    """The hits of each query, best first, in the order of the queries."""

    answers: list[list[HitAnswer]]
    took_ms: float


@router.post("/recall")
def recall(asked: RecallRequest, served: Served) -> RecallAnswer:
    """Recall the memories that answer a query, best first."""
    options = asked.options(served)
    resolved = served.kb.store_settings.resolve({name: options[name] for name in options if name in OPTIONS})
    settings = resolved.settings if asked.legs is None else resolved.settings.only(asked.legs)
    begun = time.perf_counter()
    hits = served.kb.recall(asked.query, explain=asked.explain, **options)
    took = time.perf_counter() - begun
    return RecallAnswer(
        hits=[_hit(hit, served) for hit in hits],
        settings=repr(settings),
        origin=origin(resolved.sources),
        took_ms=round(took * 1000, 3),
    )


@router.post("/recall:batch")
def recall_many(asked: RecallManyRequest, served: Served) -> RecallManyAnswer:
    """Recall for many queries at once, which takes less time than one by one."""
    begun = time.perf_counter()
    answers = served.kb.recall_many(asked.queries, explain=asked.explain, **asked.options(served))
    took = time.perf_counter() - begun
    return RecallManyAnswer(
        answers=[[_hit(hit, served) for hit in hits] for hits in answers], took_ms=round(took * 1000, 3)
    )


class ContextRequest(QueryRequest):
    """What to write about, and how long it may be."""

    tokens: Annotated[int, Field(ge=1, le=100_000)] = DEFAULT_TOKENS


@memories.post("/context", response_model=ContextAnswer)
def write_context(asked: ContextRequest, served: Served) -> dict[str, Any]:
    """Write what memories say of a query as text with numbered citations; sensitive memories are never in it."""
    return served.kb.context(asked.query, tokens=asked.tokens, **asked.options(served)).to_dict()


def _hit(hit: Hit, served: Service) -> HitAnswer:
    values = {field.name: getattr(hit, field.name) for field in fields(hit)}
    values["memory"], values["path"] = shown(hit.memory, served), [part._asdict() for part in hit.path_parts]
    values["passage"] = hit.passage if served.shows(hit.memory) else None
    return HitAnswer(**values)


def origin(sources: Mapping[str, str]) -> str:
    """Say in a line where settings come from: "gate 1f3c: graph, fuser; this call: depth", or "defaults"."""
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


@memories.get("/memories")
def list_memories(
    served: Served,
    scope: Scopes,
    limit: Rows,
    after: Annotated[Key | None, Query(description="Go on after this memory, the last one of a page.")] = None,
    where: Annotated[Text | None, Query(description='What their fields must be, as JSON: {"tags": "home"}.')] = None,
) -> list[MemoryAnswer]:
    """List memories in the order of arrival, page by page."""
    if after is not None:
        served.memory(after)
    return [
        shown(memory, served)
        for memory in served.kb.list(where=served.conditions(where), scope=scope, after=after, limit=limit)
    ]


@memories.post("/memories", responses={201: {"model": WrittenAnswer}})
def add_memory(asked: MemoryRequest, served: Served, response: Response) -> WrittenAnswer:
    """Remember one text, or bring the memory of that id up to date; 201 where it is new."""
    new, added, done = served.write(asked.memory(), named=asked.id is not None, link=asked.link)
    response.status_code = 201 if added else 200
    memory = shown(served.memory(new.external_id), served)
    return WrittenAnswer(new=added, embedded=done.embedded, linked=done.linked, memory=memory)


@memories.post("/memories:batch")
def add_memories(asked: MemoriesRequest, served: Served) -> WrittenManyAnswer:
    """Remember many texts in one transaction, or bring the memories of their ids up to date."""
    new = [(row.memory(), row.id is not None) for row in asked.memories]
    ids, written, done = served.write_many(new, link=asked.link)
    return WrittenManyAnswer(
        added=written.added,
        updated=written.updated,
        embedded=done.embedded,
        linked=done.linked,
        memories=[shown(served.memory(key), served) for key in ids],
    )


@memories.get("/memories/{id:path}")
def get_memory(id: MemoryId, served: Served) -> MemoryAnswer:
    """Read one memory."""
    return shown(served.memory(id), served)


@memories.delete("/memories/{id:path}")
def delete_memory(id: MemoryId, served: Served) -> dict[str, int]:
    """Delete a memory, all that was made of it, and what only it supported in the graph; say how many went."""
    return {"deleted": served.delete(id)}


@memories.post("/memories/{id:path}/sensitive")
def mark_memory(id: MemoryId, asked: SensitiveRequest, served: Served) -> MemoryAnswer:
    """Mark a memory as sensitive, which removes all that was made of its text; or take the mark away."""
    served.require_writing()
    memory = served.memory(id)
    if not asked.sensitive and memory.is_sensitive:
        served.require_unmarking()
    change = served.kb.mark_sensitive if asked.sensitive else served.kb.unmark_sensitive
    change([memory.external_id], within=served.bound)
    return shown(served.memory(id), served)


def shown(memory: Memory, served: BoundStore) -> MemoryAnswer:
    """Give a memory as a request may see it: of a sensitive one, what is not its text."""
    values = {name: getattr(memory, name) for name in MemoryAnswer.model_fields if name != "id"}
    values |= {name: served.named(values[name]) for name in ("reply_to", "superseded_by")}
    if not served.shows(memory):
        values |= {"is_sensitive": True, **dict.fromkeys(TEXTS)}
    return MemoryAnswer(id=memory.external_id, **values)
