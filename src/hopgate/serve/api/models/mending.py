"""Requests and answers of the explorer's page Mend."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from hopgate.serve.api.models.graph import ConceptAnswer
from hopgate.serve.api.models.values import Key, Strict, Text

NameText = Annotated[Text, Field(min_length=1, max_length=1000)]


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


class ChangeAnswer(BaseModel):
    """What a merge would change: the names, memories and groups of facts that go to the concept that stays."""

    kept: str
    other: str
    names: list[str]
    memories: int
    edges: int


class CurationRequest(Strict):
    """A proposal to carry out, as it was given."""

    action: Literal["UPDATE", "DELETE", "NOOP"]
    memory: Key
    older: Key
    reason: Annotated[Text, Field(max_length=500)] = ""


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


class RemovalAnswer(BaseModel):
    """What would go from the graph with memories, and how many of their edges others support as well."""

    memories: int
    concepts: list[str]
    edges: list[str]
    edges_kept: int


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
