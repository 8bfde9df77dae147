"""The k-th best score that other legs can leave in the way, over all ways their lists can overlap.

A leg is a column: what it contributes at rank 1, 2, … (descending). An arrangement says which ranks of different legs
are the same memory; a memory's score is the sum over its ranks. Each function gives the k-th best score of one kind of
arrangement, or None where that arrangement has fewer than k memories, so that nothing is in the way.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from itertools import chain

Columns = Sequence[Sequence[float]]


def least(columns: Columns, k: int) -> float | None:
    """Give the lowest k-th best score of all arrangements.

    A leg that returns k memories alone puts k scores of at least its k-th contribution in the way, whatever the others
    do; and when all legs share their first k − 1 memories and nothing else, no more than the largest of these is.

    Examples
    --------
    >>> least([[0.5, 0.4, 0.3], [0.2, 0.1]], k=2), least([[0.5], [0.5]], k=2)
    (0.4, None)
    """
    return max((column[k - 1] for column in columns if len(column) >= k), default=None)


def disjoint(columns: Columns, k: int) -> float | None:
    """Give the k-th best score when no memory is in two legs: the k-th largest contribution.

    Examples
    --------
    >>> disjoint([[0.5, 0.4, 0.3], [0.45, 0.1]], k=3)
    0.4
    """
    largest = heapq.nlargest(k, chain.from_iterable(columns))
    return largest[-1] if len(largest) == k else None


def identical(columns: Columns, k: int) -> float | None:
    """Give the k-th best score when all legs return the same list, as far as each goes.

    Examples
    --------
    >>> identical([[0.5, 0.25], [0.5, 0.25]], k=2)
    0.5
    """
    deep = [column[k - 1] for column in columns if len(column) >= k]
    return sum(sorted(deep)) if deep else None


def hardest(columns: Columns, k: int) -> tuple[float | None, bool]:
    """Give the highest k-th best score of all arrangements, and whether it is met exactly.

    It is the largest minimum that k row sums can have when each column may be permuted. Legs that return the same list
    are *not* the hardest case: legs that return the same k memories in opposite order are, because they lift the last
    of the k at the cost of the first. For up to two legs that pairing is the answer. For three and more the problem is
    NP-hard (it is the scheduling of an assembly line's crews); then this is an upper bound, so that a weight that
    clears it is safe, and the flag says whether an arrangement that meets it was found.

    Examples
    --------
    >>> hardest([[0.5, 0.25], [0.5, 0.25]], k=2)
    (0.75, True)
    """
    if sum(map(len, columns)) < k:
        return None, True
    # Of each leg only the first k ranks matter: a better rank never lowers the minimum.
    padded = [[*column[:k], *[0.0] * (k - len(column))] for column in columns]
    if len(padded) == 1:
        return padded[0][-1], True
    if len(padded) == 2:
        return min(_sums([padded[0], padded[1][::-1]])), True
    found, limit = _rearranged(padded), _limit(padded, k)
    return limit, found >= limit * (1 - 1e-12)


def _sums(columns: Columns) -> list[float]:
    return [sum(row) for row in zip(*columns, strict=True)]


def _limit(columns: Columns, k: int) -> float:
    """Bound the minimum from above: the j rows with a leg's last j ranks get at most every other leg's first j."""

    def bounds() -> Iterable[float]:
        for last in range(len(columns)):
            for j in range(1, k + 1):
                rest = sum(sum(column[:j]) for i, column in enumerate(columns) if i != last)
                yield (sum(columns[last][k - j :]) + rest) / j

    return min(bounds())


def _rearranged(columns: Columns) -> float:
    """Raise the minimum by the rearrangement algorithm: each column in turn against the sum of the others.

    Puccetti and Rüschendorf, "Computation of sharp bounds on the distribution of a function of dependent risks",
    Journal of Computational and Applied Mathematics, 2012.
    """
    arranged = [list(column) for column in columns]
    best = -1.0
    while (lowest := min(_sums(arranged))) > best:
        best = lowest
        for i, column in enumerate(arranged):
            others = _sums([other for j, other in enumerate(arranged) if j != i])
            rising = sorted(range(len(others)), key=others.__getitem__)
            for row, value in zip(rising, sorted(column, reverse=True), strict=True):
                column[row] = value
    return best
