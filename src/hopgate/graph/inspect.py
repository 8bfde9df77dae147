"""The graph as values: edges along their two times, one concept or memory in full, and parts of it to draw."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hopgate.corpus import to_record
from hopgate.errors import HopgateError
from hopgate.graph.names import normalise
from hopgate.memory import Memory
from hopgate.store.graph import concept_rows, edge_rows
from hopgate.store.graph.concept_rows import Concept
from hopgate.store.graph.edge_rows import DrawnConcept, DrawnEdge, Edge
from hopgate.store.graph.fact_rows import NamedFact, NamedMention
from hopgate.store.graph.visible import View
from hopgate.store.journal import JournalRow
from hopgate.store.rows import Connection


def named(connection: Connection, view: View, name: str | int) -> list[int]:
    """The concepts of a name, or of an id; one that nobody in view has is refused."""
    if isinstance(name, int):
        return [concept_rows.get(connection, name, view).id]
    return concept_rows.find_all(connection, normalise(name), name, view)


@dataclass(frozen=True, slots=True)
class ConceptDetail:
    """A concept with the merges into it, the external ids of memories that talk about it, and its edges.

    Where several scopes have its name it is the concept that most memories talk about.
    """

    concept: Concept
    merges: tuple[JournalRow, ...]
    memories: tuple[str, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class MemoryDetail:
    """A memory with its mentions and facts, edges, related memories by shared concepts, and what it superseded."""

    memory: Memory
    mentions: tuple[NamedMention, ...]
    facts: tuple[NamedFact, ...]
    edges: tuple[Edge, ...]
    related: tuple[tuple[str, tuple[str, ...]], ...]
    supersedes: tuple[str, ...]
    reason: str = ""  # why it was superseded itself

    def to_dict(self) -> dict[str, Any]:
        """Give the memory as a record of a corpus, with what is known of it."""
        return to_record(self.memory) | {
            "mentions": self.mentions,
            "facts": self.facts,
            "edges": self.edges,
            "related": [{"_id": key, "concepts": names} for key, names in self.related],
            "supersedes": self.supersedes,
            "superseded_reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class EdgeChanges:
    """The edges that began and those that ended between two moments."""

    began: tuple[Edge, ...]
    ended: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two edges that cannot both hold; `settled` where the newer one ended the older one."""

    older: Edge
    newer: Edge
    settled: bool


# Parts of the graph to draw: a concept's neighbourhood, some concepts, or the largest.

TOGETHER = "mentioned together"
"""What joins two concepts of a picture that the same memories talk about and no edge joins."""

# In a larger picture such lines would hide the edges, and counting them would take longer than drawing.
TOGETHER_UP_TO = 400
# Of a larger picture the heaviest edges are drawn, so many for each concept: more would be a grey ground.
EDGES_EACH = 2
# Beside its edges a concept shows so many others that its memories talk about.
COMPANY = 8


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Concepts, what joins them, and how many more of both there were than could be let in."""

    concepts: tuple[DrawnConcept, ...]
    edges: tuple[DrawnEdge, ...]
    left_out: int
    edges_left_out: int = 0


def neighbourhood(
    connection: Connection, view: View, concept_id: int | None, among: Sequence[int] | None, *, depth: int, limit: int
) -> Neighbourhood:
    """Draw a concept with what its edges reach, nearest and heaviest first, and its company; or the first of some."""
    if not 1 <= depth <= 4 or not 1 <= limit <= 20_000:  # no browser would draw it
        raise HopgateError("a neighbourhood has a depth of 1 to 4 and at most 20,000 concepts: ask for less")
    if concept_id is None:
        ids, there = edge_rows.chosen_concepts(connection, view, among, limit=limit)
        return _drawn(connection, view, ids, there - len(ids))
    concept_id = concept_rows.get(connection, concept_id, view).id
    drawn, ring, left_out = [concept_id], [concept_id], 0
    for step in range(depth):
        room = limit - len(drawn)
        if room <= 0 or not ring:
            break
        ring, there = edge_rows.joined(connection, view, ring, drawn, limit=room)
        left_out += there - len(ring)
        drawn += ring
        if step == 0 and _is_now(view) and len(drawn) < limit:
            drawn += edge_rows.beside(connection, view, concept_id, drawn, limit=min(COMPANY, limit - len(drawn)))
    return _drawn(connection, view, drawn, left_out)


def _drawn(connection: Connection, view: View, concept_ids: Sequence[int], left_out: int) -> Neighbourhood:
    concepts = edge_rows.drawn_concepts(connection, view, concept_ids)
    is_small = len(concepts) <= TOGETHER_UP_TO
    limit = None if is_small else EDGES_EACH * len(concepts)
    edges, total = edge_rows.drawn_edges(connection, view, concept_ids, limit=limit)
    edges_left_out = total - len(edges)
    if is_small and _is_now(view):
        joined = {frozenset((edge.source, edge.target)) for edge in edges}
        company = edge_rows.together(connection, view, concept_ids, TOGETHER, limit=3 * len(concepts))
        edges += [line for line in company if frozenset((line.source, line.target)) not in joined]
    return Neighbourhood(tuple(concepts), tuple(edges), left_out, edges_left_out)


def _is_now(view: View) -> bool:
    return view.as_of is None and view.known_at is None
