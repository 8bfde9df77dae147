"""The graph as values: edges along their two times, one concept in full, one memory in full, each with its evidence."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.corpus import to_record
from hopgate.errors import HopgateError
from hopgate.graph.names import normalise
from hopgate.memory import Memory
from hopgate.store import journal, memories, superseded
from hopgate.store.graph import concept_rows, edge_rows, fact_rows
from hopgate.store.graph.concept_rows import Concept
from hopgate.store.graph.edge_rows import Edge, TimeSpan
from hopgate.store.graph.fact_rows import NamedFact, NamedMention
from hopgate.store.graph.visible import View
from hopgate.store.journal import JournalRow
from hopgate.store.superseded import SupersededMemory
from hopgate.times import utc

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["Concept", "Edge", "NamedFact", "NamedMention", "SupersededMemory", "TimeSpan"]

# The columns of an edge's beginning and end on each axis.
AXES = {"valid": ("valid_from", "valid_to"), "known": ("recorded_at", "retired_at")}


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
    return edge_rows.visible(connection, view, concept_ids=ids, relation=relation, limit=limit)


def named(connection: Connection[Any], view: View, name: str | int) -> list[int]:
    """The concepts of a name, or of an id; one that nobody in view has is refused."""
    if isinstance(name, int):
        return [concept_rows.get(connection, name, view).id]
    return concept_rows.find_all(connection, normalise(name), name, view)


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
        tuple(fact_rows.mentions(connection, key)),
        tuple(fact_rows.of_memory(connection, key)),
        tuple(edge_rows.of_memories(connection, [key], limit=limit)),
        tuple((other, tuple(names)) for other, names in concept_rows.neighbours(connection, key, limit=limit)),
        tuple(superseded.by_memory(connection, key)),
        superseded.reason_superseded(connection, key),
    )


def _dated(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}


@dataclass(frozen=True, slots=True)
class EdgeChanges:
    """The edges that began and those that ended between two moments."""

    began: tuple[Edge, ...]
    ended: tuple[Edge, ...]


def changes(
    connection: Connection[Any], view: View, since: datetime, until: datetime, *, axis: str, limit: int
) -> EdgeChanges:
    """What began and what ended after `since` and up to `until`, in valid time or in known time."""
    if axis not in AXES:
        raise HopgateError(f"there is no time {axis!r}: say valid (when it was true) or known (when it was known)")
    first, last = utc(since), utc(until)
    if first > last:
        raise HopgateError("the first date is after the second one: exchange them")
    began, ended = (tuple(edge_rows.begun(connection, view, column, first, last, limit=limit)) for column in AXES[axis])
    return EdgeChanges(began, ended)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two edges that cannot both hold; `settled` where the newer one ended the older one."""

    older: Edge
    newer: Edge
    settled: bool


def conflicts(connection: Connection[Any], view: View, name: str | None, *, limit: int) -> list[Conflict]:
    """Edges that contradict each other, settled or not, of the whole graph or of one concept; the latest first."""
    concepts = None if name is None else named(connection, view, name)
    return [Conflict(*pair) for pair in edge_rows.conflicts(connection, view, concepts, limit=limit)]
