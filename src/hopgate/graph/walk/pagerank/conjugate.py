"""Conjugate gradients: on an undirected graph PageRank is a symmetric system, and few steps solve it.

With ``z`` the score over the strength, ``(D - damping A) z = (1 - damping) restart`` is symmetric and positive
definite, and its condition after scaling by ``D`` is at most ``(1 + damping) / (1 - damping)``. Power iteration needs
17 products for an L1 error of 1e-5 at damping 0.5 and 71 at 0.85; this needs 9 and 14, and 4 and 7 where one half of
the nodes can be eliminated (`halved`).

Hestenes and Stiefel, "Methods of conjugate gradients for solving linear systems", 1952.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[Any]


def conjugate(
    apply: Callable[[Vector], Vector], diagonal: Vector, target: Vector, bound: float, most: int
) -> Vector | None:
    """Solve ``apply(z) = target`` for a symmetric positive definite operator, columns side by side.

    Parameters
    ----------
    apply : callable
        The operator; it returns a fresh array.
    diagonal : array
        What to scale by, shaped to broadcast over `target`.
    bound : float
        The L1 norm that every column's residual must reach.
    most : int
        Steps after which to give up.

    Returns
    -------
    numpy.ndarray or None
        None if the bound was not reached, which only rounding can cause.

    Examples
    --------
    >>> matrix = np.array([[2.0, -1.0], [-1.0, 2.0]])
    >>> conjugate(lambda z: matrix @ z, np.array([2.0, 2.0]), np.array([1.0, 0.0]), 1e-9, 10).round(4)
    array([0.6667, 0.3333])
    """
    residual = target.copy()
    solution = np.zeros_like(target)
    scaled = residual / diagonal
    direction = scaled.copy()
    strength = _dot(residual, scaled)
    for _ in range(most + 1):
        if np.abs(residual).sum(axis=0).max(initial=0) <= bound:
            return solution
        image = apply(direction)
        step = _ratio(strength, _dot(direction, image))
        solution += step * direction
        residual -= step * image
        scaled = residual / diagonal
        fresh = _dot(residual, scaled)
        direction *= _ratio(fresh, strength)
        direction += scaled
        strength = fresh
    return None


def _dot(left: Vector, right: Vector) -> Vector:
    return np.asarray(left @ right if left.ndim == 1 else np.einsum("ij,ij->j", left, right))


def _ratio(upper: Vector, lower: Vector) -> Vector:
    """Divide, with 0 for a column that is already solved."""
    return np.divide(upper, lower, out=np.zeros_like(upper), where=lower > 0)
