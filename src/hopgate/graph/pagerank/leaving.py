"""The arcs that leave a few nodes, as arrays: a sparse step that reads no more of the graph than it must."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walkgraph import WalkGraph


def leaving(graph: WalkGraph, nodes: NDArray[np.int64], share: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """List where the nodes' arcs arrive and what each carries: its weight times its node's share.

    Examples
    --------
    >>> from hopgate.graph.walkgraph import edge_graph
    >>> leaving(edge_graph(3, [0, 0], [1, 2], [1, 4]), np.array([0]), np.array([0.5]))
    (array([1, 2]), array([0.5, 2. ]))
    """
    first, count = graph.indptr[nodes].astype(np.int64), graph.degree[nodes]
    ends = np.cumsum(count)
    total = int(ends[-1]) if ends.size else 0
    position = np.arange(total) + np.repeat(first - ends + count, count)
    return graph.indices[position].astype(np.int64), np.repeat(share, count) * graph.weights[position]
