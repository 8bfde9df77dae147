"""The graph leg: seed concepts from the query, a walk, memories ranked; the base legs' hits among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopgate.recall.filters import Filters
from hopgate.store import graph_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

    from hopgate.graph.matrix import GraphMatrix
    from hopgate.graph.seed import Restart
    from hopgate.graph.walk import Walk
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
    """

    def __init__(self, store: Store, directory: Path | None = None, walk: Walk | None = None) -> None:
        from hopgate.graph.cache import MatrixCache
        from hopgate.graph.walk import Walk

        self._store = store
        self._matrices = MatrixCache(store, directory)
        self.walk = walk or Walk()

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
        from hopgate.graph.matrix import MatrixConfig
        from hopgate.graph.walk import rank_memories

        config = MatrixConfig(as_of=filters.as_of, known_at=filters.known_at, superseded=filters.superseded)
        with self._store.transaction() as connection:
            matrix = self._matrices.get(config, connection)
            if not len(matrix.concept_ids):
                return [], None
            near: Hits = []
            if vector is not None:
                near = legs["dense"] if "dense" in legs else dense(connection, vector, filters, depth)
            start = self._start(connection, matrix, query, vector, near, filters)
            allowed = self._allowed(connection, matrix, filters)
        walk = replace(self.walk, depth=depth)
        ranked = rank_memories(matrix.graph, start, walk, allowed=allowed)
        return [(int(matrix.memory_ids[node]), score) for node, score in ranked], Walked(matrix, start, walk)

    def explain(self, walked: Walked, memory_id: int) -> tuple[str, ...]:
        """Tell the strongest path to a memory: seed concept, relation, concept, … memory, with evidence."""
        from hopgate.graph.explain import path_in_words

        with self._store.transaction() as connection:
            return path_in_words(connection, walked.matrix, walked.start, memory_id, damping=walked.walk.damping)

    def _start(
        self,
        connection: Connection[Any],
        matrix: GraphMatrix,
        query: str,
        vector: NDArray[np.float32] | None,
        near: Hits,
        filters: Filters,
    ) -> Restart:
        from hopgate.graph.linking import spotted
        from hopgate.graph.seed import NearFact, restart

        names = matrix.concepts(spotted(connection, query))
        facts: list[NearFact] = []
        if vector is not None:
            found = graph_vectors.near_facts(
                connection, vector, self.walk.seeding.near_facts, as_of=filters.as_of, known_at=filters.known_at
            )
            sources, targets = (matrix.concepts([row[at] for row in found]) for at in (1, 2))
            facts = [
                NearFact(int(source), int(target), row[3], row[0])
                for row, source, target in zip(found, sources, targets, strict=True)
                if source >= 0 and target >= 0
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
