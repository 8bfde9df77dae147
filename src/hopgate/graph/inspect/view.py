"""A part of the graph to draw: a concept's neighbourhood, some concepts, or the largest ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.store.graph import concept_rows, view_rows
from hopgate.store.graph.visible import View

if TYPE_CHECKING:
    from psycopg import Connection

TOGETHER = "mentioned together"
"""What joins two concepts of a picture that the same memories talk about and no edge joins."""

# In a larger picture such lines would hide the edges, and counting them would take longer than drawing.
TOGETHER_UP_TO = 400
# Of a larger picture the heaviest edges are drawn, so many for each concept: more would be a grey ground.
EDGES_EACH = 2
# Beside its edges a concept shows so many others that its memories talk about.
COMPANY = 8


@dataclass(frozen=True, slots=True)
class DrawnConcept:
    """A concept in a picture; `last` is when a memory last talked about it."""

    id: int
    name: str
    kind: str | None
    memories: int
    last: datetime | None


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """A line between two concepts of a picture, by their ids."""

    source: int
    target: int
    relation: str
    weight: float


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Concepts, what joins them, and how many more of both there were than could be let in."""

    concepts: tuple[DrawnConcept, ...]
    edges: tuple[DrawnEdge, ...]
    left_out: int
    edges_left_out: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Give the picture ready for JSON."""
        return {
            "nodes": [
                {"id": one.id, "name": one.name, "kind": one.kind, "memories": one.memories, "last": _told(one.last)}
                for one in self.concepts
            ],
            "edges": [
                {"source": one.source, "target": one.target, "relation": one.relation, "weight": one.weight}
                for one in self.edges
            ],
            "left_out": self.left_out,
            "edges_left_out": self.edges_left_out,
        }


def around(
    connection: Connection[Any], view: View, concept_id: int, *, depth: int = 1, limit: int = 100
) -> Neighbourhood:
    """Draw a concept with what its edges reach in `depth` steps, nearest and heaviest first, and its company."""
    concept_id = concept_rows.get(connection, concept_id, view).id
    chosen, ring, left_out = [concept_id], [concept_id], 0
    for step in range(depth):
        room = limit - len(chosen)
        if room <= 0 or not ring:
            break
        ring, there = view_rows.joined(connection, view, ring, chosen, limit=room)
        left_out += there - len(ring)
        chosen += ring
        if step == 0 and _is_now(view) and len(chosen) < limit:
            chosen += view_rows.beside(connection, view, concept_id, chosen, limit=min(COMPANY, limit - len(chosen)))
    return _drawn(connection, view, chosen, left_out)


def largest(connection: Connection[Any], view: View, *, limit: int = 1000) -> Neighbourhood:
    """Draw the concepts that most memories talk about."""
    chosen, there = view_rows.largest(connection, view, limit=limit)
    return _drawn(connection, view, chosen, there - len(chosen))


def among(connection: Connection[Any], view: View, concept_ids: Sequence[int], *, limit: int = 1000) -> Neighbourhood:
    """Draw these concepts, the first `limit` of them, and what joins them."""
    known = view_rows.known(connection, view, concept_ids)
    return _drawn(connection, view, known[:limit], max(0, len(known) - limit))


def _drawn(connection: Connection[Any], view: View, concept_ids: Sequence[int], left_out: int) -> Neighbourhood:
    rows = view_rows.concepts(connection, view, concept_ids)
    small = len(rows) <= TOGETHER_UP_TO
    found, there = view_rows.edges(connection, view, concept_ids, limit=None if small else EDGES_EACH * len(rows))
    edges = [DrawnEdge(*row) for row in found]
    if small and _is_now(view):
        edges = with_company(edges, view_rows.together(connection, concept_ids, limit=3 * len(rows)))
    return Neighbourhood(tuple(DrawnConcept(*row) for row in rows), tuple(edges), left_out, there - len(found))


def _is_now(view: View) -> bool:
    return view.as_of is None and view.known_at is None


def with_company(edges: Sequence[DrawnEdge], pairs: Sequence[tuple[int, int, float]]) -> list[DrawnEdge]:
    """Add a line between two concepts that the same memories talk about and no edge joins."""
    known = {frozenset((edge.source, edge.target)) for edge in edges}
    return [*edges, *(DrawnEdge(a, b, TOGETHER, n) for a, b, n in pairs if frozenset((a, b)) not in known)]


def _told(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def check_limits(depth: int, limit: int) -> None:
    """Refuse a picture that no browser would draw."""
    if not 1 <= depth <= 4 or not 1 <= limit <= 20_000:
        raise HopgateError("a neighbourhood has a depth of 1 to 4 and at most 20,000 concepts: ask for less")
