"""Where the walks of a query start: the base's hits, statements, names in the query and the nearest facts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.graph.links import concepts_in, name_runs
from hopgate.graph.walk.lone_hits import alone, by_cosine
from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.mixed_ranking import QuerySeeds
from hopgate.graph.walk.seeds import Seeding, memory_mass
from hopgate.recall.completion import BASE_FUSER
from hopgate.recall.filters import Filters
from hopgate.store.graph import edge_rows, graph_vectors, seed_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

    from hopgate.graph.walk.scope_graph import ScopeSight


# Most queries hold none of these, and reading times takes the months of every language, which a recall does without.
_MAY_SAY_WHEN = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)|\bbefore\b", re.IGNORECASE)


class LookedUp(NamedTuple):
    """What the graph leg asks the store for a query; it does not depend on the base, and so runs beside it.

    Parameters
    ----------
    whole, matrix : GraphMatrix
        The graph at this time, and the scope's part of it; both are the part where no more was read.
    concepts : list of int
        What the query names.
    facts, statements : list of (int, float)
        The nearest facts, and the memories of the nearest statements, with their cosines, best first.
    as_of, asked : datetime, str
        As of when, and why, where the query itself says so.
    sight : ScopeSight, optional
        What may be shown of a walk that passes through other scopes.
    """

    whole: GraphMatrix
    matrix: GraphMatrix
    concepts: Sequence[int] = ()
    facts: Sequence[tuple[int, float]] = ()
    statements: Sequence[tuple[int, float]] = ()
    as_of: datetime | None = None
    asked: str = ""
    sight: ScopeSight | None = None


def look_up(
    connection: Connection[Any],
    whole: GraphMatrix,
    matrix: GraphMatrix,
    query: str,
    vector: NDArray[np.float32] | None,
    filters: Filters,
    seeding: Seeding,
    *,
    near: int,
    exact: bool = False,
) -> LookedUp:
    """Look up the concepts that a query names, so many nearest facts, and the nearest statements.

    Parameters
    ----------
    exact : bool
        Whether every fact and statement is compared; otherwise an index is asked where there is one.
    """
    if not matrix.graph.arcs:
        return LookedUp(whole, matrix)
    condition, parameters = filters.sql()
    found = seed_rows.read(
        connection,
        name_runs([query]) if matrix.own is None else (),
        vector,
        facts=near if matrix.own is None else 0,
        statements=seeding.near_statements if seeding.statements else 0,
        exact=exact,
        as_of=filters.as_of,
        known_at=filters.known_at,
        among=None if filters.scope is None else matrix.edge_ids,
        condition=condition,
        parameters=parameters,
    )
    if matrix.own is None:
        # Of a shuffle's part, or of a whole graph that scopes share.
        return LookedUp(whole, matrix, concepts_in(query, found.names), found.facts, found.statements)
    # Which of these edges hold was decided by this scope's facts; of equally near ones the first here is first.
    facts: list[tuple[int, float]] = []
    if vector is not None:
        embedded = matrix.own.embedded
        cosines = graph_vectors.fact_cosines(connection, vector, [*{*embedded.values()}])
        shown = matrix.edge_ids
        known = [(edge, cosines[key]) for edge, key in embedded.items() if key in cosines and edge in shown]
        facts = sorted(known, key=lambda fact: -fact[1])[:near]
    return LookedUp(whole, matrix, matrix.own.concepts_in(query), facts, found.statements)


def query_seeds(
    found: LookedUp,
    base: Sequence[tuple[int, float]],
    legs: Mapping[str, Sequence[tuple[int, float]]],
    seeding: Seeding,
) -> QuerySeeds:
    """Give where walks start: hits of the base and of statements, what the query names, and facts that are near enough.

    A fact is not where it lies too far below the nearest memory. Of hits without neighbours cosines count as they are.
    """
    dense = legs.get("dense") or ()
    floor = dense[0][1] - seeding.fact_floor if dense else -1.0
    facts = [(edge, cosine) for edge, cosine in found.facts if cosine >= floor]
    part = alone(found.matrix, memory_mass(base, seeding=seeding))
    base = by_cosine(base, dict(dense), part, dense=BASE_FUSER.dense, seeding=seeding)
    return QuerySeeds(list(found.concepts), facts, memory_mass(base, found.statements, seeding))


def asked_as_of(connection: Connection[Any], found: LookedUp, query: str) -> tuple[datetime | None, str]:
    """Give an as-of where the query says one and what it names had changed; and why, in words."""
    if not _MAY_SAY_WHEN.search(query):
        return None, ""
    from hopgate.recall.legs.query_time import as_of, asked_time

    asked = asked_time(query)
    if asked is None:
        return None, ""
    if (own := found.matrix.own) is not None:
        # Only what this scope's own facts say may tell.
        named = set(found.concepts)
        rows = [edge.row for edge in own.edges if {edge.row.src_id, edge.row.dst_id} & named]
        held = [(row.valid_from, row.valid_to) for row in rows]
    else:
        held = list(edge_rows.intervals(connection, found.concepts).values())
    moment = as_of(asked, held)
    return moment, "" if moment is None else f"{moment:%Y-%m-%d}, because the query says “{asked.words}”"
