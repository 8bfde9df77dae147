"""One concept in full: its names and merges, the memories that talk about it, and its edges."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.graph.inspect.edges import Edge, edges
from hopgate.graph.names import normalise
from hopgate.store.graph import concept_rows, merge_rows
from hopgate.store.graph.concept_rows import Concept
from hopgate.store.graph.merge_rows import MergeRow

if TYPE_CHECKING:
    from psycopg import Connection


@dataclass(frozen=True, slots=True)
class ConceptDetail:
    """A concept with the merges into it, the external ids of memories that talk about it, and its edges."""

    concept: Concept
    merges: tuple[MergeRow, ...]
    memories: tuple[str, ...]
    edges: tuple[Edge, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give the concept ready for JSON."""
        return asdict(self.concept) | {
            "memories": list(self.memories),
            "merges": [_dated(asdict(merge)) for merge in self.merges],
            "edges": [_dated(asdict(edge)) for edge in self.edges],
        }


def concept_detail(
    connection: Connection[Any],
    name: str | int,
    *,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    limit: int = 20,
) -> ConceptDetail:
    """Read the concept of a name, or of an id, with at most `limit` memories and edges; an unknown one is refused."""
    if isinstance(name, int):
        concept = concept_rows.get(connection, name)
    else:
        concept = concept_rows.find(connection, normalise(name), name)
    return ConceptDetail(
        concept,
        tuple(merge_rows.merges_into(connection, concept.id)),
        tuple(concept_rows.memories_about(connection, concept.id, known_at=known_at, limit=limit)),
        tuple(edges(connection, of=concept.id, as_of=as_of, known_at=known_at, limit=limit)),
    )


def _dated(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}
