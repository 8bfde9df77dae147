"""The graph as a walk needs it: one frozen value, loaded in bulk, for one version and one point of view."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopgate.graph.walk.walk_graph import Pairs, WalkGraph, mention_graph
from hopgate.store.graph import arrays
from hopgate.store.graph.arrays import Stamp
from hopgate.store.graph.concept_rows import TITLED
from hopgate.store.graph.visible import View

if TYPE_CHECKING:
    from psycopg import Connection

WHOLE = View()
# A concept in up to a twentieth of a scope's memories is no hub, nor is one in up to five. Measured with the neighbours
# of memories (docs/research/neighbours.md): musique and 2wiki stay as they are, locomo gains up to 0.01.
SHARE = 20
FEW = 5
# What is linked stays linked, however little that says.
LEAST = 0.05
# Counting with a table of every scope and concept takes a tenth of the time of sorting, while it is no larger than this
# many times the mentions.
DENSE = 16
# Above this many entries for each id in use, a table indexed by id would waste memory; ids are searched instead.
SPARSE = 8


@dataclass(frozen=True, eq=False, repr=False)
class GraphMatrix:
    """A walk graph with the arrays that map its nodes to the store's ids.

    Memory ``m`` is node ``m`` and has id ``memory_ids[m]``; concept ``c`` is node ``len(memory_ids) + c`` and has id
    ``concept_ids[c]``. Both arrays ascend and every array is read-only, so that any number of threads may share it.

    Parameters
    ----------
    stamp : Stamp
        Which state of which graph this is.
    title_memory, title_concept : arrays of int32
        The memories that are titled with a concept's name, and that concept: links that follow from names alone.
    edge_source, edge_target, edge_relation, edge_weight, edge_id : arrays
        The typed edges: concepts, a number into `relations`, the weight that is walked, and the row's id, ascending.
    memory_scope : array of int32
        The number of every memory's scope: its place in `scopes`.
    arc_source, arc_target, arc_weight, arc_kind : arrays
        The arcs between memories, the weight that is walked, and a number into `ARC_KINDS`. Both ends have one scope.
    scopes : tuple of str
        The scopes that memories have, "" for those without one.
    namesake_id, namesake_of : arrays of int64
        Concepts of equal name are one node over all scopes: the ids of the others, ascending, and the node's own.
    """

    stamp: Stamp
    graph: WalkGraph
    memory_ids: NDArray[np.int64]
    concept_ids: NDArray[np.int64]
    title_memory: NDArray[np.int32]
    title_concept: NDArray[np.int32]
    relations: tuple[str, ...]
    edge_source: NDArray[np.int32]
    edge_target: NDArray[np.int32]
    edge_relation: NDArray[np.int32]
    edge_weight: NDArray[np.float32]
    edge_id: NDArray[np.int64]
    memory_scope: NDArray[np.int32]
    arc_source: NDArray[np.int32]
    arc_target: NDArray[np.int32]
    arc_weight: NDArray[np.float32]
    arc_kind: NDArray[np.int32]
    scopes: tuple[str, ...]
    namesake_id: NDArray[np.int64]
    namesake_of: NDArray[np.int64]

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __repr__(self) -> str:
        return (
            f"GraphMatrix(version={self.stamp.version}, memories={len(self.memory_ids)}, "
            f"concepts={len(self.concept_ids)}, edges={len(self.edge_id)}, arcs={self.graph.arcs})"
        )

    @property
    def bytes(self) -> int:
        """What it occupies: its arrays, and its graph with what a solver makes of it."""
        graph = self.graph
        arrays = [value for value in vars(self).values() if isinstance(value, np.ndarray)]
        return sum(array.nbytes for array in (*arrays, *[graph.indptr, graph.indices, graph.weights] * 3))

    def memories(self, ids: ArrayLike) -> NDArray[np.int64]:
        """Number memories by their ids; -1 for those that this view does not have."""
        return positions(self.memory_ids, np.asarray(ids, np.int64))

    def concepts(self, ids: ArrayLike) -> NDArray[np.int64]:
        """Number concepts by their ids, from 0; -1 for those that this view does not have."""
        return positions(self.concept_ids, _nodes_of(self.namesake_id, self.namesake_of, np.asarray(ids, np.int64)))

    def allowed(
        self, scopes: Collection[str] | None = None, concepts: ArrayLike | None = None, exclude: Sequence[int] = ()
    ) -> NDArray[np.bool_] | None:
        """Which memories are of some scopes, talk about one of some concepts and are not left out; None for all."""
        others = scopes is not None and not set(self.scopes) <= set(scopes)
        if not exclude and concepts is None and not others:
            return None
        allowed = np.ones(len(self.memory_ids), dtype=bool)
        if scopes is not None and others:
            allowed = np.isin(self.memory_scope, [at for at, scope in enumerate(self.scopes) if scope in scopes])
        if concepts is not None:
            places = self.concepts(concepts)
            wanted = np.zeros(self.graph.nodes)
            wanted[self.graph.memories + places[places >= 0]] = 1
            allowed &= self.graph.matrix[: self.graph.memories] @ wanted > 0
        places = self.memories(exclude)
        allowed[places[places >= 0]] = False
        return allowed

    def edge_rows(self, ids: ArrayLike) -> NDArray[np.int64]:
        """Rows of the edge arrays by the edges' ids; -1 for those that this view does not have."""
        return positions(self.edge_id, np.asarray(ids, np.int64))

    def edges_between(self, first: int, second: int) -> list[int]:
        """Rows of the edge arrays that join two concepts, in either direction."""
        ways = (self.edge_source == first) & (self.edge_target == second)
        return np.flatnonzero(ways | (self.edge_source == second) & (self.edge_target == first)).tolist()


def load_matrix(connection: Connection[Any], view: View = WHOLE, *, superseded: bool = False) -> GraphMatrix:
    """Load the graph, or that of some scopes, in bulk.

    The transaction should be a snapshot (`Store.snapshot`), so that version and rows agree.

    Parameters
    ----------
    view : View, optional
        Only of these scopes. As of a time only edges that were true then; without one every edge that is not retired,
        past ones too: "where did she work before" is a question like any other. As known at a time edges recorded and
        not yet retired, and memories made and not yet superseded.
    superseded : bool
        Whether superseded memories take part.
    """
    memories = arrays.memory_scopes(connection, view, superseded=superseded)
    memory_ids, scope = memories.id, memories.number
    others, first = arrays.namesakes(connection, view)
    concept_ids = np.setdiff1d(arrays.concept_kinds(connection, view).id, others)

    links = arrays.mentions(connection, view)
    memory = positions(memory_ids, links.memory)
    concept = positions(concept_ids, _nodes_of(others, first, links.concept))
    # Mentions of memories that the view does not show are among them.
    shown = (memory >= 0) & (concept >= 0)
    memory, concept = memory[shown], concept[shown]
    weight = links.weight[shown] * hub_factors(memory, concept, scope, len(concept_ids))
    titled = np.array([name == TITLED for name in links.relations], bool)[links.relation[shown]]

    edges = arrays.edges(connection, view)
    source, target = (positions(concept_ids, _nodes_of(others, first, ids)) for ids in (edges.source, edges.target))
    arcs = arrays.arcs(connection, view.scopes)
    start, end = positions(memory_ids, arcs.source), positions(memory_ids, arcs.target)
    near = (start >= 0) & (end >= 0)
    start, end = start[near], end[near]
    return GraphMatrix(
        stamp=arrays.stamp(connection, view.scopes),
        graph=mention_graph(
            len(memory_ids),
            len(concept_ids),
            Pairs(memory, concept, weight),
            edges=Pairs(source, target, edges.weight),
            neighbours=Pairs(start, end, arcs.weight[near]),
        ),
        memory_ids=memory_ids,
        concept_ids=concept_ids,
        title_memory=memory[titled].astype(np.int32),
        title_concept=concept[titled].astype(np.int32),
        relations=edges.relations,
        edge_source=source.astype(np.int32),
        edge_target=target.astype(np.int32),
        edge_relation=edges.relation,
        edge_weight=edges.weight,
        edge_id=edges.id,
        memory_scope=scope,
        scopes=memories.names,
        namesake_id=others,
        namesake_of=first,
        arc_source=start.astype(np.int32),
        arc_target=end.astype(np.int32),
        arc_weight=arcs.weight[near],
        arc_kind=arcs.kind[near],
    )


def hub_factors(memory: NDArray[Any], concept: NDArray[Any], scope: NDArray[Any], concepts: int) -> NDArray[np.float32]:
    """Give each mention's factor: ``ln(memories / mentioning) / ln 20`` in the memory's scope, between 0.05 and 1.

    Parameters
    ----------
    memory, concept : arrays of int
        The mentions.
    scope : array of int
        The number of every memory's scope.
    concepts : int
        How many concepts there are.

    Examples
    --------
    Of 1,000 memories all mention concept 0, and 100 mention concept 1:

    >>> memory, concept = np.append(np.arange(1000), np.arange(100)), np.repeat([0, 1], [1000, 100])
    >>> hub_factors(memory, concept, np.zeros(1000, int), 2)[[0, -1]].round(2)
    array([0.05, 0.77], dtype=float32)
    """
    if not len(memory):
        return np.zeros(0, np.float32)
    sizes = np.bincount(scope)
    group = scope[memory].astype(np.int64) * concepts + concept
    if len(sizes) * concepts <= DENSE * len(group):
        mentioning = np.bincount(group)[group]
    else:
        _, place, count = np.unique(group, return_inverse=True, return_counts=True)
        mentioning = count[place]
    factor = np.log(sizes[scope[memory]] / mentioning) / np.log(SHARE)
    return np.where(mentioning <= FEW, 1.0, np.clip(factor, LEAST, 1)).astype(np.float32)


def _nodes_of(others: NDArray[np.int64], first: NDArray[np.int64], ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """The ids of the nodes of concepts: their own, or that of the first concept of the same name."""
    if not len(others):
        return ids
    at = positions(others, ids)
    return np.where(at >= 0, first[at], ids)


def positions(ascending: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the places of ids among ascending ids; -1 for those that are not among them.

    Examples
    --------
    >>> positions(np.array([3, 5, 9]), np.array([9, 4, 3])).tolist()
    [2, -1, 0]
    """
    if not len(ascending):
        return np.full(len(wanted), -1, np.int64)
    first, last = int(ascending[0]), int(ascending[-1])
    if last - first <= SPARSE * len(ascending) and len(wanted) > 1000:
        # A table is several times quicker than a search in each of many rows.
        table = np.full(last - first + 1, -1, np.int64)
        table[ascending - first] = np.arange(len(ascending))
        inside = (wanted >= first) & (wanted <= last)
        return np.where(inside, table[np.where(inside, wanted - first, 0)], -1)
    place = np.searchsorted(ascending, wanted)
    place[place == len(ascending)] = 0
    return np.where(ascending[place] == wanted, place, -1)
