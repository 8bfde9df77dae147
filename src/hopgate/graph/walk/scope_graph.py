"""A scope's own graph: what its memories alone say, so that no other scope's facts, names or spellings show in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

from hopgate.graph.build.derive import versioned_rows
from hopgate.graph.names.index import NameIndex, name_index
from hopgate.graph.names.links import INSIDE_WEIGHT, inside_links
from hopgate.store.graph import scope_rows
from hopgate.store.graph.edge_rows import NAME_INSIDE, EdgeRow
from hopgate.store.graph.fact_rows import CanonicalFact, FactGroup
from hopgate.store.graph.scope_rows import OwnName
from hopgate.times import utc

if TYPE_CHECKING:
    from psycopg import Connection

# Since when a link by names alone is known.
ALWAYS = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, eq=False)
class OwnEdge:
    """An edge that memories of a scope support: its row, how they word its relation, and where its vector is.

    A link by names alone has a negative id, and no evidence. `single_valued` where its relation has one object at a
    time.
    """

    row: EdgeRow
    relation: str
    edge_id: int
    single_valued: bool = False


@dataclass(frozen=True, eq=False)
class ScopeGraph:
    """The concepts and edges of some memories.

    Parameters
    ----------
    names : sequence of OwnName
        The names that they mention, in the order in which they first do.
    edges : tuple of OwnEdge
        The edges that follow from their facts, and from names inside their names.
    """

    names: Sequence[OwnName]
    edges: tuple[OwnEdge, ...]

    @cached_property
    def concept_ids(self) -> tuple[int, ...]:
        """The concepts, in the order in which these memories first mention them."""
        return tuple(dict.fromkeys(name.concept_id for name in self.names))

    @cached_property
    def aliases(self) -> dict[int, tuple[str, ...]]:
        """Every concept's names as these memories spell them, the most used first."""
        of_concept: dict[int, list[OwnName]] = defaultdict(list)
        for name in self.names:
            of_concept[name.concept_id].append(name)
        return {
            concept: tuple(name.name for name in sorted(own, key=lambda name: (-name.uses, name.name)))
            for concept, own in of_concept.items()
        }

    @cached_property
    def index(self) -> NameIndex:
        """The names, each with its concept's place in `concept_ids`."""
        number = {concept: place for place, concept in enumerate(self.concept_ids)}
        return name_index((name.name, number[name.concept_id]) for name in self.names)

    def concepts_in(self, text: str) -> list[int]:
        """Find the concepts whose names are in a text, from left to right, the longest match first."""
        return [self.concept_ids[match.concept] for match in self.index.find(text)]

    @cached_property
    def wordings(self) -> dict[str, str]:
        """How these memories word each canonical relation."""
        return {edge.row.relation: edge.relation for edge in self.edges}

    def evidence(self, edge_id: int) -> tuple[int, ...]:
        """The memories that say so."""
        return self._evidence.get(edge_id, ())

    @cached_property
    def _evidence(self) -> dict[int, tuple[int, ...]]:
        return {edge.edge_id: edge.row.evidence for edge in self.edges}


@dataclass(frozen=True, eq=False)
class ScopeSight:
    """What may be shown of a walk that passed through other scopes: these memories, and what they say themselves."""

    memory_ids: frozenset[int]
    own: ScopeGraph


def scope_sight(connection: Connection[Any], scopes: Sequence[str]) -> ScopeSight:
    """What may be shown to some scopes: their memories, and what these say by now."""
    ids = scope_rows.memories_of_scopes(connection, scopes, None)
    return ScopeSight(frozenset(ids), scope_graph(connection, ids))


def scope_graph(
    connection: Connection[Any],
    memory_ids: Sequence[int],
    *,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    versions: bool = False,
) -> ScopeGraph:
    """Derive the graph of some memories, as it was true as of a time and known at a time.

    With `versions` every version of its edges, also those that are believed no more, whatever the times.
    """
    names = scope_rows.names(connection, memory_ids)
    ids = scope_rows.edge_ids(connection, memory_ids)
    groups: dict[FactGroup, list[CanonicalFact]] = defaultdict(list)
    wordings: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for stated in scope_rows.facts(connection, memory_ids):
        fact = stated.fact
        groups[FactGroup(fact.src_id, fact.relation, None if stated.single_valued else fact.dst_id)].append(fact)
        wordings[fact.relation][stated.raw] += 1
    worded = {relation: min(raw, key=lambda one: (-raw[one], one)) for relation, raw in wordings.items()}
    below = count(-1, -1)
    edges = [
        OwnEdge(
            row,
            worded[row.relation],
            ids.get((row.src_id, row.relation, row.dst_id)) or next(below),
            group.dst_id is None,
        )
        for group, facts in groups.items()
        for row in versioned_rows(group, facts)
        if versions or _visible(row, utc(as_of), utc(known_at))
    ]
    own = ScopeGraph(names, ())
    number = {concept: place for place, concept in enumerate(own.concept_ids)}
    # As the memories mention their ends: facts come in an order in which the ids of others have a part.
    edges.sort(key=lambda edge: _own_order(edge, number))
    for source, target in inside_links(own.index, [(name.name, number[name.concept_id]) for name in names]):
        ends = own.concept_ids[source], own.concept_ids[target]
        row = EdgeRow(*ends, NAME_INSIDE, INSIDE_WEIGHT, None, None, ALWAYS, None, ())
        edges.append(OwnEdge(row, NAME_INSIDE, next(below)))
    return ScopeGraph(names, tuple(edges))


def _own_order(edge: OwnEdge, number: Mapping[int, int]) -> tuple[Any, ...]:
    row = edge.row
    begins = row.valid_from.timestamp() if row.valid_from else float("-inf")
    ends = number.get(row.src_id, len(number)), number.get(row.dst_id, len(number))
    return *ends, edge.relation, begins, row.recorded_at, row.weight, row.evidence


def _visible(row: EdgeRow, as_of: datetime | None, known_at: datetime | None) -> bool:
    """What `visible_edges` says in SQL."""
    if known_at is None:
        if row.retired_at is not None:
            return False
    elif row.recorded_at > known_at or (row.retired_at is not None and row.retired_at <= known_at):
        return False
    if as_of is None:
        return True
    begun = row.valid_from is None or row.valid_from <= as_of
    return begun and (row.valid_to is None or row.valid_to > as_of or row.valid_from == as_of)
