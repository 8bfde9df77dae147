"""The graph as values: edges, one concept in full, one memory in full; each with the memories that are its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.corpus import to_record
from hopgate.graph.names import normalise
from hopgate.memory import Memory
from hopgate.store import journal, memories, superseded
from hopgate.store.graph import concept_rows, edge_rows, overview
from hopgate.store.graph.concept_rows import Concept
from hopgate.store.graph.visible import View
from hopgate.store.journal import JournalRow

if TYPE_CHECKING:
    from psycopg import Connection


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge by its names: true from `valid_from` to `valid_to`, known since `recorded_at`, with its evidence."""

    source: str
    relation: str
    target: str
    weight: float
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime | None
    retired_at: datetime | None
    evidence: tuple[str, ...]


def edges(
    connection: Connection[Any],
    view: View,
    *,
    of: str | int | None = None,
    relation: str | None = None,
    limit: int | None = None,
) -> list[Edge]:
    """Read edges, all or one concept's.

    Parameters
    ----------
    of : str or int, optional
        A name of the concept whose edges are wanted, in whichever scopes have it, or its id; an unknown one is refused.
    relation : str, optional
        Only edges of this relation.
    """
    ids = None if of is None else named(connection, view, of)
    rows = edge_rows.visible(connection, view, concept_ids=ids, relation=relation, limit=limit)
    return [edge_of(row) for row in rows]


def named(connection: Connection[Any], view: View, name: str | int) -> list[int]:
    """The concepts of a name, or of an id; one that nobody in view has is refused."""
    if isinstance(name, int):
        return [concept_rows.get(connection, name, view).id]
    return concept_rows.find_all(connection, normalise(name), name, view)


def edge_of(row: Sequence[Any]) -> Edge:
    """An edge of a row with its names, times and evidence."""
    return Edge(row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], tuple(row[8]))


@dataclass(frozen=True, slots=True)
class ConceptDetail:
    """A concept with the merges into it, the external ids of memories that talk about it, and its edges."""

    concept: Concept
    merges: tuple[JournalRow, ...]
    memories: tuple[str, ...]
    edges: tuple[Edge, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give the concept ready for JSON."""
        return asdict(self.concept) | {
            "memories": list(self.memories),
            "merges": [_dated(asdict(merge)) for merge in self.merges],
            "edges": [_dated(asdict(edge)) for edge in self.edges],
        }


def concept_detail(connection: Connection[Any], view: View, name: str | int, *, limit: int = 20) -> ConceptDetail:
    """Read the concept of a name, or of an id, with at most `limit` memories and edges; an unknown one is refused.

    Where several scopes have the name it is the concept that most memories talk about.
    """
    concept = concept_rows.get(connection, named(connection, view, name)[0])
    return ConceptDetail(
        concept,
        tuple(journal.merges_into(connection, concept.id)),
        tuple(concept_rows.memories_about(connection, concept.id, view, limit=limit)),
        tuple(edges(connection, view, of=concept.id, limit=limit)),
    )


@dataclass(frozen=True, slots=True)
class NamedMention:
    """A name in a memory and the concept that it stands for."""

    name: str
    concept: str
    kind: str

    def __str__(self) -> str:
        called = self.name if self.name == self.concept else f"{self.name} = {self.concept}"
        return f"{called} ({self.kind})" if self.kind else called


@dataclass(frozen=True, slots=True)
class NamedFact:
    """What a memory says about two concepts, by their names."""

    subject: str
    relation: str
    object: str
    valid_from: datetime | None
    valid_to: datetime | None
    weight: float

    def __str__(self) -> str:
        return f"{self.subject} — {self.relation} → {self.object}"


@dataclass(frozen=True, slots=True)
class MemoryDetail:
    """A memory with its mentions and facts, edges, neighbours by shared concepts, and what it superseded."""

    memory: Memory
    mentions: tuple[NamedMention, ...]
    facts: tuple[NamedFact, ...]
    edges: tuple[Edge, ...]
    neighbours: tuple[tuple[str, tuple[str, ...]], ...]
    supersedes: tuple[str, ...]
    reason: str = ""  # why it was superseded itself

    def to_dict(self) -> dict[str, Any]:
        """Give the memory ready for JSON."""
        return to_record(self.memory) | {
            "mentions": [asdict(mention) for mention in self.mentions],
            "facts": [_dated(asdict(fact)) for fact in self.facts],
            "edges": [_dated(asdict(edge)) for edge in self.edges],
            "neighbours": [{"_id": key, "concepts": list(names)} for key, names in self.neighbours],
            "supersedes": list(self.supersedes),
            "superseded_reason": self.reason,
        }


def memory_detail(connection: Connection[Any], external_id: str, *, limit: int) -> MemoryDetail:
    """Read a memory with at most `limit` edges and neighbours; an unknown id is refused."""
    (key,) = memories.require(connection, [external_id])
    return MemoryDetail(
        memories.fetch_by_id(connection, [key])[key],
        tuple(NamedMention(*row) for row in overview.memory_mentions(connection, key)),
        tuple(NamedFact(*row) for row in overview.memory_facts(connection, key)),
        tuple(edge_of(row) for row in overview.memory_edges(connection, key, limit=limit)),
        tuple((other, tuple(names)) for other, names in overview.neighbours(connection, key, limit=limit)),
        tuple(overview.supersedes(connection, key)),
        superseded.reason_superseded(connection, key),
    )


def _dated(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}
