"""An embedding space that needs no model: latent semantic analysis of the memories themselves.

The non-adjacent slice wants a space other than the one under test. Where no second embedder is at hand, this one is:
it shares nothing with a dense leg's model but the texts.

Deerwester et al., "Indexing by latent semantic analysis", JASIS 41(6), 1990.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hopgate.eval.slices.adjacency import VectorSpace
from hopgate.memory import Memory, cleared

LATENT = "latent"


def latent_space(memories: Iterable[Memory], *, dimension: int = 128, seed: int = 0) -> VectorSpace:
    """Fit the space on the memories that pass the sensitivity guard.

    Examples
    --------
    >>> space = latent_space([Memory("a", "red boat"), Memory("b", "red boat sails"), Memory("c", "tax form")])
    >>> near, far = space.vectors[0] @ space.vectors[1], space.vectors[0] @ space.vectors[2]
    >>> bool(near > 0.9 > 0.1 > far)
    True
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    pairs = list(cleared((memory.external_id, memory) for memory in memories))
    weights = TfidfVectorizer(sublinear_tf=True, token_pattern=r"(?u)\b\w+\b").fit_transform(text for _, text in pairs)
    size = min(dimension, min(weights.shape) - 1)
    vectors = (
        TruncatedSVD(size, random_state=seed).fit_transform(weights) if size >= 2 else np.asarray(weights.todense())
    )
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)
    return VectorSpace(LATENT, [key for key, _ in pairs], unit)
