"""What paired differences on queries say about queries to come: limits by cluster, one level shared out, several sets.

Questions about one conversation are won and lost together: a further one is not a further witness. So every query has a
cluster. The mean is over queries; its error is CR2 (Bell and McCaffrey 2002) with Satterthwaite's degrees of freedom
under the correlation found within clusters (Imbens and Kolesár 2016). That is Student's t on the cluster means where
clusters have one size (Donald and Lang 2007; Ibragimov and Müller 2010), and the paired t test with one query a
cluster. Flipping the sign of whole clusters is the second opinion, which knows no t (Canay, Romano and Shaikh 2017).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]
Named = TypeVar("Named")

# Up to this many clusters that differ, all sign patterns are counted: 65,536 sums, a millisecond.
EXACT = 16
_SAME = 1e-12


@dataclass(frozen=True, eq=False)
class Differences:
    """Challenger minus base, one value a query, and the cluster of each query.

    Every `alpha` is one-sided but that of `interval`. Limits lie within -1 and 1, as the difference of two measures.
    """

    values: FloatArray
    clusters: tuple[str, ...]

    @classmethod
    def of(cls, values: ArrayLike, clusters: Sequence[str]) -> Differences:
        """Take any numbers; what differs by the order of an addition alone becomes the same."""
        return cls(np.asarray(values, dtype=np.float64).round(9), tuple(clusters))

    @cached_property
    def _sums_and_sizes(self) -> tuple[FloatArray, FloatArray]:
        _, number = np.unique(self.clusters, return_inverse=True)
        return np.bincount(number, self.values).astype(np.float64), np.bincount(number).astype(np.float64)

    @property
    def groups(self) -> int:
        """How many clusters there are."""
        return len(self._sums_and_sizes[1])

    @cached_property
    def mean(self) -> float:
        """The mean over queries."""
        return float(self.values.mean())

    @cached_property
    def icc(self) -> float:
        """What share of the variance is common to a cluster, by the analysis of variance; 0 where nothing is."""
        sums, sizes = self._sums_and_sizes
        n, count = sizes.sum(), len(sizes)
        if count in (1, n):
            return 0.0
        between = float((sizes * (sums / sizes - self.mean) ** 2).sum())
        within = max(0.0, float(((self.values - self.mean) ** 2).sum()) - between)
        among, inside = between / (count - 1), within / (n - count)
        typical = (n - (sizes**2).sum() / n) / (count - 1)
        spread = among + (typical - 1) * inside
        return min(1.0, max(0.0, round(float((among - inside) / spread), 9))) if spread > _SAME else 0.0

    @property
    def by_cluster(self) -> dict[str, float]:
        """The mean of each cluster."""
        sums, sizes = self._sums_and_sizes
        return dict(zip(np.unique(self.clusters).tolist(), (sums / sizes).tolist(), strict=True))

    @property
    def design_effect(self) -> float:
        """How many times fewer independent queries would say as much."""
        sizes = self._sums_and_sizes[1]
        return 1.0 + (float((sizes**2).sum() / sizes.sum()) - 1.0) * self.icc

    @cached_property
    def error(self) -> float:
        """CR2 standard error of the mean; infinite with one cluster, of which nothing can be said in general."""
        if self.groups < 2:
            return math.inf
        sums, sizes = self._sums_and_sizes
        share = sizes / sizes.sum()
        error = float(np.sqrt(((sums - sizes * self.mean) ** 2 / (1.0 - share)).sum()) / sizes.sum())
        return error if error > _SAME else 0.0

    @cached_property
    def df(self) -> float:
        """Satterthwaite's degrees of freedom: clusters less one where they have one size, fewer where not."""
        if self.groups < 2:
            return 0.0
        # The cluster sums of the residuals covary as diag(v) − w v' − v w' + Σv w w'; CR2 scales both sides by 1 − w.
        sizes = self._sums_and_sizes[1]
        w, v = sizes / sizes.sum(), sizes * (1.0 + (sizes - 1.0) * self.icc)
        total, scale = v.sum(), 1.0 / (1.0 - w)
        own = v - 2.0 * w * v + total * w**2
        ww, wv, vv = (scale * w * w).sum(), (scale * w * v).sum(), (scale * v * v).sum()
        squares = (total * ww) ** 2 + 2.0 * ww * vv + 2.0 * wv**2 - 4.0 * total * ww * wv
        squares += (scale**2 * (own**2 - (own - v) ** 2)).sum()
        return round(float((scale * own).sum() ** 2 / squares), 6)

    def imagining(self, value: float) -> Differences:
        """Add one query of this value, in a cluster of its own."""
        return Differences(np.append(self.values, value), (*self.clusters, "\0imagined"))

    def lower(self, alpha: float) -> float:
        """Limit that lies above the mean to come with a chance of `alpha`."""
        return 0.0 - Differences(-self.values, self.clusters).upper(alpha, imagined=None)

    def upper(self, alpha: float, imagined: float | None = 1.0) -> float:
        """Limit that lies below the mean to come with a chance of `alpha`.

        With `imagined`, one further query is the best possible: that nothing happened on few queries excludes nothing.
        """
        if self.groups < 2:
            return 1.0
        known = self if imagined is None else self.imagining(imagined)
        return min(1.0, known.mean + (known.error * _t(alpha, known.df) if known.error else 0.0))

    def interval(self, alpha: float) -> tuple[float, float]:
        """Both limits, each at half of `alpha`: the lower as it is, the upper with the best possible query added."""
        return self.lower(alpha / 2), self.upper(alpha / 2)

    def p_above(self, threshold: float = 0.0) -> float:
        """One-sided p of "the mean is at most this"; below `alpha` exactly where `lower(alpha)` is above it.

        Many small wins and few large losses look like a gain until a loss is drawn: of 25 to 100 questions without
        effect Student's t then finds one in up to an eighth (docs/measurements.md).
        """
        from scipy.special import stdtr

        if self.groups < 2:
            return 1.0
        beyond = self.mean - threshold
        return float(stdtr(self.df, -beyond / self.error)) if self.error else float(beyond <= _SAME)

    def randomised_p(self, seed: int = 0, rounds: int = 10_000) -> float:
        """One-sided p of "each cluster could as well have had the other sign"; exact where few clusters differ.

        A sampled p counts what was observed as one of the samples, so that it is never 0.
        """
        sums = self._sums_and_sizes[0]
        sums = sums[np.abs(sums) > 1e-9]  # a tie keeps its sum whichever sign it gets
        least = sums.sum() - 1e-9 * (1 + len(sums))
        if len(sums) <= EXACT:
            every = np.zeros(1)
            for one in sums:
                every = np.concatenate((every + one, every - one))
            return float((every >= least).mean())
        rng, extreme = np.random.default_rng(seed), 1
        for start in range(0, rounds, 1_000):
            signs = rng.integers(0, 2, (min(1_000, rounds - start), len(sums)), dtype=np.int8)
            extreme += int((2.0 * (signs @ sums) - sums.sum() >= least).sum())
        return extreme / (rounds + 1)

    def needed(self, worthwhile: float, alpha: float, power: float = 0.8) -> tuple[int, int]:
        """Queries and clusters with which a worthwhile gain would be shown, at this spread and these cluster sizes.

        Never of the gain that was observed, which says how lucky one was. The same number excludes a worthwhile gain
        where there is none. One imagined win keeps ties on few queries from looking like certainty.
        """
        size = len(self.values) / self.groups
        variance = float(self.imagining(1.0).values.var(ddof=1)) * self.design_effect / size
        # Upwards from the number by the normal distribution, which is a few clusters too small.
        clusters = max(2, math.ceil(variance * ((_t(alpha, 1e9) + _t(1 - power, 1e9)) / worthwhile) ** 2))
        while variance * (_t(alpha, clusters - 1) + _t(1 - power, clusters - 1)) ** 2 > clusters * worthwhile**2:
            clusters += 1
        return math.ceil(clusters * size), clusters


@dataclass(frozen=True)
class Pooled:
    """The mean gain over data sets like these with its interval, and where the true gain of one further set lies.

    Nothing can be said of a further set from two (Higgins et al. 2009).
    """

    sets: int
    difference: float
    interval: tuple[float, float]
    next_set: tuple[float, float] | None
    error: float

    def __str__(self) -> str:
        low, high = self.interval
        line = f"over {self.sets} sets: {self.difference:+.3f} ({low:+.3f} to {high:+.3f})"
        return line + (", in the next set {:+.3f} to {:+.3f}".format(*self.next_set) if self.next_set else "")


def pooled(estimates: Sequence[float], errors: Sequence[float], alpha: float) -> Pooled:
    """Random-effects mean of two sets or more, each with an error: by Paule and Mandel, and by Hartung and Knapp.

    The error is never below that of the usual weighted mean (Röver, Knapp and Friede 2015).
    """
    gains, variances = np.asarray(estimates, dtype=np.float64), np.asarray(errors, dtype=np.float64) ** 2

    def weighed(between: float) -> tuple[FloatArray, float, float]:
        """The weights, the mean and its weighted squares where the sets' true gains vary like this."""
        weights = 1.0 / (variances + between)
        mean = float(weights @ gains / weights.sum())
        return weights, mean, float((weights * (gains - mean) ** 2).sum())

    between, free = 0.0, len(gains) - 1
    if weighed(0.0)[2] > free:
        from scipy.optimize import brentq

        most = float(((gains - gains.mean()) ** 2).sum()) + 1e-9
        between = float(brentq(lambda value: weighed(value)[2] - free, 0.0, most, xtol=1e-15))
    weights, mean, squares = weighed(between)
    error = math.sqrt(max(1.0, squares / free) / float(weights.sum()))

    def limits(free: int, error: float) -> tuple[float, float]:
        reach = _t(alpha / 2, free) * error
        return max(-1.0, mean - reach), min(1.0, mean + reach)

    next_set = limits(free - 1, math.hypot(math.sqrt(between), error)) if free > 1 else None
    return Pooled(len(gains), mean, limits(free, error), next_set, error)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p values, in the order given: below α exactly where Holm's procedure at α rejects."""
    adjusted, highest = [0.0] * len(p_values), 0.0
    for step, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - step) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def spent(alpha: float, look: int) -> float:
    """Level of a look at the same questions: four fifths for the first, half of what is left for each further one.

    All looks together never spend more than `alpha`, however many there are.
    """
    return 0.8 * alpha if look <= 1 else 0.2 * alpha * 0.5 ** (look - 1)


def rank_p(value: float, shuffled: Sequence[float]) -> float:
    """Exact p of "the real graph is one more shuffle of itself"; a shuffle that is as good counts against it.

    Examples
    --------
    >>> rank_p(0.9, [0.8] * 39), rank_p(0.8, [0.8] * 39)
    (0.025, 1.0)
    """
    return (1 + sum(other >= value - _SAME for other in shuffled)) / (1 + len(shuffled))


def choose(names: Sequence[Named], values: ArrayLike, allowed: Callable[[Named], bool] = lambda _: True) -> Named:
    """Choose the first, which is the plainest, that is as good as the best to one standard error, paired by query.

    `values` has a row a query and a column a configuration (Breiman et al., "Classification and regression trees",
    1984). What is not `allowed` is not there; where nothing is, the first of all is chosen.
    """
    table = np.asarray(values, dtype=np.float64)
    if not len(table):
        return next(filter(allowed, names), names[0])
    falling = np.argsort(-table.mean(axis=0).round(12), kind="stable").tolist()
    best = next((place for place in falling if allowed(names[place])), 0)
    behind = table[:, [best]] - table
    error = behind.std(axis=0, ddof=1) / math.sqrt(len(table)) if len(table) > 1 else np.full(len(names), math.inf)
    near = behind.mean(axis=0) <= error + _SAME
    return next((name for name, is_near in zip(names, near, strict=True) if is_near and allowed(name)), names[0])


def _t(alpha: float, df: float) -> float:
    from scipy.special import stdtrit

    return float(-stdtrit(df, alpha))
