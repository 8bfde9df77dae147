"""How much concepts belong together: the weight of their edges, and the memories that mention both."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, diags_array

Ids = NDArray[np.integer[Any]]


def concept_weights(
    concepts: int,
    memory: Ids,
    concept: Ids,
    source: Ids,
    target: Ids,
    weight: NDArray[np.floating[Any]],
) -> csr_array:
    """Give the symmetric matrix of weights between concepts, without loops.

    A memory that mentions n concepts adds 1 / (n - 1) to each pair of them, so that each of its concepts gets 1 of it
    however long it is (Newman, 2001); an edge adds its weight, whatever its direction.

    Parameters
    ----------
    concepts : int
        How many concepts there are; they are numbered from 0.
    memory, concept : array of int
        Mentions: which memory, by any number, talks about which concept.
    source, target, weight : array
        Edges between concepts.

    Examples
    --------
    >>> none = np.array([], int)
    >>> concept_weights(3, np.array([7, 7, 7]), np.array([0, 1, 2]), none, none, np.array([])).toarray().tolist()
    [[0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]]
    """
    _, row = np.unique(memory, return_inverse=True)
    rows = int(row.max()) + 1 if len(row) else 0
    mentioned = coo_array((np.ones(len(row)), (row, concept)), shape=(rows, concepts)).tocsr()
    mentioned.data[:] = 1.0  # a title and a mention of the same concept are one
    named: NDArray[np.float64] = np.asarray(mentioned.sum(axis=1)).ravel()
    shared = mentioned.T @ diags_array(1.0 / np.maximum(named - 1, 1)) @ mentioned
    stated = coo_array((np.asarray(weight, np.float64), (source, target)), shape=(concepts, concepts))
    whole = coo_array(shared + stated + stated.T)
    kept = (whole.row != whole.col) & (whole.data > 0)
    return csr_array(coo_array((whole.data[kept], (whole.row[kept], whole.col[kept])), shape=whole.shape))
