"""`/mend`, what people change by hand, each with a preview; and `/health`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from pydantic import Field

import hopgate
from hopgate.errors import HopgateError
from hopgate.graph.build.curate import Action, Curation, Proposal
from hopgate.graph.build.merge import Change, MergeProposal, RemovalPreview
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
IN_STORE = ("memories", "sensitive", "superseded", "pending_vectors", "pending_graph", "failed_graph", "graph_version",
            "graph_built", "extractor", "embedder")  # fmt: skip


class MergeRequest(Strict):
    """Two concepts to make one, each by one of its names; `kept` stays."""

    kept: NameText
    merged: NameText


class KeepApartRequest(Strict):
    """A name that was left undecided, and is not the one it resembles."""

    name: NameText


class CurationRequest(Strict):
    """A proposal to carry out, as it was given."""

    action: Literal["UPDATE", "DELETE", "NOOP"]
    memory: Key
    older: Key


class RemovalRequest(Strict):
    """Memories that may be deleted or marked as sensitive."""

    ids: Annotated[list[Key], Field(min_length=1, max_length=10)]


@explorer.get("/mend/merges")
def merge_proposals(served: Served, limit: Limit = 50) -> list[MergeProposal]:
    """List the names that may be one concept, the most alike first."""
    served.require_whole_store(MERGES)
    return served.kb.graph.merge_proposals(limit=served.require_rows(limit))


@explorer.post("/mend/merges/preview")
def preview_merge(asked: MergeRequest, served: Served) -> Change:
    """Say what a merge would change; nothing does."""
    _require_mending(served, MERGES)
    return served.kb.graph.merge(asked.kept, asked.merged, dry_run=True)


@explorer.post("/mend/merges")
def accept_merge(asked: MergeRequest, served: Served) -> JournalEntry:
    """Make two concepts one; give the log's entry."""
    _require_mending(served, MERGES)
    served.kb.graph.merge(asked.kept, asked.merged)
    return served.kb.upkeep.log(limit=1)[0]


@explorer.post("/mend/merges/refuse")
def refuse_merge(asked: KeepApartRequest, served: Served) -> JournalEntry:
    """Keep a name apart from the one it resembles; give the log's entry."""
    _require_mending(served, MERGES)
    served.kb.graph.keep_apart(asked.name)
    return served.kb.upkeep.log(limit=1)[0]


@explorer.get("/mend/curation")
def curation(served: Served, limit: Limit = 20) -> Curation:
    """List memories that repeat, extend or contradict others."""
    served.require_whole_store(CURATION)
    return served.kb.graph.curation(limit=served.require_rows(limit))


@explorer.post("/mend/curation")
def accept_curation(asked: CurationRequest, served: Served) -> JournalEntry:
    """Let a memory give way to another: recall leaves it out from now on; give the log's entry."""
    _require_mending(served, CURATION)
    for key in (asked.memory, asked.older):
        served.memory(key)
    served.kb.graph.supersede([Proposal(Action(asked.action), asked.memory, asked.older)])
    return served.kb.upkeep.log(limit=1)[0]


@explorer.post("/mend/removal/preview")
def preview_removal(asked: RemovalRequest, served: Served) -> RemovalPreview:
    """Say what would go from the graph with memories that are deleted or marked as sensitive; nothing does."""
    served.require_writing()
    known = [served.memory(key).external_id for key in dict.fromkeys(asked.ids)]
    return served.kb.graph.removal_preview(known, scope=served.scope())


@explorer.get("/mend/log")
def manual_changes(served: Served, limit: Limit = 50) -> list[JournalEntry]:
    """Give what was changed by hand, the last entry first; a deletion cannot be undone."""
    served.require_whole_store(THE_LOG)
    return served.kb.upkeep.log(limit=served.require_rows(limit))


@explorer.post("/mend/log/{id}/undo")
def undo(id: EntryId, served: Served) -> JournalEntry:
    """Take an entry of the log back."""
    _require_mending(served, THE_LOG)
    try:
        entry = served.kb.upkeep.entry(id)
    except HopgateError as error:
        raise RefusedError(404, str(error)) from None
    if entry.action == MARK:
        served.require_unmarking()
    return served.kb.upkeep.undo(id)


def _require_mending(served: Service, subject: str) -> None:
    served.require_writing()
    served.require_whole_store(subject)


@router.get("/health")
def health(served: Served) -> dict[str, Any]:
    """Say that the store answers, what the server allows, and what the store holds unless it is bound to scopes."""
    try:
        found = served.kb.upkeep.status()
    except HopgateError as error:
        raise RefusedError(503, str(error)) from None
    return {
        "status": "ok",
        "version": hopgate.__version__,
        "read_only": served.bounds.read_only,
        "show_sensitive": served.bounds.show_sensitive,
        "scopes": served.scope(),
        "store": {} if served.bound is not None else {name: found[name] for name in IN_STORE},
    }
