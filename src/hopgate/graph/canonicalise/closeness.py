"""Cosines of embeddings, turned into how close two names are, whatever the embedder."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hopgate.graph.canonicalise.units import FloatArray

# The part of the way to 1 that related but different things reach (Germany, France). 0.2 and 0.3 differ by less than
# 0.002 on the labelled sets with bge-small.
UNRELATED = 0.2


def closeness(vectors: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Make a function that turns cosines of these vectors into closeness: 0 for unrelated names, 1 for the same.

    Embedders differ in how alike they find unrelated names (cosine 0.5 for one, 0.1 for another), so that a fixed
    threshold fits only one. Of the way from two standard deviations above the mean of random pairs to 1, the first
    `UNRELATED` part counts as unrelated: related things (Germany, France) are there.

    Examples
    --------
    >>> near = closeness(np.eye(64, dtype=np.float32))
    >>> near(np.array([0.2, 0.6, 1.0])).round(2).tolist()
    [0.0, 0.5, 1.0]
    """
    low = 0.0
    if len(vectors) > 1:
        # Names near one another in the input are often related: pairs are drawn at random, the same for the same input.
        first, second = np.random.default_rng(0).integers(0, len(vectors), size=(2, 1 << 14))
        cosines = np.einsum("ij,ij->i", vectors[first], vectors[second])[first != second]
        low = float(min(cosines.mean() + 2 * cosines.std(), 0.95))
    low += UNRELATED * (1 - low)
    return lambda cosines: np.clip((cosines - low) / (1 - low), 0, 1).astype(np.float32)
