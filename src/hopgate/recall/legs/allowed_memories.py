"""Which memories of a graph may be returned for a query."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hopgate.graph.walk.matrix import GraphMatrix
    from hopgate.graph.walk.scope_graph import ScopeSight
    from hopgate.recall.filters import Filters


def allowed_memories(
    matrix: GraphMatrix, filters: Filters, sight: ScopeSight | None = None
) -> NDArray[np.bool_] | None:
    """Which memories may be returned: not those in context already, nor of a whole graph another scope's; none for all.

    With a cluster, only those that are linked to its concepts.
    """
    import numpy as np

    if not filters.exclude and sight is None and filters.concepts is None and filters.among is None:
        return None
    allowed = np.ones(len(matrix.memory_ids), dtype=bool)
    if sight is not None:
        allowed = np.isin(matrix.memory_ids, np.fromiter(sight.memory_ids, np.int64, len(sight.memory_ids)))
    if filters.concepts is not None:
        allowed &= matrix.linked_to(filters.concepts)
    if filters.among is not None:
        allowed &= np.isin(matrix.memory_ids, np.array(filters.among, np.int64))
    places = matrix.memories(filters.exclude)
    allowed[places[places >= 0]] = False
    return allowed
