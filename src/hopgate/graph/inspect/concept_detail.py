"""One concept in full: its names and merges, the memories that talk about it, and its edges."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.graph.inspect.edges import Edge, edges, named
from hopgate.store.graph import concept_rows, merge_rows
from hopgate.store.graph.concept_rows import Concept
from hopgate.store.graph.merge_rows import MergeRow
from hopgate.store.graph.visible import View

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


def concept_detail(connection: Connection[Any], view: View, name: str | int, *, limit: int = 20) -> ConceptDetail:
    """Read the concept of a name, or of an id, with at most `limit` memories and edges; an unknown one is refused.

    Where several scopes have the name it is the concept that most memories talk about.
    """
    concept = concept_rows.get(connection, named(connection, view, name)[0])
    return ConceptDetail(
        concept,
        tuple(merge_rows.merges_into(connection, concept.id)),
        tuple(concept_rows.memories_about(connection, concept.id, view, limit=limit)),
        tuple(edges(connection, view, of=concept.id, limit=limit)),
    )


def _dated(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}
