"""The graph as a walk needs it: frozen values, loaded in bulk, kept while the version of what they show stands."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopgate.graph.walk.walk_graph import WalkGraph, mention_graph
from hopgate.store.graph import arrays, version
from hopgate.store.graph.arrays import Links, Stamp
from hopgate.store.graph.concept_rows import TITLED
from hopgate.store.graph.visible import View
from hopgate.store.rows import Connection

if TYPE_CHECKING:
    from hopgate.store.store import Store

Ids = NDArray[np.int64]
WHOLE = View()
# A concept in up to a twentieth of a scope's memories is no hub, nor is one in up to five. Measured with the neighbours
# of memories (docs/measurements.md): musique and 2wiki stay as they are, locomo gains up to 0.01.
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
    """

    stamp: Stamp
    graph: WalkGraph
    memory_ids: Ids
    concept_ids: Ids
    # Every memory's scope as a place in `scopes`, which has "" for those without one.
    memory_scope: NDArray[np.int32]
    scopes: tuple[str, ...]
    # By the numbers of memories and concepts: the memories that are titled with a concept's name, and that concept; the
    # typed edges, by their relations; and the arcs between memories of one scope.
    titles: Links
    edges: Links
    arcs: Links
    # Concepts of equal name are one node over all scopes: the ids of the others, ascending, and the node's own.
    namesake_id: Ids
    namesake_of: Ids

    def __post_init__(self) -> None:
        for array in self._arrays():
            array.setflags(write=False)

    def _arrays(self) -> list[NDArray[Any]]:
        arrays_held: list[NDArray[Any]] = [value for value in vars(self).values() if isinstance(value, np.ndarray)]
        for links in (self.titles, self.edges, self.arcs):
            arrays_held += [links.source, links.target, links.weight, links.kind, links.id]
        return arrays_held

    @property
    def bytes(self) -> int:
        """What it occupies: its arrays, and its graph with what a solver makes of it."""
        graph = self.graph
        return sum(array.nbytes for array in (*self._arrays(), *[graph.indptr, graph.indices, graph.weights] * 3))

    def memories(self, ids: ArrayLike) -> Ids:
        """Number memories by their ids; -1 for those that this view does not have."""
        return positions(self.memory_ids, np.asarray(ids, np.int64))

    def concepts(self, ids: ArrayLike) -> Ids:
        """Number concepts by their ids, from 0; -1 for those that this view does not have."""
        return positions(self.concept_ids, _nodes_of(self.namesake_id, self.namesake_of, np.asarray(ids, np.int64)))

    def allowed(
        self,
        scopes: Collection[str] | None = None,
        concepts: ArrayLike | None = None,
        exclude: Sequence[int] = (),
        among: ArrayLike | None = None,
    ) -> NDArray[np.bool_] | None:
        """Which memories are of some scopes, talk about one of some concepts and are among some; None for all."""
        has_others = scopes is not None and not set(self.scopes) <= set(scopes)
        if not exclude and concepts is None and among is None and not has_others:
            return None
        allowed = np.ones(len(self.memory_ids), dtype=bool)
        if scopes is not None and has_others:
            allowed = np.isin(self.memory_scope, [at for at, scope in enumerate(self.scopes) if scope in scopes])
        if concepts is not None:
            places = self.concepts(concepts)
            wanted = np.zeros(self.graph.nodes)
            wanted[self.graph.memories + places[places >= 0]] = 1
            allowed &= self.graph.matrix[: self.graph.memories] @ wanted > 0
        if among is not None:
            allowed &= np.isin(self.memory_ids, np.asarray(among, np.int64))
        places = self.memories(exclude)
        allowed[places[places >= 0]] = False
        return allowed

    def edge_rows(self, ids: ArrayLike) -> Ids:
        """Rows of the edges by the edges' ids; -1 for those that this view does not have."""
        return positions(self.edges.id, np.asarray(ids, np.int64))

    def edges_between(self, first: int, second: int) -> list[int]:
        """Rows of the edges that join two concepts, in either direction."""
        source, target = self.edges.source, self.edges.target
        ways = (source == first) & (target == second) | (source == second) & (target == first)
        return np.flatnonzero(ways).tolist()


def load_matrix(connection: Connection, view: View = WHOLE, *, superseded: bool = False) -> GraphMatrix:
    """Load the graph, or that of some scopes, in bulk.

    The transaction should be a snapshot (`Store.snapshot`), so that version and rows agree. Without an as-of past edges
    take part: "where did she work before" is a question like any other. Superseded memories do only if asked for.
    """
    memory_ids, scope, scopes = arrays.memory_scopes(connection, view, superseded=superseded)
    namesake_ids, node_ids = arrays.namesakes(connection, view)
    concept_ids = np.setdiff1d(arrays.concept_ids(connection, view), namesake_ids)
    memory = partial(positions, memory_ids)

    def concept(ids: Ids) -> Ids:
        return positions(concept_ids, _nodes_of(namesake_ids, node_ids, ids))

    # Mentions and arcs of memories that the view does not show are among them.
    mentions = _placed(arrays.mentions(connection, view), memory, concept)
    edges = _placed(arrays.edges(connection, view), concept, concept)
    arcs = _placed(arrays.arcs(connection, view.scopes), memory, memory)
    weight = mentions.weight * hub_factors(mentions.source, mentions.target, scope, len(concept_ids))
    return GraphMatrix(
        stamp=arrays.stamp(connection, view.scopes),
        graph=mention_graph(
            len(memory_ids), len(concept_ids), replace(mentions, weight=weight), edges=edges, neighbours=arcs
        ),
        memory_ids=memory_ids,
        concept_ids=concept_ids,
        memory_scope=scope,
        scopes=scopes,
        titles=mentions.where(mentions.are(TITLED)),
        edges=edges,
        arcs=arcs,
        namesake_id=namesake_ids,
        namesake_of=node_ids,
    )


Place = Callable[[Ids], Ids]


def _placed(links: Links, source: Place, target: Place) -> Links:
    """Links by the numbers of their ends, where both have one."""
    placed = replace(links, source=source(links.source), target=target(links.target))
    return placed.where((placed.source >= 0) & (placed.target >= 0))


def hub_factors(memory: NDArray[Any], concept: NDArray[Any], scope: NDArray[Any], concepts: int) -> NDArray[np.float32]:
    """Give each mention's factor: ``ln(memories / mentioning) / ln 20`` in the memory's scope, between 0.05 and 1."""
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


def _nodes_of(namesake_ids: Ids, node_ids: Ids, ids: Ids) -> Ids:
    """The ids of the nodes of concepts: their own, or that of the first concept of the same name."""
    if not len(namesake_ids):
        return ids
    at = positions(namesake_ids, ids)
    return np.where(at >= 0, node_ids[at], ids)


def positions(ascending: Ids, wanted: Ids) -> Ids:
    """Give the places of ids among ascending ids; -1 for those that are not among them."""
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


# Kept matrices.

# One of 20,000 memories takes 20 MB, and is read in 65 ms; one of 200,000 takes 200 MB and 0.8 s.
MOST_BYTES = 256_000_000
# So long a recall waits for what this process itself wrote.
PATIENCE_S = 1.0
# Matrices that are read at once.
READERS = 2


Key = tuple[View, bool]
"""Which matrix: what of the graph is walked, and whether superseded memories are."""


class MatrixCache:
    """Gives a matrix at once where there is one, also where it is a little old.

    A matrix is current while the stamp of its scopes' version stands. One that another process's write made old is
    given all the same, and read again by a thread meanwhile: the graph leg cannot see memories that it lacks,
    which fusion knows. What this process itself wrote is waited for, for `PATIENCE_S` at most. Matrices are frozen, so
    that readers in other threads go on with the one they have.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[Key, GraphMatrix] = OrderedDict()
        self._loading: dict[Key, Future[GraphMatrix]] = {}
        self._touching = threading.Lock()
        self._readers: ThreadPoolExecutor | None = None

    def get(
        self, connection: Connection, view: View = WHOLE, *, superseded: bool = False, fresh: bool = False
    ) -> GraphMatrix:
        """Give a matrix; one of the present version where it must be `fresh`, as in an evaluation."""
        key = view, superseded
        stamp = arrays.stamp(connection, view.scopes)
        with self._touching:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
        if kept is not None and kept.stamp.is_current(stamp):
            return kept
        needed = fresh or kept is None or kept.stamp.version >= stamp.version
        since = () if kept is None else range(kept.stamp.version + 1, stamp.version + 1)
        is_ours = any(written in since for written in version.written_here(connection))
        loading = self._reload(key, anew=needed or is_ours)
        if needed or kept is None:
            return loading.result()
        if is_ours:
            wait([loading], PATIENCE_S)
            with self._touching:
                return self._kept.get(key, kept)
        return kept

    def close(self) -> None:
        """Wait for what is being read; nothing more is."""
        with self._touching:
            readers, self._readers = self._readers, None
        if readers is not None:
            readers.shutdown()

    def _reload(self, key: Key, *, anew: bool) -> Future[GraphMatrix]:
        """Have a matrix read, by a reading that has not begun yet where it must see what is there now."""
        with self._touching:
            last = self._loading.get(key)
            if last is not None and not last.done() and not (anew and last.running()):
                return last
            if self._readers is None:
                self._readers = ThreadPoolExecutor(READERS, "hopgate-matrix")
            self._loading[key] = made = self._readers.submit(self._read, key)
            return made

    def _read(self, key: Key) -> GraphMatrix:
        view, superseded = key
        with self._store.snapshot() as snapshot:
            stamp = arrays.stamp(snapshot, view.scopes)
            with self._touching:
                kept = self._kept.get(key)
            if kept is not None and kept.stamp.is_current(stamp):
                # While this one was asked for, another reading ended.
                return kept
            matrix = load_matrix(snapshot, view, superseded=superseded)
        with self._touching:
            later = self._kept.get(key)
            if later is not kept and later is not None and later.stamp.is_current(stamp):
                return later
            self._kept[key] = matrix
            self._kept.move_to_end(key)
            while len(self._kept) > 1 and sum(matrix.bytes for matrix in self._kept.values()) > MOST_BYTES:
                self._kept.popitem(last=False)
        return matrix
