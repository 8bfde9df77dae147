"""The paired randomisation test: flip the sign of each query's difference; exact where few queries differ, else seeded.

Fisher, "The design of experiments", 1935; Smucker, Allan and Carterette, CIKM 2007; the +1 of Phipson and Smyth
(2010), so that a sampled p is never 0 and the test keeps its level.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

# Up to this many differing queries all 2^n sign patterns are counted: 65,536 sums, one millisecond.
EXACT = 16
# Sign flips held at once: 4 M float32 ≈ 16 MiB.
_CHUNK = 4_000_000
# Sums that differ by less than this are the same sum added in another order.
_SAME = 1e-5


def randomisation_p(differences: ArrayLike, *, permutations: int = 10_000, seed: int = 0) -> float:
    """Two-sided p of the mean paired difference under "each query's difference could as well have had the other sign".

    Parameters
    ----------
    differences : array of float
        Challenger minus base, one a query.
    permutations : int
        Sampled sign patterns, where there are too many to count; the smallest p is then `1 / (permutations + 1)`.
    seed : int
        The same seed gives the same p.

    Examples
    --------
    >>> randomisation_p([0.0, 0.0, 0.0])
    1.0
    >>> randomisation_p([1.0] * 6 + [0.0] * 9) == 2 / 2**6
    True
    >>> randomisation_p([0.1] * 20) < 0.001
    True
    """
    values = np.asarray(differences, dtype=np.float64)
    values = values[values != 0]  # a tie keeps its sum whichever sign it gets
    if values.size == 0:
        return 1.0
    if values.size <= EXACT:
        sums = np.zeros(1)
        for value in values:
            sums = np.concatenate((sums + value, sums - value))
        return float((np.abs(sums) >= abs(values.sum()) - 1e-9).mean())
    scaled = (values / np.abs(values).max()).astype(np.float32)
    observed = abs(float(scaled.sum(dtype=np.float64)))
    tolerance = _SAME * scaled.size**0.5
    rng = np.random.default_rng(seed)
    extreme = 0
    rows = max(1, _CHUNK // scaled.size)
    for start in range(0, permutations, rows):
        count = min(rows, permutations - start)
        bits = np.unpackbits(rng.integers(0, 256, (count, (scaled.size + 7) // 8), dtype=np.uint8), axis=1)
        sums = (2.0 * bits[:, : scaled.size].astype(np.float32) - 1.0) @ scaled
        extreme += int((np.abs(sums) >= observed - tolerance).sum())
    return (extreme + 1) / (permutations + 1)
