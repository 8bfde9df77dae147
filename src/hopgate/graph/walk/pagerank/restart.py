"""What a caller may pass as restart, checked and scaled to sum to 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopgate.errors import HopgateError

Restart = ArrayLike | Mapping[int, float]


def columns(restart: Restart, nodes: int) -> NDArray[Any]:
    """Give the restart as a dense array of shape (n,) or (n, q), each column summing to 1 or to 0.

    Examples
    --------
    >>> columns({2: 1.0, 0: 3.0}, 3)
    array([0.75, 0.  , 0.25])
    """
    if isinstance(restart, Mapping):
        dense = np.zeros(nodes)
        seeds, mass = sparse(restart, nodes)
        dense[seeds] = mass
        return dense
    dense = np.asarray(restart)
    if dense.ndim not in (1, 2) or len(dense) != nodes:
        raise HopgateError(f"a restart vector for this graph has {nodes} entries, not shape {dense.shape}")
    if not (dense >= 0).all() or not np.isfinite(dense).all():
        raise HopgateError("a restart vector holds finite numbers that are not negative")
    mass = dense.sum(axis=0, dtype=np.float64)
    return np.asarray(np.divide(dense, mass, out=np.zeros(dense.shape), where=mass > 0))


def sparse(restart: Mapping[int, float], nodes: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Give the seeds that carry mass, and their mass, which sums to 1.

    Examples
    --------
    >>> sparse({2: 1.0, 0: 3.0, 1: 0.0}, 3)
    (array([2, 0]), array([0.25, 0.75]))
    """
    seeds = np.fromiter(restart.keys(), np.int64, len(restart))
    mass = np.fromiter(restart.values(), np.float64, len(restart))
    if seeds.size and not 0 <= seeds.min() <= seeds.max() < nodes:
        raise HopgateError(f"a seed lies outside the graph's {nodes} nodes")
    if not (mass >= 0).all() or not np.isfinite(mass).all():
        raise HopgateError("a restart vector holds finite numbers that are not negative")
    carrying = mass > 0
    return seeds[carrying], mass[carrying] / (mass.sum() or 1.0)
