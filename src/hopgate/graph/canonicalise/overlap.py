"""IDF-weighted overlap of bags: of the tokens of names, of the facts about them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.canonicalise.units import IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def weighted_jaccard(
    bags: Sequence[Iterable[Hashable]], i: IntArray, j: IntArray, smooth: float = 0.0, smaller: bool = False
) -> NDArray[np.float64]:
    """Overlap of two bags over their union, each item weighing 1 / ln(1 + number of bags that hold it).

    The IDF token overlap of Galárraga et al. (CIKM 2014), as CESI uses it. With `smaller` the overlap is divided by the
    smaller bag instead of the union; `smooth` is added below, so that one shared item of few is not certainty.
    """
    from scipy.sparse import csr_array

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
    matrix: csr_array = csr_array((weights[columns], (rows, columns)), shape=(len(bags), len(column)))
    present: csr_array = matrix.copy()
    present.data = np.ones_like(present.data)
    total = np.asarray(matrix.sum(axis=1)).ravel()
    both = np.zeros(len(i))
    for start in range(0, len(i), 1 << 16):
        part = slice(start, start + (1 << 16))
        both[part] = np.asarray(matrix[i[part]].multiply(present[j[part]]).sum(axis=1)).ravel()
    below = np.minimum(total[i], total[j]) if smaller else total[i] + total[j] - both
    return both / np.maximum(below + smooth, 1e-12)
