"""The concepts of a store as a table to draw: names, kinds, how often, and where they lie in the embedding space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase


@dataclass(frozen=True)
class Concepts:
    """Concepts by how many memories talk about them, with one unit vector each."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    memories: tuple[int, ...]
    vectors: NDArray[np.float32]


def read_concepts(kb: KnowledgeBase, *, kind: str | None = None, limit: int = 300) -> Concepts:
    """Read the most mentioned concepts of a store, and embed their names with its embedder."""
    concepts = kb.graph.concepts(kind=kind, limit=limit)
    if not concepts:
        raise HopgateError("there are no concepts to look at: run hopgate build first")
    return Concepts(
        tuple(concept.name for concept in concepts),
        tuple(concept.kind or "unknown" for concept in concepts),
        tuple(concept.memory_count for concept in concepts),
        kb.graph.concept_vectors(concepts),
    )


def project(
    vectors: NDArray[np.floating], method: Literal["pca", "tsne"] = "tsne", *, seed: int = 0
) -> NDArray[np.float64]:
    """Lay vectors out in a plane: by their two main directions, or so that neighbours stay neighbours.

    Examples
    --------
    >>> project(np.eye(4), "pca").shape
    (4, 2)
    """
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    if len(vectors) < 3:
        raise HopgateError(f"a map needs at least 3 concepts, not {len(vectors)}")
    if method == "pca":
        return np.asarray(PCA(2, random_state=seed).fit_transform(vectors), np.float64)
    near = min(30.0, (len(vectors) - 1) / 3)
    placed = TSNE(2, perplexity=near, metric="cosine", init="random", random_state=seed).fit_transform(vectors)
    return np.asarray(placed, np.float64)
