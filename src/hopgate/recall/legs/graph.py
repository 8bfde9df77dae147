"""The graph leg: seed concepts from the query, a walk, memories ranked; the base legs' hits among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopgate.recall.filters import Filters
from hopgate.store.graph import graph_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

    from hopgate.graph.walk.hops import Hops
    from hopgate.graph.walk.matrix import GraphMatrix
    from hopgate.graph.walk.rank import Walk
    from hopgate.graph.walk.seeds import Restart
    from hopgate.store.store import Store

Hits = list[tuple[int, float]]
Dense = Callable[["Connection[Any]", "NDArray[np.float32]", Filters, int], Hits]


@dataclass(frozen=True, slots=True)
class Walked:
    """What a walk needs to be explained: the view of the graph, where it started, and its configuration."""

    matrix: GraphMatrix
    start: Restart
    walk: Walk


class GraphLeg:
    """Ranks a store's memories by walks over its graph.

    Parameters
    ----------
    store : Store
        Whose graph.
    directory : Path, optional
        Where matrices are kept between processes.
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
        directory: Path | None = None,
        walk: Walk | None = None,
        *,
        hops: Hops | None = None,
        shuffle: int | None = None,
    ) -> None:
        from hopgate.graph.walk.matrix_cache import MatrixCache
        from hopgate.graph.walk.rank import Walk

        self._store = store
        self._matrices = MatrixCache(store, directory)
        self.walk = walk or Walk()
        self._hops = hops
        self._shuffle = shuffle
        self._control: tuple[GraphMatrix, GraphMatrix] | None = None

    def variant(self, *, hops: Hops | None = None, shuffle: int | None = None) -> GraphLeg:
        """Give another leg over the same store, with the same seeding."""
        return GraphLeg(self._store, self._matrices.directory, self.walk, hops=hops, shuffle=shuffle)

    def rank(
        self,
        query: str,
        vector: NDArray[np.float32] | None,
        legs: Mapping[str, Hits],
        filters: Filters,
        depth: int,
        dense: Dense,
    ) -> tuple[Hits, Walked | None]:
        """Walk from what the query names and resembles; empty when nothing seeds.

        Parameters
        ----------
        legs : mapping
            The base legs' hits; the dense ones carry part of the restart.
        dense : callable
            Finds dense hits where the dense leg was not run.
        """
        from hopgate.graph.walk.matrix import MatrixConfig
        from hopgate.graph.walk.rank import rank_memories

        config = MatrixConfig(as_of=filters.as_of, known_at=filters.known_at, superseded=filters.superseded)
        with self._store.transaction() as connection:
            matrix = self._viewed(self._matrices.get(config, connection))
            if not len(matrix.concept_ids):
                return [], None
            near: Hits = []
            if vector is not None:
                near = legs["dense"] if "dense" in legs else dense(connection, vector, filters, depth)
            start = self._start(connection, matrix, query, vector, near, filters)
            if self._hops is not None:
                return self._hopped(connection, matrix, start, filters, depth), Walked(matrix, start, self.walk)
            allowed = self._allowed(connection, matrix, filters)
        walk = replace(self.walk, depth=depth)
        ranked = rank_memories(matrix.graph, start, walk, allowed=allowed)
        return [(int(matrix.memory_ids[node]), score) for node, score in ranked], Walked(matrix, start, walk)

    def explain(self, walked: Walked, memory_id: int) -> tuple[str, ...]:
        """Tell the strongest path to a memory: seed concept, relation, concept, … memory, with evidence."""
        from hopgate.graph.walk.explain import path_in_words

        with self._store.transaction() as connection:
            return path_in_words(connection, walked.matrix, walked.start, memory_id, damping=walked.walk.damping)

    def _viewed(self, matrix: GraphMatrix) -> GraphMatrix:
        """The matrix itself, or its shuffle, made once."""
        if self._shuffle is None:
            return matrix
        if self._control is None or self._control[0] is not matrix:
            from hopgate.graph.inspect.shuffle import shuffled
            from hopgate.store.graph.edge_rows import NAME_INSIDE

            self._control = (matrix, shuffled(matrix, self._shuffle, kept_relations=frozenset({NAME_INSIDE})))
        return self._control[1]

    def _hopped(
        self, connection: Connection[Any], matrix: GraphMatrix, start: Restart, filters: Filters, depth: int
    ) -> Hits:
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

    def _start(
        self,
        connection: Connection[Any],
        matrix: GraphMatrix,
        query: str,
        vector: NDArray[np.float32] | None,
        near: Hits,
        filters: Filters,
    ) -> Restart:
        import numpy as np

        from hopgate.graph.names.links import concepts_in
        from hopgate.graph.walk.matrix import positions
        from hopgate.graph.walk.seeds import NearFact, restart

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

    def _allowed(self, connection: Connection[Any], matrix: GraphMatrix, filters: Filters) -> NDArray[np.bool_] | None:
        """Which memories may be returned; the view has left out superseded and later ones already."""
        import numpy as np

        if filters.scope is None and not filters.exclude:
            return None
        condition, parameters = filters.sql()
        rows = connection.execute(f"SELECT id FROM memories WHERE {condition}", parameters).fetchall()
        allowed = np.zeros(len(matrix.memory_ids), dtype=bool)
        places = matrix.memories([row[0] for row in rows])
        allowed[places[places >= 0]] = True
        return allowed
