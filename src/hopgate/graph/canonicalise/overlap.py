"""IDF-weighted overlap of bags: of the tokens of names, of the facts about them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.canonicalise.units import IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array


Weights = NDArray[np.float64]
# Up to so many numbers, pairs times items, the items of pairs are compared as they are: a name that is resolved alone
# spares making sparse matrices, which takes 2 ms, and importing what makes them.
FEW = 1 << 17


def weighted_jaccard(
    bags: Sequence[Iterable[Hashable]], i: IntArray, j: IntArray, smooth: float = 0.0, smaller: bool = False
) -> Weights:
    """Overlap of two bags over their union, each item weighing 1 / ln(1 + number of bags that hold it).

    The IDF token overlap of Galárraga et al. (CIKM 2014), as CESI uses it. With `smaller` the overlap is divided by the
    smaller bag instead of the union; `smooth` is added below, so that one shared item of few is not certainty.
    """
    column: dict[Hashable, int] = {}
    rows: list[int] = []
    columns: list[int] = []
    for row, bag in enumerate(bags):
        for item in set(bag):
            rows.append(row)
            columns.append(column.setdefault(item, len(column)))
    if not column:
        return np.zeros(len(i))
    weights = 1 / np.log1p(np.bincount(columns, minlength=len(column)))
    few = max(len(i), len(bags)) * len(column) <= FEW
    total, both = (_dense if few else _sparse)((len(bags), len(column)), rows, columns, weights, i, j)
    below = np.minimum(total[i], total[j]) if smaller else total[i] + total[j] - both
    return both / np.maximum(below + smooth, 1e-12)


def _dense(
    shape: tuple[int, int], rows: list[int], columns: list[int], weights: Weights, i: IntArray, j: IntArray
) -> tuple[Weights, Weights]:
    """The weight of each bag, and of what the two of each pair have in common."""
    matrix, present = np.zeros(shape), np.zeros(shape, dtype=bool)
    matrix[rows, columns], present[rows, columns] = weights[columns], 1
    return matrix.sum(axis=1), (matrix[i] * present[j]).sum(axis=1)


def _sparse(
    shape: tuple[int, int], rows: list[int], columns: list[int], weights: Weights, i: IntArray, j: IntArray
) -> tuple[Weights, Weights]:
    """The same for many pairs."""
    from scipy.sparse import csr_array

    matrix: csr_array = csr_array((weights[columns], (rows, columns)), shape=shape)
    present: csr_array = matrix.copy()
    present.data = np.ones_like(present.data)
    total: Weights = np.asarray(matrix.sum(axis=1), np.float64).ravel()
    both = np.zeros(len(i))
    for start in range(0, len(i), 1 << 16):
        part = slice(start, start + (1 << 16))
        both[part] = np.asarray(matrix[i[part]].multiply(present[j[part]]).sum(axis=1)).ravel()
    return total, both
