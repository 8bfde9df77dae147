"""What a query finds to start walks from: names, near facts and near statements, in one round trip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.store.graph import graph_vectors, name_rows, statement_rows
from hopgate.store.graph.name_rows import NameRow
from hopgate.store.graph.visible import View

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection


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
    view: View,
    exact: bool = False,
    exact_facts: bool = False,
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
    view : View
        Whose names and facts.
    exact_facts : bool
        Whether every fact in view is compared: where there are few, that is as quick as the index, which does not know
        whose they are.
    condition, parameters : str, mapping
        Which memories' statements; sensitive ones have none.
    """
    every_fact = exact or exact_facts
    with connection.pipeline():
        named = connection.execute(*name_rows.with_normals(normals, view.graph_scopes))
        if vector is None:
            return SeedRows([NameRow(*row) for row in named], [], [])
        of_facts = partial(graph_vectors.facts_near, vector, facts, view)
        of_statements = partial(
            statement_rows.statements_near,
            vector,
            statements,
            condition=condition,
            parameters=parameters,
            as_of=view.as_of,
        )
        if not exact:
            connection.execute(*graph_vectors.search_width(max(facts, statements)))
        near = connection.execute(*of_facts(exact=every_fact))
        stated = connection.execute(*of_statements(exact=exact))
        names, found, told = [NameRow(*row) for row in named], near.fetchall(), stated.fetchall()
    # An index gives up before the filters are satisfied where these let little through: then all of that is compared.
    if not every_fact and len(found) < facts:
        found = connection.execute(*of_facts(exact=True)).fetchall()
    if not exact and len(told) < statements:
        told = connection.execute(*of_statements(exact=True)).fetchall()
    return SeedRows(names, sorted(found, key=_nearest_first)[:facts], told)


def _nearest_first(fact: tuple[int, float]) -> tuple[float, int]:
    return -fact[1], fact[0]
