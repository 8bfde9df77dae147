"""What a query finds to start walks from: names, near facts and near statements, in one round trip."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.store.graph import graph_vectors, name_rows, statement_rows
from hopgate.store.graph.name_rows import NameRow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

# A large scope's facts are some of all: so many times as many as are asked for are taken from the index, and where too
# few of them are the scope's, all of its facts are compared. Those of a small scope are compared at once.
WIDER = 5


class SeedRows(NamedTuple):
    """Names by their normal forms, the nearest facts as (edge, cosine) and the memories of the nearest statements."""

    names: list[NameRow]
    facts: list[tuple[int, float]]
    statements: list[tuple[int, float]]


def read(
    connection: Connection[Any],
    normals: Sequence[str],
    vector: NDArray[np.float32] | None,
    *,
    facts: int,
    statements: int,
    exact: bool = False,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    among: Collection[int] | None = None,
    condition: str = "true",
    parameters: Mapping[str, Any] = MappingProxyType({}),
) -> SeedRows:
    """Look up names, facts and statements; the statements travel together, so that the way is gone once.

    Parameters
    ----------
    normals : sequence of str
        Normal forms that names may have.
    vector : array, optional
        The query's vector; without one there are neither facts nor statements.
    facts, statements : int
        How many of each.
    exact : bool
        Whether every vector is compared; otherwise an index is asked where there is one.
    as_of, known_at : datetime, optional
        Only facts that were true then, and known then.
    among : collection of int, optional
        Only these edges: those of a scope.
    condition, parameters : str, mapping
        Which memories' statements; sensitive ones have none.
    """
    few = among is not None and len(among) <= graph_vectors.EXACT_BELOW
    every_fact = exact or few
    with connection.pipeline():
        named = connection.execute(*name_rows.with_normals(normals))
        if vector is None:
            return SeedRows([NameRow(*row) for row in named], [], [])
        of_facts = partial(graph_vectors.facts_near, vector, as_of=as_of, known_at=known_at)
        of_statements = partial(
            statement_rows.statements_near, vector, statements, condition=condition, parameters=parameters, as_of=as_of
        )
        if not exact:
            connection.execute(*graph_vectors.search_width(max(facts, statements)))
        many = facts if every_fact or among is None else WIDER * facts
        near = connection.execute(*of_facts(many, exact=every_fact, among=among if every_fact else None))
        stated = connection.execute(*of_statements(exact=exact))
        names, found, told = [NameRow(*row) for row in named], near.fetchall(), stated.fetchall()
    # An index gives up before the filters are satisfied where these let little through: then all of that is compared.
    if not every_fact:
        found = [(edge, cosine) for edge, cosine in found if among is None or edge in among]
        if len(found) < facts:
            found = connection.execute(*of_facts(facts, exact=True, among=among)).fetchall()
    if not exact and len(told) < statements:
        told = connection.execute(*of_statements(exact=True)).fetchall()
    return SeedRows(names, sorted(found, key=_nearest_first)[:facts], told)


def _nearest_first(fact: tuple[int, float]) -> tuple[float, int]:
    return -fact[1], fact[0]
