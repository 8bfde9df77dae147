"""A scope's own graph: what its memories alone say, so that no other scope's facts, names or spellings show in it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.graph.build.derive import versioned_rows, with_true_ends
from hopgate.graph.links import INSIDE_WEIGHT, inside_links, title_links
from hopgate.graph.names import NameIndex, name_index
from hopgate.graph.walk.own_concepts import own_meaning, stores_meaning
from hopgate.graph.walk.own_facts import grouped, is_known, may_tell, vector_rows, worded
from hopgate.store import memory_words, setting_rows
from hopgate.store.graph import merge_rows, scope_rows
from hopgate.store.graph.edge_rows import NAME_INSIDE, EdgeRow
from hopgate.store.graph.merge_rows import NameRuling
from hopgate.store.graph.scope_rows import OwnName
from hopgate.times import utc

if TYPE_CHECKING:
    from psycopg import Connection

# Since when a link by names alone is known.
ALWAYS = datetime.min.replace(tzinfo=UTC)


class OwnLink(NamedTuple):
    """A memory that talks about a concept; `titled` where its title is one of the concept's names."""

    memory_id: int
    concept_id: int
    titled: bool


@dataclass(frozen=True, eq=False)
class OwnEdge:
    """An edge that memories of a scope support: its row, how they word its relation, and where its vector is.

    A link by names alone has no evidence, and no vector. `single_valued` where its relation has one object at a time.
    An id is the store's unless another edge here has it, or the store has none: then it is negative.
    """

    row: EdgeRow
    relation: str
    edge_id: int
    single_valued: bool = False
    vector_id: int | None = None


@dataclass(frozen=True, eq=False)
class ScopeGraph:
    """The concepts and edges of some memories.

    Parameters
    ----------
    names : sequence of OwnName
        The names that they mention, in the order in which they first do.
    edges : tuple of OwnEdge
        The edges that follow from their facts, and from names inside their names.
    links : tuple of OwnLink
        Who talks about what, in the order of memories, each pair once.
    store_concepts : mapping of int to int
        The store's concept, which is everybody's, of each name by its id.
    rulings : tuple of NameRuling
        What people decided about these names.
    """

    names: Sequence[OwnName]
    edges: tuple[OwnEdge, ...] = ()
    links: tuple[OwnLink, ...] = ()
    store_concepts: Mapping[int, int] = field(default_factory=dict)
    rulings: tuple[NameRuling, ...] = ()

    @cached_property
    def concept_ids(self) -> tuple[int, ...]:
        """The concepts, in the order in which these memories first mention them."""
        return tuple(dict.fromkeys(name.concept_id for name in self.names))

    @cached_property
    def stored(self) -> dict[int, int]:
        """The store's concept of each one's first name."""
        return {name.concept_id: self.store_concepts[name.id] for name in reversed(self.names)}

    def concept_of(self, key: int) -> int | None:
        """Give the concept of an id: one of these, one of the store's, or one that had another first name once."""
        return self._by_any_id.get(key)

    @cached_property
    def _by_any_id(self) -> dict[int, int]:
        by_store = {stored: concept for concept, stored in reversed(self.stored.items())}
        by_name = {-name.id: name.concept_id for name in self.names}
        return by_store | by_name | {concept: concept for concept in self.concept_ids}

    @cached_property
    def aliases(self) -> dict[int, tuple[str, ...]]:
        """Every concept's names as these memories spell them, the most used first."""
        of_concept: dict[int, list[OwnName]] = defaultdict(list)
        for name in self.names:
            of_concept[name.concept_id].append(name)
        return {
            concept: tuple(name.name for name in sorted(own, key=lambda name: (-name.uses, -len(name.name), name.name)))
            for concept, own in of_concept.items()
        }

    @cached_property
    def index(self) -> NameIndex:
        """The names, each with its concept's place in `concept_ids`."""
        number = {concept: place for place, concept in enumerate(self.concept_ids)}
        return name_index((name.name, number[name.concept_id]) for name in self.names if name.uses)

    def concepts_in(self, text: str) -> list[int]:
        """Find the concepts whose names are in a text, from left to right, the longest match first."""
        return [self.concept_ids[match.concept] for match in self.index.find(text)]

    @cached_property
    def kinds(self) -> dict[int, str]:
        """Each concept's kind by its most used name that has one; without those that have none."""
        kinds: dict[int, str] = {}
        for name in sorted(self.names, key=lambda name: (-name.uses, -len(name.name), name.name)):
            if name.kind:
                kinds.setdefault(name.concept_id, name.kind)
        return kinds

    @cached_property
    def memory_counts(self) -> Counter[int]:
        """How many memories talk about each concept."""
        return Counter(link.concept_id for link in self.links)

    @cached_property
    def memories_of(self) -> dict[int, list[int]]:
        """The memories that talk about each concept, in the order of their ids."""
        found: dict[int, list[int]] = defaultdict(list)
        for link in self.links:
            found[link.concept_id].append(link.memory_id)
        return found

    @cached_property
    def concepts_of(self) -> dict[int, list[int]]:
        """The concepts that each memory talks about."""
        found: dict[int, list[int]] = defaultdict(list)
        for link in self.links:
            found[link.memory_id].append(link.concept_id)
        return found

    @cached_property
    def wordings(self) -> dict[str, str]:
        """How these memories word each canonical relation."""
        return {edge.row.relation: edge.relation for edge in self.edges}

    def evidence(self, edge_id: int) -> tuple[int, ...]:
        """The memories that say so."""
        return self._evidence.get(edge_id, ())

    @cached_property
    def embedded(self) -> dict[int, int]:
        """The edges whose facts have a vector, in their order, and where the store has it."""
        return {edge.edge_id: edge.vector_id for edge in self.edges if edge.vector_id is not None}

    @cached_property
    def _evidence(self) -> dict[int, tuple[int, ...]]:
        return {edge.edge_id: edge.row.evidence for edge in self.edges}


@dataclass(frozen=True, eq=False)
class ScopeSight:
    """What may be shown of a walk that passed through other scopes: these memories, and what they say themselves."""

    memory_ids: frozenset[int]
    own: ScopeGraph


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
    stored = {name.id: name.concept_id for name in names}
    wordings = scope_rows.relations(connection, memory_ids)
    facts = [one for one in scope_rows.facts(connection, memory_ids) if is_known(one, stored, wordings)]
    rulings: Sequence[NameRuling] = ()
    if setting_rows.scopes(connection) == setting_rows.SHARED:
        meaning = stores_meaning(names, wordings)
    else:
        rulings = merge_rows.rulings_on(connection, list(stored))
        meaning = own_meaning(names, facts, wordings, rulings)
        names = [name._replace(concept_id=meaning.concepts[name.id]) for name in names]
    vectors = vector_rows(connection, memory_ids, facts, meaning, stored, wordings)
    called = worded(facts, meaning)
    maybe = scope_rows.tentative_facts(connection, memory_ids, may_tell(facts, meaning, wordings))
    facts += [one for one in maybe if is_known(one, stored, wordings)]
    edges = [
        OwnEdge(row, called[row.relation], 0, group.dst_id is None, vectors.get((row.src_id, row.relation, row.dst_id)))
        for group, own_facts in with_true_ends(connection, grouped(facts, meaning)).items()
        for row in versioned_rows(group, own_facts)
        if versions or _visible(row, utc(as_of), utc(known_at))
    ]
    own = ScopeGraph(names)
    number = {concept: place for place, concept in enumerate(own.concept_ids)}
    # As the memories mention their ends: facts come in an order in which the ids of others have a part.
    edges.sort(key=lambda edge: _own_order(edge, number))
    mentioned = [(name.name, number[name.concept_id]) for name in names if name.uses]
    for source, target in inside_links(own.index, mentioned):
        ends = own.concept_ids[source], own.concept_ids[target]
        row = EdgeRow(*ends, NAME_INSIDE, INSIDE_WEIGHT, None, None, ALWAYS, None, ())
        edges.append(OwnEdge(row, NAME_INSIDE, 0))
    return replace(
        own,
        edges=tuple(_numbered(edges)),
        links=_links(connection, own, memory_ids),
        store_concepts=stored,
        rulings=tuple(rulings),
    )


def _links(connection: Connection[Any], own: ScopeGraph, memory_ids: Sequence[int]) -> tuple[OwnLink, ...]:
    """Who mentions what, and whose title names what."""
    concept = {name.id: name.concept_id for name in own.names}
    mentions = scope_rows.mentions(connection, memory_ids)
    found = {(memory, concept[name]): False for memory, name in mentions if name in concept}
    for memory, place in title_links(own.index, memory_words.first_lines(connection, only=memory_ids)):
        found[memory, own.concept_ids[place]] = True
    number = {one: place for place, one in enumerate(own.concept_ids)}
    return tuple(OwnLink(*key, found[key]) for key in sorted(found, key=lambda key: (key[0], number[key[1]])))


def _numbered(edges: Sequence[OwnEdge]) -> Iterator[OwnEdge]:
    below, taken = count(-1, -1), set[int]()
    for edge in edges:
        key = edge.vector_id if edge.vector_id is not None and edge.vector_id not in taken else next(below)
        taken.add(key)
        yield replace(edge, edge_id=key)


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
