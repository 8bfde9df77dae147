"""The graph as values: edges along their two times, one concept or memory in full, figures, and parts of it to draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hopgate.corpus import to_record
from hopgate.errors import HopgateError
from hopgate.graph.names import normalise
from hopgate.graph.walk.matrix import load_matrix
from hopgate.graph.walk.pagerank import pagerank
from hopgate.graph.walk.walk_graph import WalkGraph, top_k
from hopgate.memory import Memory
from hopgate.store import journal, superseded
from hopgate.store import memories as memory_store
from hopgate.store.graph import arrays, concept_rows, edge_rows, fact_rows
from hopgate.store.graph.concept_rows import Concept
from hopgate.store.graph.edge_rows import DrawnConcept, DrawnEdge, Edge
from hopgate.store.graph.fact_rows import NamedFact, NamedMention
from hopgate.store.graph.visible import View
from hopgate.store.journal import JournalRow
from hopgate.times import utc

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.graph.walk.matrix import GraphMatrix
    from hopgate.recall.graph_leg import WalkTrace

# The columns of an edge's beginning and end on each axis.
AXES = {"valid": ("valid_from", "valid_to"), "known": ("recorded_at", "retired_at")}


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
        tuple(edge_rows.visible(connection, view, concept_ids=[concept.id], limit=limit)),
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
    (key,) = memory_store.require(connection, [external_id])
    return MemoryDetail(
        memory_store.fetch_by_id(connection, [key])[key],
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


# What a graph is made of: nodes, edges, hubs, components, kinds, relations, and how much PageRank is degree here.

SHOWN = 10


@dataclass(frozen=True)
class GraphStats:
    """The figures of a graph.

    `edges` are not retired, `name_links` follow from names alone, and `retired` ones later facts contradict;
    `invalidation_rate` is the share of facts (source, relation, target) of which something was ever retired.
    `raw_relations` are in the words of the memories, `relations` the canonical ones. `hubs` are the concepts that most
    memories talk about, `components` the connected parts of memories and concepts together, of which the largest has
    the share `largest_component`. `degree` is None where there are too few concepts to walk from.
    """

    version: int
    memories: int
    linked_memories: int
    concepts: int
    names: int
    mentions: int
    edges: int
    name_links: int
    retired: int
    invalidation_rate: float
    merges: int
    ambiguous: int
    raw_relations: int
    relations: int
    single_valued: int
    kinds: tuple[tuple[str, int], ...]
    top_relations: tuple[tuple[str, int], ...]
    hubs: tuple[tuple[str, int], ...]
    components: int
    largest_component: float
    degree: DegreeLikeness | None

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON values."""
        values = asdict(self)
        for name in ("kinds", "top_relations", "hubs"):
            values[name] = dict(values[name])
        return values


def stats(connection: Connection[Any], *, damping: float = 0.5) -> GraphStats:
    """Measure a graph; the transaction should be a snapshot."""
    components, largest = _components(connection)
    hubs = concept_rows.listed(connection, limit=SHOWN)
    return GraphStats(
        **concept_rows.counts(connection),
        kinds=tuple(concept_rows.most_kinds(connection, SHOWN)),
        top_relations=tuple(concept_rows.most_relations(connection, SHOWN)),
        hubs=tuple((concept.name, concept.memory_count) for concept in hubs),
        components=components,
        largest_component=largest,
        degree=_degree(connection, damping),
    )


def _components(connection: Connection[Any]) -> tuple[int, float]:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    mentions, edges = arrays.mentions(connection), arrays.edges(connection)
    known = arrays.concept_kinds(connection).id
    linked = np.unique(mentions.memory)
    nodes = len(known) + len(linked)
    if not nodes:
        return 0, 0.0
    first = np.concatenate([np.searchsorted(known, mentions.concept), np.searchsorted(known, edges.source)])
    second = np.concatenate(
        [len(known) + np.searchsorted(linked, mentions.memory), np.searchsorted(known, edges.target)]
    )
    joined = coo_array((np.ones(len(first), np.int8), (first, second)), shape=(nodes, nodes))
    count, label = connected_components(joined.tocsr(), directed=False)
    return int(count), round(float(np.bincount(label).max()) / nodes, 4)


def _degree(connection: Connection[Any], damping: float) -> DegreeLikeness | None:
    try:
        return degree_likeness(load_matrix(connection).graph, damping=damping)
    except HopgateError:  # fewer than two concepts with an edge or a mention
        return None


@dataclass(frozen=True)
class DegreeLikeness:
    """What `degree_likeness` found; every figure is a mean share of the first `top`, between 0 and 1.

    Overlap of the rankings of two unrelated queries, and of a query's ranking with the ranking by strength; each plain
    and after the degree correction.
    """

    damping: float
    degree_correction: float
    top: int
    queries: int
    between_queries: float
    between_queries_corrected: float
    with_degree: float
    with_degree_corrected: float


# So many walks are compared, each from so many random seeds, by so many of their first memories at most.
WALKS, SEEDS, COMPARED = 20, 10, 100


def degree_likeness(graph: WalkGraph, *, damping: float = 0.5, degree_correction: float = 1.0) -> DegreeLikeness:
    """Walk from random, hence unrelated, seed concepts and compare the first memories they lead to.

    On a dense graph walks from unrelated seeds end up at the same hubs: the first 100 of two unrelated queries
    overlapped by 0.66 at damping 0.5 and by 0.91 at 0.85 on the prototype's graph of memories. Such a ranking says
    little about the query; `Walk(degree_correction=...)` is the remedy.

    A graph without memories is ranked over all its nodes, and one without concepts is seeded anywhere. No more than a
    tenth of the nodes are compared, because two long lists overlap by chance.
    """
    from_node = graph.memories if graph.concepts else 0
    pool = from_node + np.flatnonzero(~graph.dangling[from_node:])
    if pool.size < 2:
        raise HopgateError("comparing walks needs at least two concepts that have an edge or a mention")
    rng, restart = np.random.default_rng(0), np.zeros((graph.nodes, WALKS))
    for column in range(WALKS):
        restart[rng.choice(pool, min(SEEDS, pool.size), replace=False), column] = 1
    ranked = graph.memories or graph.nodes
    shown = max(1, min(COMPARED, ranked // 10))
    plain = pagerank(graph, restart, damping=damping)
    by_degree = frozenset(top_k(graph.strength[:ranked], shown).tolist())
    between, with_degree = [], []
    for scores in (plain, (plain.T * graph.divisor**-degree_correction).T):
        firsts = [frozenset(top_k(column[:ranked], shown).tolist()) for column in scores.T]
        between.append(float(np.mean([len(a & b) / shown for a, b in combinations(firsts, 2)])))
        with_degree.append(float(np.mean([len(first & by_degree) / shown for first in firsts])))
    return DegreeLikeness(damping, degree_correction, shown, WALKS, *between, *with_degree)


# Parts of the graph to draw: a concept's neighbourhood, some concepts, the largest, or what a query's walk visits.

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


def around(
    connection: Connection[Any], view: View, concept_id: int, *, depth: int = 1, limit: int = 100
) -> Neighbourhood:
    """Draw a concept with what its edges reach in `depth` steps, nearest and heaviest first, and its company."""
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


def chosen(connection: Connection[Any], view: View, among: Sequence[int] | None, *, limit: int) -> Neighbourhood:
    """Draw the first of these concepts, or of all those that most memories talk about, and what joins them."""
    ids, there = edge_rows.chosen_concepts(connection, view, among, limit=limit)
    return _drawn(connection, view, ids, there - len(ids))


def _drawn(connection: Connection[Any], view: View, concept_ids: Sequence[int], left_out: int) -> Neighbourhood:
    concepts = edge_rows.drawn_concepts(connection, view, concept_ids)
    small = len(concepts) <= TOGETHER_UP_TO
    limit = None if small else EDGES_EACH * len(concepts)
    edges, there = edge_rows.drawn_edges(connection, view, concept_ids, limit=limit)
    left = there - len(edges)
    if small and _is_now(view):
        known = {frozenset((edge.source, edge.target)) for edge in edges}
        company = edge_rows.together(connection, concept_ids, TOGETHER, limit=3 * len(concepts))
        edges += [line for line in company if frozenset((line.source, line.target)) not in known]
    return Neighbourhood(tuple(concepts), tuple(edges), left_out, left)


def _is_now(view: View) -> bool:
    return view.as_of is None and view.known_at is None


def check_limits(depth: int, limit: int) -> None:
    """Refuse a picture that no browser would draw."""
    if not 1 <= depth <= 4 or not 1 <= limit <= 20_000:
        raise HopgateError("a neighbourhood has a depth of 1 to 4 and at most 20,000 concepts: ask for less")


@dataclass(frozen=True, slots=True)
class VisitedNode:
    """A memory or a concept, and the share of walks that are there."""

    mass: float
    is_memory: bool
    is_seed: bool
    concept_id: int | None = None


@dataclass(frozen=True)
class QueryWalk:
    """The part of the graph that a query's walk visits most, and the walk itself to compute with.

    Memories by their external id and concepts by their name, which of them are joined, the whole graph that was walked,
    and where walks start: one number a node of it.
    """

    query: str
    nodes: dict[str, VisitedNode]
    lines: tuple[tuple[str, str], ...]
    graph: WalkGraph
    start: NDArray[np.float64]

    def steps(self) -> dict[str, int]:
        """How many steps each node is from the nearest seed; where none leads to it, from the heaviest memory.

        Examples
        --------
        >>> seed, memory = VisitedNode(0.5, False, True), VisitedNode(0.2, True, False)
        >>> nodes = {"Ada": seed, "m1": memory, "m2": memory}
        >>> QueryWalk("", nodes, (("Ada", "m1"),), None, None).steps()
        {'Ada': 0, 'm1': 1, 'm2': 0}
        """
        beside: dict[str, list[str]] = {name: [] for name in self.nodes}
        for first, second in self.lines:
            beside[first].append(second)
            beside[second].append(first)
        steps: dict[str, int] = {}
        seeds = [name for name, node in self.nodes.items() if node.is_seed]
        # The heaviest first, memories before concepts.
        others = sorted(self.nodes, key=lambda name: (not self.nodes[name].is_memory, -self.nodes[name].mass, name))
        for start in [seeds, *([name] for name in others)]:
            ring, depth = [name for name in start if name not in steps], 0
            while ring:
                steps |= dict.fromkeys(ring, depth)
                ring, depth = sorted({other for name in ring for other in beside[name]} - steps.keys()), depth + 1
        return {name: steps[name] for name in self.nodes}

    def memory_scores(self, *, damping: float = 0.8, degree_correction: float = 0.0) -> NDArray[np.floating]:
        """Score every memory of the graph by walks from the same start, with another damping or correction."""
        scores = pagerank(self.graph, self.start, damping=damping) * self.graph.divisor**-degree_correction
        return scores[: self.graph.memories]


def query_walk(query: str, trace: WalkTrace, most: tuple[int, int], connection: Connection[Any]) -> QueryWalk:
    """Walk from where the graph leg started, and keep so many memories and so many concepts with most mass."""
    matrix, start, (memories, concepts) = trace.matrix, trace.start, most
    graph, split = matrix.graph, matrix.graph.memories
    mass = pagerank(graph, start.vector, damping=trace.walk.damping)
    top = [*top_k(mass[:split], memories).tolist(), *(split + top_k(mass[split:], concepts)).tolist()]
    label = _labels(connection, matrix, [at for at in top if mass[at] > 0])
    seeds = {seed.node for seed in start.seeds if seed.reason != "memory"}
    lines = {
        (min(label[at], label[int(other)]), max(label[at], label[int(other)]))
        for at in label
        for other in graph.indices[graph.indptr[at] : graph.indptr[at + 1]]
        if int(other) in label and label[int(other)] != label[at]
    }
    joined = {name for line in lines for name in line}
    # A dense hit that no concept leads to has mass only because the walk may start there: it is left out.
    nodes = {
        name: VisitedNode(
            float(mass[at]), at < split, at in seeds, None if at < split else int(matrix.concept_ids[at - split])
        )
        for at, name in label.items()
        if name in joined
    }
    return QueryWalk(query, nodes, tuple(sorted(lines)), graph, start.vector)


def _labels(connection: Connection[Any], matrix: GraphMatrix, nodes: list[int]) -> dict[int, str]:
    """Each node's external id or name."""
    split = matrix.graph.memories
    of_memory = {at: int(matrix.memory_ids[at]) for at in nodes if at < split}
    of_concept = {at: int(matrix.concept_ids[at - split]) for at in nodes if at >= split}
    ids = memory_store.external_ids(connection, list(of_memory.values()))
    names = concept_rows.names(connection, list(of_concept.values()))
    return {at: ids[key] for at, key in of_memory.items()} | {at: names[key] for at, key in of_concept.items()}
