"""`/mend`, what people change by hand, each with a preview; and `/health`."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

import hopgate
from hopgate.errors import HopgateError
from hopgate.graph.build.curate import Action, Proposal
from hopgate.graph.build.merge import Change, RemovalPreview
from hopgate.serve.api_graph import ConceptAnswer
from hopgate.serve.bounds import Served, Service
from hopgate.serve.middleware import PREFIX
from hopgate.serve.problems import RefusedError
from hopgate.serve.values import Key, Limit, Strict, Text
from hopgate.store.journal import MARK, JournalEntry

router = APIRouter(prefix=PREFIX, tags=["server"])
explorer = APIRouter(prefix=PREFIX, tags=["explorer"])

NameText = Annotated[Text, Field(min_length=1, max_length=1000)]
# What a server that is bound to scopes refuses: it would show or move what others say.
MERGES, CURATION, THE_LOG = "merges are", "curation is", "the log is"
EntryId = Annotated[int, Path(description="The entry's id.", ge=1, le=2**63 - 1)]


class MergeRequest(Strict):
    """Two concepts to make one, each by one of its names; `kept` stays."""

    kept: NameText
    merged: NameText


class KeepApartRequest(Strict):
    """A name that was left undecided, and is not the one it resembles."""

    name: NameText


class MergeProposalAnswer(BaseModel):
    """Two concepts that may be one: why it is thought so, and the pair of names that is least alike."""

    name: str
    near: str
    score: float
    one: ConceptAnswer
    other: ConceptAnswer
    evidence: dict[str, float]
    least_similar: tuple[str, str, float]


class MergeProposalsAnswer(BaseModel):
    """Proposed merges, the most alike first."""

    proposals: list[MergeProposalAnswer]


class CurationRequest(Strict):
    """A proposal to carry out, as it was given."""

    action: Literal["UPDATE", "DELETE", "NOOP"]
    memory: Key
    older: Key


class CurationAnswer(BaseModel):
    """What a new memory means for an older one, and which of the two would give way."""

    action: str
    memory: str
    older: str | None
    reason: str
    gives_way: str | None
    memory_text: str | None
    older_text: str | None


class CurationsAnswer(BaseModel):
    """The first curation proposals, and whether there are no more: `hopgate curate` looks through all memories."""

    proposals: list[CurationAnswer]
    complete: bool


class RemovalRequest(Strict):
    """Memories to delete or to mark as sensitive."""

    ids: Annotated[list[Key], Field(min_length=1, max_length=10)]


class MendEntryAnswer(BaseModel):
    """An entry of the log of what was changed by hand."""

    id: int
    done_at: datetime
    action: str
    one: str | None
    other: str | None
    memory_ids: list[str]
    memories: int
    undone_at: datetime | None
    undoable: bool


class MendLogAnswer(BaseModel):
    """The log, the last entry first."""

    entries: list[MendEntryAnswer]


@explorer.get("/mend/merges", response_model=MergeProposalsAnswer)
def merge_proposals(served: Served, limit: Limit = 50) -> MergeProposalsAnswer:
    """List the names that may be one concept, the most alike first."""
    served.require_whole_store(MERGES)
    found = served.kb.graph.merge_proposals(limit=served.require_rows(limit))
    return MergeProposalsAnswer(proposals=[MergeProposalAnswer(**asdict(one)) for one in found])


@explorer.post("/mend/merges/preview", response_model=Change)
def preview_merge(asked: MergeRequest, served: Served) -> Change:
    """Say what a merge would change; nothing does."""
    _require_mending(served, MERGES)
    return served.kb.graph.merge(asked.kept, asked.merged, dry_run=True)


@explorer.post("/mend/merges", response_model=MendEntryAnswer)
def accept_merge(asked: MergeRequest, served: Served) -> MendEntryAnswer:
    """Make two concepts one."""
    _require_mending(served, MERGES)
    served.kb.graph.merge(asked.kept, asked.merged)
    return _last(served)


@explorer.post("/mend/merges/refuse", response_model=MendEntryAnswer)
def refuse_merge(asked: KeepApartRequest, served: Served) -> MendEntryAnswer:
    """Keep a name apart from the one it resembles."""
    _require_mending(served, MERGES)
    served.kb.graph.keep_apart(asked.name)
    return _last(served)


@explorer.get("/mend/curation", response_model=CurationsAnswer)
def curation(served: Served, limit: Limit = 20) -> CurationsAnswer:
    """List memories that repeat, extend or contradict others, with both texts."""
    served.require_whole_store(CURATION)
    found = served.kb.graph.curation(limit=served.require_rows(limit))
    return CurationsAnswer(proposals=[_proposal(one, served) for one in found.proposals], complete=found.complete)


@explorer.post("/mend/curation", response_model=MendEntryAnswer)
def accept_curation(asked: CurationRequest, served: Served) -> MendEntryAnswer:
    """Let a memory give way to another: it gets a tombstone, and recall leaves it out."""
    _require_mending(served, CURATION)
    for key in (asked.memory, asked.older):
        served.memory(key)
    chosen = Proposal(Action(asked.action), asked.memory, asked.older)
    served.kb.graph.supersede([chosen])
    return _last(served)


@explorer.post("/mend/removal/preview", response_model=RemovalPreview)
def preview_removal(asked: RemovalRequest, served: Served) -> RemovalPreview:
    """Say what would go from the graph with memories that are deleted or marked as sensitive; nothing does."""
    served.require_writing()
    return served.kb.graph.removal_preview(_known(asked, served), scope=served.scope())


@explorer.post("/mend/sensitive", response_model=MendEntryAnswer)
def mark_sensitive(asked: RemovalRequest, served: Served) -> MendEntryAnswer:
    """Mark memories as sensitive: all that was made of their texts goes at once."""
    served.require_writing()
    if all(served.memory(key).is_sensitive for key in asked.ids):
        raise RefusedError(422, "these memories are sensitive already")
    with served.writing() as within:
        served.kb.mark_sensitive(_known(asked, served), within=within)
    return _last(served)


@explorer.post("/mend/delete", response_model=MendEntryAnswer)
def delete(asked: RemovalRequest, served: Served) -> MendEntryAnswer:
    """Delete memories, and what only they supported."""
    served.require_writing()
    with served.writing() as within:
        served.kb.delete(_known(asked, served), within=within)
    return _last(served)


@explorer.get("/mend/log", response_model=MendLogAnswer)
def mend_log(served: Served, limit: Limit = 50) -> MendLogAnswer:
    """Give what was changed by hand, the last entry first."""
    served.require_whole_store(THE_LOG)
    return MendLogAnswer(entries=[_entry(one) for one in served.kb.upkeep.log(limit=served.require_rows(limit))])


@explorer.post("/mend/log/{id}/undo", response_model=MendEntryAnswer)
def undo(id: EntryId, served: Served) -> MendEntryAnswer:
    """Take an entry of the log back."""
    _require_mending(served, THE_LOG)
    try:
        entry = served.kb.upkeep.entry(id)
    except HopgateError as error:
        raise RefusedError(404, str(error)) from None
    if entry.action == MARK and not served.allow_sensitive:
        raise RefusedError(
            403, "to take the mark away would show its text: start hopgate serve with --show-sensitive, or use the "
            "command hopgate sensitive --undo"
        )  # fmt: skip
    return _entry(served.kb.upkeep.undo(id))


def _require_mending(served: Service, subject: str) -> None:
    served.require_writing()
    served.require_whole_store(subject)


def _known(asked: RemovalRequest, served: Service) -> list[str]:
    return [served.memory(key).external_id for key in dict.fromkeys(asked.ids)]


def _last(served: Service) -> MendEntryAnswer:
    """The entry of what was just done."""
    return _entry(served.kb.upkeep.log(limit=1)[0])


def _entry(entry: JournalEntry) -> MendEntryAnswer:
    return MendEntryAnswer(**asdict(entry), undoable=entry.undoable)


def _proposal(one: Proposal, served: Service) -> CurationAnswer:
    return CurationAnswer(
        **asdict(one),
        reason=one.reason,
        gives_way=one.gives_way,
        memory_text=_text(one.memory, served),
        older_text=_text(one.older, served) if one.older else None,
    )


def _text(key: str, served: Service) -> str | None:
    memory = served.kb.get(key)
    return memory.content if memory is not None and served.shows(memory) else None


class HealthAnswer(BaseModel):
    """That the store answers, what the server allows, and what the store holds unless it is bound to scopes."""

    status: str
    version: str
    read_only: bool
    show_sensitive: bool
    scopes: list[str] | None
    store: dict[str, int | str | bool]


@router.get("/health", response_model=HealthAnswer)
def health(served: Served) -> HealthAnswer:
    """Say that the store answers, and what it holds."""
    try:
        found: dict[str, Any] = served.kb.upkeep.status()
    except HopgateError as error:
        raise RefusedError(503, str(error)) from None
    named = ("memories", "sensitive", "superseded", "pending_vectors", "pending_graph", "failed_graph", "graph_version",
             "graph_built", "extractor", "embedder")  # fmt: skip
    return HealthAnswer(
        status="ok",
        version=hopgate.__version__,
        read_only=served.read_only,
        show_sensitive=served.allow_sensitive,
        scopes=served.scope(),
        store={} if served.bound is not None else {name: found[name] for name in named},
    )
