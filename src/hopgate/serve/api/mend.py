"""`/mend`: what people change by hand, each with a preview, for the explorer's page Mend."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path

from hopgate.errors import HopgateError
from hopgate.graph.build.curate import Action, Proposal
from hopgate.serve.access import PREFIX
from hopgate.serve.api.models.mending import (
    ChangeAnswer,
    CurationAnswer,
    CurationRequest,
    CurationsAnswer,
    KeepApartRequest,
    MendEntryAnswer,
    MendLogAnswer,
    MergeProposalAnswer,
    MergeProposalsAnswer,
    MergeRequest,
    RemovalAnswer,
    RemovalRequest,
)
from hopgate.serve.api.models.values import Limit
from hopgate.serve.problems import RefusedError
from hopgate.serve.service import Served, Service
from hopgate.store.mend_rows import MARK

if TYPE_CHECKING:
    from hopgate.store.mend_rows import MendEntry

router = APIRouter(prefix=f"{PREFIX}/mend", tags=["explorer"])
# What a server that is bound to scopes refuses: it would show or move what others say.
# Seconds after which a page shows what was found so far.
LOOKS = 10.0
MERGES, CURATION, THE_LOG = "merges are", "curation is", "the log is"
EntryId = Annotated[int, Path(description="The entry's id.", ge=1, le=2**63 - 1)]


@router.get("/merges", response_model=MergeProposalsAnswer)
def merge_proposals(served: Served, limit: Limit = 50) -> MergeProposalsAnswer:
    """List the names that may be one concept, the most alike first."""
    served.require_whole_store(MERGES)
    found = served.kb.upkeep.mend.merge_proposals(limit=served.require_rows(limit))
    return MergeProposalsAnswer(proposals=[MergeProposalAnswer(**asdict(one)) for one in found])


@router.post("/merges/preview", response_model=ChangeAnswer)
def preview_merge(asked: MergeRequest, served: Served) -> ChangeAnswer:
    """Say what a merge would change; nothing does."""
    _require_mending(served, MERGES)
    return ChangeAnswer(**asdict(served.kb.upkeep.mend.preview_merge(asked.kept, asked.merged)))


@router.post("/merges", response_model=MendEntryAnswer)
def accept_merge(asked: MergeRequest, served: Served) -> MendEntryAnswer:
    """Make two concepts one."""
    _require_mending(served, MERGES)
    return _entry(served.kb.upkeep.mend.merge(asked.kept, asked.merged))


@router.post("/merges/refuse", response_model=MendEntryAnswer)
def refuse_merge(asked: KeepApartRequest, served: Served) -> MendEntryAnswer:
    """Keep a name apart from the one it resembles."""
    _require_mending(served, MERGES)
    return _entry(served.kb.upkeep.mend.keep_apart(asked.name))


@router.get("/curation", response_model=CurationsAnswer)
def curation(served: Served, limit: Limit = 20) -> CurationsAnswer:
    """List memories that repeat, extend or contradict others, with both texts."""
    served.require_whole_store(CURATION)
    found = served.kb.upkeep.mend.curation(limit=served.require_rows(limit), seconds=LOOKS)
    return CurationsAnswer(proposals=[_proposal(one, served) for one in found.proposals], complete=found.complete)


@router.post("/curation", response_model=MendEntryAnswer)
def accept_curation(asked: CurationRequest, served: Served) -> MendEntryAnswer:
    """Let a memory give way to another: it gets a tombstone, and recall leaves it out."""
    _require_mending(served, CURATION)
    for key in (asked.memory, asked.older):
        served.memory(key)
    chosen = Proposal(Action(asked.action), asked.memory, asked.older, asked.reason)
    return _entry(served.kb.upkeep.mend.supersede([chosen]))


@router.post("/removal/preview", response_model=RemovalAnswer)
def preview_removal(asked: RemovalRequest, served: Served) -> RemovalAnswer:
    """Say what would go from the graph with memories that are deleted or marked as sensitive; nothing does."""
    served.require_writing()
    preview = served.kb.upkeep.mend.preview_removal(_known(asked, served), scope=served.scope(None))
    return RemovalAnswer(**asdict(preview))


@router.post("/sensitive", response_model=MendEntryAnswer)
def mark_sensitive(asked: RemovalRequest, served: Served) -> MendEntryAnswer:
    """Mark memories as sensitive: all that was made of their texts goes at once."""
    served.require_writing()
    with served.bounds() as within:
        return _entry(served.kb.upkeep.mend.mark_sensitive(_known(asked, served), within=within))


@router.post("/delete", response_model=MendEntryAnswer)
def delete(asked: RemovalRequest, served: Served) -> MendEntryAnswer:
    """Delete memories, and what only they supported."""
    served.require_writing()
    with served.bounds() as within:
        return _entry(served.kb.upkeep.mend.delete(_known(asked, served), within=within))


@router.get("/log", response_model=MendLogAnswer)
def mend_log(served: Served, limit: Limit = 50) -> MendLogAnswer:
    """Give what was changed by hand, the last entry first."""
    served.require_whole_store(THE_LOG)
    return MendLogAnswer(entries=[_entry(one) for one in served.kb.upkeep.mend.log(limit=served.require_rows(limit))])


@router.post("/log/{id}/undo", response_model=MendEntryAnswer)
def undo(id: EntryId, served: Served) -> MendEntryAnswer:
    """Take an entry of the log back."""
    _require_mending(served, THE_LOG)
    try:
        entry = served.kb.upkeep.mend.entry(id)
    except HopgateError as error:
        raise RefusedError(404, str(error)) from None
    if entry.action == MARK and not served.settings.show_sensitive:
        raise RefusedError(
            403, "to take the mark away would show its text: start hopgate serve with --show-sensitive, or use the "
            "command hopgate sensitive --undo"
        )  # fmt: skip
    return _entry(served.kb.upkeep.mend.undo(id))


def _require_mending(served: Service, subject: str) -> None:
    served.require_writing()
    served.require_whole_store(subject)


def _known(asked: RemovalRequest, served: Service) -> list[str]:
    return [served.memory(key).external_id for key in dict.fromkeys(asked.ids)]


def _entry(entry: MendEntry) -> MendEntryAnswer:
    return MendEntryAnswer(**asdict(entry), undoable=entry.undoable)


def _proposal(one: Proposal, served: Service) -> CurationAnswer:
    return CurationAnswer(
        **asdict(one),
        gives_way=one.gives_way,
        memory_text=_text(one.memory, served),
        older_text=_text(one.older, served) if one.older else None,
    )


def _text(key: str, served: Service) -> str | None:
    memory = served.kb.get(key)
    return memory.content if memory is not None and served.shows(memory) else None
