"""Where the walks of a query start: the base's hits, statements, names in the query and the nearest facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hopgate.graph.names.links import concepts_in
from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.mixed_ranking import QuerySeeds
from hopgate.graph.walk.seeds import Seeding, memory_mass
from hopgate.recall.filters import Filters
from hopgate.store.graph import graph_vectors, statement_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection


def find_seeds(
    connection: Connection[Any],
    matrix: GraphMatrix,
    query: str,
    vector: NDArray[np.float32] | None,
    base: Sequence[tuple[int, float]],
    legs: Mapping[str, Sequence[tuple[int, float]]],
    filters: Filters,
    seeding: Seeding,
    *,
    near: int,
) -> QuerySeeds:
    """Find where walks start: hits of the base, statements, concepts the query names, and so many nearest facts."""
    facts: list[tuple[int, float]] = []
    stated: list[tuple[int, float]] = []
    if vector is not None:
        dense = legs.get("dense") or ()
        floor = dense[0][1] - seeding.fact_floor if dense else -1.0
        if matrix.own is None:
            # Of a shuffle's part, or of a whole graph that scopes share.
            among = None if filters.scope is None else matrix.edge_id.tolist()
            found = graph_vectors.near_facts(
                connection, vector, near, as_of=filters.as_of, known_at=filters.known_at, among=among
            )
        else:
            # Which of these edges hold was decided by this scope's facts; of equally near ones the first here is first.
            place = {int(edge): at for at, edge in enumerate(matrix.edge_id)}
            cosines = graph_vectors.fact_cosines(connection, vector, [edge for edge in place if edge > 0])
            found = sorted(cosines.items(), key=lambda fact: (-fact[1], place[fact[0]]))[:near]
        facts = [(edge, cosine) for edge, cosine in found if cosine >= floor]
        condition, parameters = filters.sql()
        if seeding.statements:
            stated = statement_rows.near(
                connection, vector, seeding.near_statements, condition=condition, parameters=parameters,
                as_of=filters.as_of,
            )  # fmt: skip
    named = concepts_in(connection, query) if matrix.own is None else matrix.own.concepts_in(query)
    return QuerySeeds(named, facts, memory_mass(base, stated, seeding))
