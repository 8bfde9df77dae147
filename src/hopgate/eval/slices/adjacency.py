"""Which memories are near each other in an embedding space, in terms of what a search would find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class VectorSpace:
    """The memories' vectors in one embedding space, rows of unit length.

    Parameters
    ----------
    name : str
        The embedder's identity.
    ids : sequence of str
        One a row.
    vectors : array (n, dimension)
    """

    name: str
    ids: Sequence[str]
    vectors: NDArray[np.float32]

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """Id → row."""
        return {name: row for row, name in enumerate(self.ids)}


def adjacent(vectors: NDArray[np.float32], rows: Sequence[int], neighbours: int) -> NDArray[np.bool_]:
    """Say for each pair of rows whether either is among the other's nearest neighbours in the whole space.

    Ranks are used and not a cosine threshold, because what counts as a high cosine differs from embedder to embedder
    (unrelated English passages lie near 0.5 in one and near 0 in another).

    Examples
    --------
    >>> line = np.array([[1, 0], [0.9, 0.1], [0.8, 0.3], [0, 1]], dtype=np.float32)
    >>> adjacent(line, [0, 3], neighbours=1).tolist(), adjacent(line, [0, 1], neighbours=1).tolist()
    ([[True, False], [False, True]], [[True, True], [True, True]])
    """
    chosen = list(rows)
    similarity = vectors[chosen] @ vectors.T
    similarity[np.arange(len(chosen)), chosen] = -np.inf  # nothing is its own neighbour
    own = similarity[:, chosen]
    closer = (similarity[:, None, :] > own[:, :, None]).sum(axis=2)
    near = closer < neighbours
    np.fill_diagonal(near, True)
    return np.asarray(near | near.T)
