"""Communities inside communities, and how sure they are: the same search by other seeds gives nearly the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hopgate.graph.communities.leiden import Labels, by_size, leiden, modularity

# Smaller communities are looked at as a whole: a person reads so many names at a glance.
SMALLEST_SPLIT = 12
# On 17,263 concepts: 119, 987 and 2,680 communities. A fourth level would have 2,892, and tell nothing new.
MOST_LEVELS = 3
SEEDS = (0, 1, 2, 3)


@dataclass(frozen=True, eq=False)
class Level:
    """One partition of all nodes, with its modularity and how stable it is.

    Parameters
    ----------
    labels : array of int
        Each node's community, the largest 0.
    stability : float
        The mean adjusted Rand index with the partitions of the other seeds: 1 where all agree.
    """

    labels: Labels
    modularity: float
    stability: float


def find_levels(weights: csr_array, *, resolution: float = 1.0, seeds: Sequence[int] = SEEDS) -> list[Level]:
    """Find communities and the communities inside them; level 0 is the coarsest, and each level splits the one before.

    Of several seeds the one with the highest modularity is taken, of equals the first.

    Examples
    --------
    >>> pairs = csr_array(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], float))
    >>> [(level.labels.tolist(), level.modularity, level.stability) for level in find_levels(pairs)]
    [([0, 0, 1, 1], 0.5, 1.0)]
    """
    tops = [leiden(weights, resolution=resolution, seed=seed) for seed in seeds]
    scores = [round(modularity(weights, labels, resolution), 9) for labels in tops]
    best = int(np.argmax(scores))
    found = [_level(weights, tops[best], [top for at, top in enumerate(tops) if at != best], resolution)]
    while len(found) < MOST_LEVELS:
        # Inside a community there is little left to vary: two searches tell how sure its parts are.
        above = found[-1].labels
        inner, other = (_split(weights, above, resolution, seed) for seed in (seeds[best], seeds[best] + len(seeds)))
        if int(inner.max(initial=-1)) == int(above.max(initial=-1)):
            break
        found.append(_level(weights, inner, [other], resolution))
    return found


def agreement_of(one: NDArray[np.integer[Any]], other: NDArray[np.integer[Any]]) -> float:
    """The adjusted Rand index of two partitions: 1 where they are the same, about 0 where they agree by chance.

    Examples
    --------
    >>> agreement_of(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    """
    if len(one) < 2:
        return 1.0
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(one, other))


def _level(weights: csr_array, labels: Labels, others: Sequence[Labels], resolution: float) -> Level:
    alike = [agreement_of(labels, other) for other in others]
    stable = sum(alike) / len(alike) if alike else 1.0
    return Level(labels, modularity(weights, labels, resolution), stable)


def _split(weights: csr_array, labels: Labels, resolution: float, seed: int) -> Labels:
    """Look for communities inside each community that is large enough, by its own weights alone."""
    split = labels.copy()
    following = int(labels.max(initial=-1)) + 1
    sizes = np.bincount(labels)
    groups = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    for community, members in enumerate(groups):
        if len(members) < SMALLEST_SPLIT:
            continue
        inner = leiden(csr_array(weights[members][:, members]), resolution=resolution, seed=seed)
        split[members] = np.where(inner == 0, community, following + inner - 1)
        following += int(inner.max())
    return by_size(split)
