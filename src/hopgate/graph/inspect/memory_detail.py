"""One memory in full: what was extracted from it, its edges and neighbours, and what it superseded."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.corpus import to_record
from hopgate.graph.inspect.edges import Edge, edge_of
from hopgate.memory import Memory
from hopgate.store import memories, tombstones
from hopgate.store.graph import memory_rows

if TYPE_CHECKING:
    from psycopg import Connection


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
        tuple(NamedMention(*row) for row in memory_rows.mentions(connection, key)),
        tuple(NamedFact(*row) for row in memory_rows.facts(connection, key)),
        tuple(edge_of(row) for row in memory_rows.edges(connection, key, limit=limit)),
        tuple((other, tuple(names)) for other, names in memory_rows.neighbours(connection, key, limit=limit)),
        tuple(memory_rows.supersedes(connection, key)),
        tombstones.reason(connection, key),
    )


def _dated(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}
