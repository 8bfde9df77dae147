"""One stage of local push compiled by numba, where the extra ``fast`` is installed: a queue, node by node.

Compiling takes seconds and must not delay a recall, so the compiled stage is used only once `warm` has run; until then,
and without numba, `push.numpy_stage` does the same work. It holds no lock and runs on one thread, because numba's
own threads may not be entered from several at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.walk_graph import WalkGraph

Stage = Callable[..., tuple[NDArray[np.int64], int]]
_ready: list[Stage] = []
_started = threading.Event()


def stage() -> Stage | None:
    """Give the compiled stage if `warm` has made it."""
    return _ready[0] if _ready else None


def warm() -> bool:
    """Compile, or load what an earlier run compiled; False where numba is not installed.

    Call it when a graph is loaded, from any thread; calling it again costs nothing.
    """
    if _ready:
        return True
    try:
        import numba
    except ImportError:
        return False
    try:
        kernel = numba.njit(cache=True, nogil=True, fastmath=True)(_stage)
    except RuntimeError:
        # Neither the package's own directory nor the user's cache can be written to.
        kernel = numba.njit(nogil=True, fastmath=True)(_stage)

    def run(
        graph: WalkGraph,
        settled: NDArray[np.float32],
        walking: NDArray[np.float32],
        touched: NDArray[np.int64],
        damping: float,
        epsilon: float,
        budget: int,
    ) -> tuple[NDArray[np.int64], int]:
        reached = np.empty(graph.nodes, np.int64)
        reached[: touched.size] = touched
        arrays = (graph.indptr, graph.indices, graph.weights, graph.light_divisor, settled, walking, reached)
        count, walked = kernel(*arrays, touched.size, np.float32(damping), np.float32(epsilon), budget)
        return reached[:count], int(walked)

    tiny = WalkGraph(np.array([0, 1, 2], np.int32), np.array([1, 0], np.int32), np.ones(2, np.float32), 0, True)
    run(tiny, np.zeros(2, np.float32), np.ones(2, np.float32), np.array([0, 1]), 0.5, 0.1, 100)
    _ready.append(run)
    return True


def warm_in_background() -> None:
    """Run `warm` once in a thread of its own, so that the queries after it push with compiled code."""
    if not _ready and not _started.is_set():
        _started.set()
        threading.Thread(target=warm, name="hopgate-compile", daemon=True).start()


def _stage(
    indptr: Any,
    indices: Any,
    weights: Any,
    strength: Any,
    settled: Any,
    walking: Any,
    reached: Any,
    count: int,
    damping: Any,
    epsilon: Any,
    budget: int,
) -> tuple[int, int]:
    """Push from a queue until it is empty; written for numba, plain Python otherwise."""
    nodes = strength.size
    queue = np.empty(nodes, np.int64)
    queued = np.zeros(nodes, np.bool_)
    seen = np.zeros(nodes, np.bool_)
    head, waiting, walked = 0, 0, 0
    for k in range(count):
        node = reached[k]
        seen[node] = True
        if walking[node] > epsilon * strength[node]:
            queue[waiting] = node
            queued[node] = True
            waiting += 1
    while waiting > 0 and walked <= budget:
        node = queue[head]
        head = head + 1 if head + 1 < nodes else 0
        waiting -= 1
        queued[node] = False
        mass = walking[node]
        walking[node] = 0
        settled[node] += (1 - damping) * mass
        share = damping * mass / strength[node]
        for arc in range(indptr[node], indptr[node + 1]):
            other = indices[arc]
            walking[other] += share * weights[arc]
            if not seen[other]:
                seen[other] = True
                reached[count] = other
                count += 1
            if not queued[other] and walking[other] > epsilon * strength[other]:
                queued[other] = True
                tail = head + waiting
                queue[tail if tail < nodes else tail - nodes] = other
                waiting += 1
        walked += indptr[node + 1] - indptr[node]
    return count, walked
