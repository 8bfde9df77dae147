"""Where the walks of a query start: the base's hits, statements, names in the query and the nearest facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hopgate.graph.names.links import concepts_in
from hopgate.graph.walk.matrix import GraphMatrix, positions
from hopgate.graph.walk.seeds import NearFact, Seeding, Starts, memory_mass, starts
from hopgate.recall.filters import Filters
from hopgate.store.graph import graph_vectors, statement_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psycopg import Connection


class Seeded(NamedTuple):
    """What a query found to start from."""

    names: list[int]
    facts: list[NearFact]
    mass: dict[int, float]
    linked: dict[int, int]
    starts: Starts

    @property
    def blind(self) -> frozenset[int]:
        """Where walks should start and cannot: memories that the graph does not have."""
        return frozenset(self.mass.keys() - self.linked.keys())


def find_seeds(
    connection: Connection[Any],
    matrix: GraphMatrix,
    query: str,
    vector: NDArray[np.float32] | None,
    base: Sequence[tuple[int, float]],
    legs: Mapping[str, Sequence[tuple[int, float]]],
    filters: Filters,
    seeding: Seeding,
) -> Seeded:
    """Find where walks start: hits of the base, statements, concepts the query names, and the nearest facts."""
    graph = matrix.graph
    names = [int(at) for at in matrix.concepts(concepts_in(connection, query)) if at >= 0]
    facts: list[NearFact] = []
    stated: list[tuple[int, float]] = []
    if vector is not None:
        dense = legs.get("dense") or ()
        floor = dense[0][1] - seeding.fact_floor if dense else -1.0
        facts = [
            fact
            for fact in _near_facts(connection, matrix, vector, filters, seeding.near_facts)
            if fact.similarity >= floor
        ]
        condition, parameters = filters.sql()
        if seeding.statements:
            stated = statement_rows.near(
                connection, vector, seeding.near_statements, condition=condition, parameters=parameters,
                as_of=filters.as_of,
            )  # fmt: skip
    mass = memory_mass(base, stated, seeding)
    places = dict(zip(mass, matrix.memories(list(mass)).tolist(), strict=True))
    linked = {memory: at for memory, at in places.items() if at >= 0 and not graph.dangling[at]}
    inside = {at: mass[memory] for memory, at in linked.items()}
    found = starts(graph, memories=inside, names=names, facts=facts, seeding=seeding)
    return Seeded(names, facts, mass, linked, found)


def _near_facts(
    connection: Connection[Any], matrix: GraphMatrix, vector: NDArray[np.float32], filters: Filters, most: int
) -> list[NearFact]:
    """The facts nearest the query's vector, of the scope's where it has one."""
    among = None if filters.scope is None else matrix.edge_id.tolist()
    found = graph_vectors.near_facts(
        connection,
        vector,
        most,
        as_of=filters.as_of,
        known_at=filters.known_at,
        among=among,
    )
    order = matrix.edge_id.argsort()
    rows = positions(matrix.edge_id[order], np.array([edge for edge, _ in found], np.int64))
    return [
        NearFact(int(matrix.edge_source[order[row]]), int(matrix.edge_target[order[row]]), cosine, edge)
        for row, (edge, cosine) in zip(rows, found, strict=True)
        if row >= 0
    ]
