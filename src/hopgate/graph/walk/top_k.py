"""The best of many scores: one implementation, so that ties are broken alike everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def top_k(scores: NDArray[Any], k: int, *, allowed: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
    """Give the places of the `k` highest scores above 0, best first; ties by place.

    Parameters
    ----------
    allowed : array of bool, optional
        One entry a score: only places where it is True are given.

    Examples
    --------
    >>> top_k(np.array([0.1, 0.0, 0.5, 0.1]), 2)
    array([2, 0])
    """
    places = np.flatnonzero(scores > 0 if allowed is None else (scores > 0) & allowed)
    if places.size > k:
        # Everything that ties with the last place stays in, so that ties are broken by place and not by chance.
        least = np.partition(scores[places], -k)[-k]
        places = places[scores[places] >= least]
    return places[np.argsort(-scores[places], kind="stable")][:k]
