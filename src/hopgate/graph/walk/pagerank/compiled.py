"""The kernels compiled by numba, where the extra ``fast`` is installed.

Importing numba and compiling, or loading what an earlier process compiled, takes a second and more, and must not delay
a recall. It is done in a thread of its own, in a process that walks again and again: `hopgate recall` walks once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hopgate.graph.walk.pagerank.kernels import LANES, push_stage, sweep

# Walks that a process makes before it compiles.
WARM_AFTER = 3


class Kernels(NamedTuple):
    """The kernels, compiled; each takes what the function of its name takes."""

    sweep: Callable[..., Any]
    push_stage: Callable[..., Any]


_ready: list[Kernels] = []
_walks: list[None] = []
_started = threading.Event()


def kernels() -> Kernels | None:
    """Give the kernels if they are compiled; a process that asks again and again has them compiled meanwhile."""
    if _ready:
        return _ready[0]
    if not _started.is_set():
        _walks.append(None)
        if len(_walks) > WARM_AFTER:
            _started.set()
            threading.Thread(target=warm, name="hopgate-compile", daemon=True).start()
    return None


def warm() -> bool:
    """Compile, or load what an earlier process compiled; False where numba is not installed.

    Call it from any thread before walks that must be fast from the first one on; calling it again costs nothing.
    """
    if _ready:
        return True
    try:
        import numba
    except ImportError:
        return False
    made = Kernels(*(_compiled(numba, function) for function in (sweep, push_stage)))
    # Four restarts then go through one register of the processor: a sweep takes a third less.
    config: Any = numba.config
    before, config.SLP_VECTORIZE = config.SLP_VECTORIZE, 1
    try:
        _run_once(made)
    finally:
        config.SLP_VECTORIZE = before
    _ready.append(made)
    return True


def _compiled(numba: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    # Sums in any order would let the compiler take several arcs at a time, and gather: 0.72 ms a sweep and not 0.38.
    # (What is kept on disk does not depend on this: who changes it changes `kernels.py` too.)
    options = {"nogil": True, "fastmath": {"contract", "nnan", "ninf", "nsz"}}
    try:
        kernel = numba.njit(cache=True, **options)(function)
    except RuntimeError:
        # Neither the package's own directory nor the user's cache can be written to.
        kernel = numba.njit(**options)(function)
    return kernel  # type: ignore[no-any-return]


def _run_once(made: Kernels) -> None:
    """Compile for the types that walks have, on a graph of two nodes."""
    pointers, ends, ones = np.array([0, 1, 2], np.int32), np.array([1, 0], np.int32), np.ones(2, np.float32)
    for array in (pointers, ends, ones):
        # A graph's arrays are read-only, which is another type to numba.
        array.setflags(write=False)
    damping, lanes = np.float32(0.5), np.zeros(2 * LANES, np.float32)
    made.sweep(pointers, ends, ones, ones, np.ones(2, np.float32), lanes, lanes.copy(), damping)
    vectors = [np.zeros(2, np.float32), np.zeros(2, np.float32), np.zeros(2, np.int64)]
    made.push_stage(pointers, ends, ones, ones, *vectors, 1, damping, np.float32(0.1), 10)
