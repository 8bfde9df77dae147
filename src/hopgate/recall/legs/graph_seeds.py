"""Where the walks of a query start: the base's hits, statements, names in the query and the nearest facts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.graph.links import concepts_in, name_runs
from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.rank import QuerySeeds
from hopgate.graph.walk.seeds import (
    FACT_FLOOR,
    NEAR_FACTS,
    NEAR_STATEMENTS,
    by_cosine,
    memory_mass,
    share_without_neighbours,
)
from hopgate.recall.completion import BASE_FUSER
from hopgate.recall.filters import Filters
from hopgate.store import setting_rows
from hopgate.store.graph import edge_rows, graph_vectors
from hopgate.store.graph.visible import View

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection


# Of a scope with no more edges than this each fact is compared: 10 ms.
COMPARED_FACTS = 20_000
# Most queries hold none of these, and reading times takes the months of every language, which a recall does without.
_MAY_SAY_WHEN = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)|\bbefore\b", re.IGNORECASE)


class LookedUp(NamedTuple):
    """What the graph leg asks the store for a query; it does not depend on the base, and so runs beside it.

    Parameters
    ----------
    matrix : GraphMatrix
        The graph that is walked: at this time, and of these scopes.
    concepts : list of int
        What the query names.
    facts, statements : list of (int, float)
        The nearest facts, and the memories of the nearest statements, with their cosines, best first.
    as_of, asked : datetime, str
        As of when, and why, where the query itself says so.
    """

    matrix: GraphMatrix
    concepts: Sequence[int] = ()
    facts: Sequence[tuple[int, float]] = ()
    statements: Sequence[tuple[int, float]] = ()
    as_of: datetime | None = None
    asked: str = ""


def look_up(
    connection: Connection[Any],
    matrix: GraphMatrix,
    query: str,
    vector: NDArray[np.float32] | None,
    filters: Filters,
    *,
    exact: bool = False,
) -> LookedUp:
    """Look up the concepts that a query names, the nearest facts, and the nearest statements.

    Parameters
    ----------
    exact : bool
        Whether every fact and statement is compared; otherwise an index is asked where there is one.
    """
    if not matrix.graph.arcs:
        return LookedUp(matrix)
    condition, parameters = filters.sql()
    shared = setting_rows.scopes(connection) == setting_rows.SHARED
    scopes = None if filters.scopes is None else tuple(filters.scopes)
    found = graph_vectors.read_seeds(
        connection,
        name_runs([query]),
        vector,
        facts=NEAR_FACTS,
        statements=NEAR_STATEMENTS,
        view=View(scopes, filters.as_of, filters.known_at, shared),
        exact=exact,
        exact_facts=scopes is not None and len(matrix.edge_id) <= COMPARED_FACTS,
        condition=condition,
        parameters=parameters,
    )
    return LookedUp(matrix, concepts_in(query, found.names), found.facts, found.statements)


def query_seeds(
    found: LookedUp, base: Sequence[tuple[int, float]], legs: Mapping[str, Sequence[tuple[int, float]]]
) -> QuerySeeds:
    """Give where walks start: hits of the base and of statements, what the query names, and facts that are near enough.

    A fact is not where it lies too far below the nearest memory. Of hits without neighbours cosines count as they are.
    """
    dense = legs.get("dense") or ()
    floor = dense[0][1] - FACT_FLOOR if dense else -1.0
    facts = [(edge, cosine) for edge, cosine in found.facts if cosine >= floor]
    part = share_without_neighbours(found.matrix, memory_mass(base))
    base = by_cosine(base, dict(dense), part, dense=BASE_FUSER.dense)
    return QuerySeeds(list(found.concepts), facts, memory_mass(base, found.statements))


def asked_as_of(connection: Connection[Any], found: LookedUp, query: str) -> tuple[datetime | None, str]:
    """Give an as-of where the query says one and what it names had changed; and why, in words."""
    if not _MAY_SAY_WHEN.search(query):
        return None, ""
    from hopgate.recall.legs.query_time import as_of, asked_time

    asked = asked_time(query)
    if asked is None:
        return None, ""
    held = list(edge_rows.intervals(connection, found.concepts).values())
    moment = as_of(asked, held)
    return moment, "" if moment is None else f"{moment:%Y-%m-%d}, because the query says “{asked.words}”"
