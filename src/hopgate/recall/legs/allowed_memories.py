"""Which memories of a graph may be returned for a query."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hopgate.graph.walk.matrix import GraphMatrix
    from hopgate.recall.filters import Filters


def allowed_memories(matrix: GraphMatrix, filters: Filters) -> NDArray[np.bool_] | None:
    """Which memories may be returned: not those in context already, nor of another scope; none for all.

    With a cluster, only those that are linked to its concepts.
    """
    import numpy as np

    others = filters.scopes is not None and not set(matrix.scopes) <= set(filters.scopes)
    if not filters.exclude and filters.concepts is None and not others:
        return None
    allowed = np.ones(len(matrix.memory_ids), dtype=bool)
    if filters.scopes is not None and others:
        asked = [number for number, scope in enumerate(matrix.scopes) if scope in filters.scopes]
        allowed = np.isin(matrix.memory_scope, asked)
    if filters.concepts is not None:
        allowed &= matrix.linked_to(filters.concepts)
    places = matrix.memories(filters.exclude)
    allowed[places[places >= 0]] = False
    return allowed
