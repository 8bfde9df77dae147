"""The graph leg: seed concepts from the query, a walk, memories ranked; the base legs' hits among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.recall.filters import Filters
from hopgate.recall.legs.dense import dense_leg
from hopgate.store import vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

    from hopgate.graph.walk.hops import Hops
    from hopgate.graph.walk.matrix import GraphMatrix
    from hopgate.graph.walk.matrix_cache import MatrixCache
    from hopgate.graph.walk.rank import Walk
    from hopgate.graph.walk.seeds import Restart
    from hopgate.store.store import Store

Leg = list[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class WalkTrace:
    """What it takes to explain or to draw a walk: the graph it saw, where it started, and its configuration."""

    matrix: GraphMatrix
    start: Restart
    walk: Walk


class GraphRanking(NamedTuple):
    """The memories of the graph leg, best first, and the walk that ranked them; none where there is no graph."""

    hits: Leg
    trace: WalkTrace | None


class GraphLeg:
    """Ranks a store's memories by walks over its graph.

    Nothing is loaded before the first `rank`: a recall whose graph leg is off does without NumPy.

    Parameters
    ----------
    store : Store
        Whose graph.
    walk : Walk, optional
        How to seed and to walk; the defaults are measured.
    hops : Hops, optional
        Rank by hops in SQL from the same seeds instead of by the walk.
    shuffle : int, optional
        Walk over a degree-preserving shuffle with this seed: the control of an evaluation.
    """

    def __init__(
        self,
        store: Store,
        walk: Walk | None = None,
        *,
        hops: Hops | None = None,
        shuffle: int | None = None,
    ) -> None:
        self._store = store
        self._walk = walk
        self._hops = hops
        self._shuffle = shuffle
        self._shuffled: tuple[GraphMatrix, GraphMatrix] | None = None

    @property
    def walk(self) -> Walk:
        """How the leg seeds and walks; another may be set, and holds from the next query on."""
        if self._walk is None:
            from hopgate.graph.walk.rank import Walk

            self._walk = Walk()
        return self._walk

    @walk.setter
    def walk(self, walk: Walk) -> None:
        self._walk = walk

    def variant(self, *, hops: Hops | None = None, shuffle: int | None = None) -> GraphLeg:
        """Give another leg over the same store, with the same seeding."""
        return GraphLeg(self._store, self.walk, hops=hops, shuffle=shuffle)

    def rank(
        self,
        query: str,
        vector: NDArray[np.float32] | None,
        legs: Mapping[str, Leg],
        filters: Filters,
        depth: int,
        *,
        exact: bool | None = None,
    ) -> GraphRanking:
        """Walk from what the query names and resembles; empty when nothing seeds.

        Parameters
        ----------
        vector : array, optional
            The query's vector; without one only names in the query seed.
        legs : mapping
            The base legs' hits; the dense ones carry part of the restart, and are found here where that leg was off.
        exact : bool, optional
            Whether dense hits found here are compared with every vector; by default only where there is no index.
        """
        from hopgate.graph.walk.matrix import MatrixConfig
        from hopgate.graph.walk.pagerank import pushes, warm_in_background
        from hopgate.graph.walk.rank import rank_memories

        config = MatrixConfig(as_of=filters.as_of, known_at=filters.known_at, superseded=filters.superseded)
        with self._store.transaction() as connection:
            matrix = self._view(self._matrices.get(config, connection))
            if not len(matrix.concept_ids):
                return GraphRanking([], None)
            near: Leg = []
            if vector is not None and "dense" in legs:
                near = legs["dense"]
            elif vector is not None:
                every = vectors.search_exactly(connection, exact)
                near = dense_leg(connection, vector, filters, depth=depth, exact=every)
            start = self._seed(connection, matrix, query, vector, near, filters)
            if self._hops is not None:
                hits = self._rank_by_hops(connection, matrix, start, filters, depth)
                return GraphRanking(hits, WalkTrace(matrix, start, self.walk))
            allowed = self._allowed(connection, matrix, filters)
        walk = replace(self.walk, depth=depth)
        if pushes(matrix.graph, walk.damping):
            warm_in_background()
        ranked = rank_memories(matrix.graph, start, walk, allowed=allowed)
        hits = [(int(matrix.memory_ids[node]), score) for node, score in ranked]
        return GraphRanking(hits, WalkTrace(matrix, start, walk))

    def rank_from(self, belief: Mapping[int, float], filters: Filters, depth: int) -> GraphRanking:
        """Walk from memories alone, each with the mass that is believed in it: the stage after a cross-encoder.

        A memory that is not in the graph scores what one of its mass got on average, so that it does not lose by that.

        Parameters
        ----------
        belief : mapping of int to float
            Masses of memories by the store's ids; their sum does not matter.
        """
        from hopgate.graph.walk.belief import restart_at
        from hopgate.graph.walk.matrix import MatrixConfig
        from hopgate.graph.walk.rank import rank_memories

        config = MatrixConfig(as_of=filters.as_of, known_at=filters.known_at, superseded=filters.superseded)
        with self._store.transaction() as connection:
            matrix = self._view(self._matrices.get(config, connection))
            allowed = self._allowed(connection, matrix, filters)
        places = dict(zip(belief, matrix.memories(list(belief)).tolist(), strict=True))
        linked = {place: belief[key] for key, place in places.items() if place >= 0}
        walk = replace(self.walk, depth=depth)
        start = restart_at(matrix.graph, linked)
        if not start:
            return GraphRanking([], None)
        hits = [
            (int(matrix.memory_ids[node]), score)
            for node, score in rank_memories(matrix.graph, start, walk, allowed=allowed)
        ]
        kept = sum(score for key, score in hits if key in belief) / sum(linked.values())
        hits += [(key, kept * belief[key]) for key, place in places.items() if place < 0]
        return GraphRanking(sorted(hits, key=lambda hit: (-hit[1], hit[0])), WalkTrace(matrix, start, walk))

    def explain(self, trace: WalkTrace, memory_id: int) -> tuple[str, ...]:
        """Give the strongest path to a memory: seed concept, relation, concept, … memory, with evidence."""
        from hopgate.graph.walk.explain import path_in_words

        with self._store.transaction() as connection:
            return path_in_words(connection, trace.matrix, trace.start, memory_id, damping=trace.walk.damping)

    @cached_property
    def _matrices(self) -> MatrixCache:
        from hopgate.embed.cache import default_directory
        from hopgate.graph.walk.matrix_cache import MatrixCache

        return MatrixCache(self._store, default_directory() / "matrices")

    def _view(self, matrix: GraphMatrix) -> GraphMatrix:
        """The matrix itself, or its shuffle, made once."""
        if self._shuffle is None:
            return matrix
        if self._shuffled is None or self._shuffled[0] is not matrix:
            from hopgate.graph.inspect.shuffle import shuffled
            from hopgate.store.graph.edge_rows import NAME_INSIDE

            self._shuffled = (matrix, shuffled(matrix, self._shuffle, kept_relations=frozenset({NAME_INSIDE})))
        return self._shuffled[1]

    def _seed(
        self,
        connection: Connection[Any],
        matrix: GraphMatrix,
        query: str,
        vector: NDArray[np.float32] | None,
        near: Leg,
        filters: Filters,
    ) -> Restart:
        """Find where the walk starts: concepts the query names, the facts nearest to it, and dense hits."""
        import numpy as np

        from hopgate.graph.names.links import concepts_in
        from hopgate.graph.walk.matrix import positions
        from hopgate.graph.walk.seeds import NearFact, restart
        from hopgate.store.graph import graph_vectors

        names = matrix.concepts(concepts_in(connection, query))
        facts: list[NearFact] = []
        if vector is not None:
            found = graph_vectors.near_facts(
                connection, vector, self.walk.seeding.near_facts, as_of=filters.as_of, known_at=filters.known_at
            )
            order = matrix.edge_id.argsort()
            rows = positions(matrix.edge_id[order], np.array([edge for edge, _ in found], np.int64))
            facts = [
                NearFact(int(matrix.edge_source[order[row]]), int(matrix.edge_target[order[row]]), cosine, edge)
                for row, (edge, cosine) in zip(rows, found, strict=True)
                if row >= 0
            ]
        places = matrix.memories([key for key, _ in near])
        memories = [(int(at), score) for at, (_, score) in zip(places, near, strict=True) if at >= 0]
        return restart(
            matrix.graph,
            names=[int(at) for at in names if at >= 0],
            facts=facts,
            memories=memories,
            seeding=self.walk.seeding,
        )

    def _rank_by_hops(
        self, connection: Connection[Any], matrix: GraphMatrix, start: Restart, filters: Filters, depth: int
    ) -> Leg:
        """Hops know concepts alone, so that a memory's share of the restart goes to the concepts it mentions."""
        import numpy as np

        from hopgate.graph.walk.hops import hop_memories

        split = matrix.graph.memories
        mass = start.vector[split:].copy()
        shared = matrix.graph.matrix[:split, split:]
        mass += np.asarray(shared.T @ (start.vector[:split] / np.maximum(shared.sum(axis=1), 1e-12)))
        seeds = {int(matrix.concept_ids[at]): float(mass[at]) for at in mass.nonzero()[0]}
        condition, parameters = filters.sql()
        return hop_memories(
            connection,
            seeds,
            replace(self._hops, depth=depth) if self._hops else None,
            as_of=filters.as_of,
            known_at=filters.known_at,
            condition=condition,
            parameters=parameters,
        )

    def _allowed(self, connection: Connection[Any], matrix: GraphMatrix, filters: Filters) -> NDArray[np.bool_] | None:
        """Which memories may be returned; the matrix has left out superseded and later ones already."""
        import numpy as np

        if filters.scope is None and not filters.exclude:
            return None
        condition, parameters = filters.sql()
        rows = connection.execute(f"SELECT id FROM memories WHERE {condition}", parameters).fetchall()
        allowed = np.zeros(len(matrix.memory_ids), dtype=bool)
        places = matrix.memories([row[0] for row in rows])
        allowed[places[places >= 0]] = True
        return allowed
