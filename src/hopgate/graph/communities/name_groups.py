"""The other view of clusters: k-means over the vectors of names, and where the graph's communities differ from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.communities.leiden import by_size
from hopgate.graph.communities.levels import agreement_of


@dataclass(frozen=True, slots=True)
class Placed:
    """A concept on which the two views differ: its cluster in the graph, and the one that its name is grouped with."""

    name: str
    cluster: int
    named_like: int


@dataclass(frozen=True, slots=True)
class ClusterAgreement:
    """How much clusters from the graph and groups of like names agree.

    Parameters
    ----------
    compared, groups : int
        How many concepts were compared, the most mentioned ones, and into how many groups k-means put them.
    rand, mutual : float
        The adjusted Rand index and the normalised mutual information: 1 where both views are the same; by chance the
        first is about 0.
    apart : tuple of Placed
        The concepts whose name is grouped with those of another cluster, the most mentioned first.
    """

    compared: int
    groups: int
    rand: float
    mutual: float
    apart: tuple[Placed, ...]

    def __str__(self) -> str:
        return (
            f"beside {self.groups} groups of like names (k-means, {self.compared:,} concepts): adjusted Rand "
            f"{self.rand:.2f}, mutual information {self.mutual:.2f}; {len(self.apart):,} concepts lie elsewhere by name"
        )

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON values."""
        return asdict(self)


def grouped_by_name(vectors: NDArray[np.floating[Any]], count: int, *, seed: int = 0) -> NDArray[np.int64]:
    """Group vectors by k-means; group 0 is the largest.

    Examples
    --------
    >>> grouped_by_name(np.array([[1.0, 0], [1, 0.1], [0, 1]]), 2).tolist()
    [0, 0, 1]
    """
    from sklearn.cluster import KMeans

    return by_size(KMeans(min(count, len(vectors)), n_init=4, random_state=seed).fit_predict(vectors))


def compare(names: Sequence[str], clusters: Sequence[int], vectors: NDArray[np.floating[Any]]) -> ClusterAgreement:
    """Compare concepts' clusters with as many groups of their names' vectors.

    Examples
    --------
    >>> found = compare(["oak", "elm", "cat"], [1, 1, 2], np.array([[1.0, 0], [1, 0.1], [0, 1]]))
    >>> found.rand, found.apart
    (1.0, ())
    """
    from sklearn.metrics import normalized_mutual_info_score

    known = np.array(clusters, np.int64)
    # Those that are alone here are no group that names could show.
    ids, sizes = np.unique(known, return_counts=True)
    groups = grouped_by_name(vectors, max(int((sizes > 1).sum()), min(2, len(ids))))
    apart = []
    home = {}
    for group in range(int(groups.max()) + 1):
        inside, counts = np.unique(known[groups == group], return_counts=True)
        home[group] = int(inside[int(np.argmax(counts))])
    for name, cluster, group in zip(names, clusters, groups.tolist(), strict=True):
        if home[group] != cluster:
            apart.append(Placed(name, cluster, home[group]))
    return ClusterAgreement(
        len(known),
        len(home),
        agreement_of(known, groups),
        float(normalized_mutual_info_score(known, groups)),
        tuple(apart),
    )
