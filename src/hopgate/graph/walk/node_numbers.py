"""Ids before and after a change, numbered together: both keep their order, so that arrays need no sorting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.matrix import positions


class NodeNumbers(NamedTuple):
    """Ids that were there or are.

    Parameters
    ----------
    union : array of int64
        All of them, ascending.
    old : array of int64
        The places among them of those that were there.
    kept : array of bool
        Which are there now.

    Examples
    --------
    Of 3, 5 and 9 the second went, and 7 came:

    >>> numbers = NodeNumbers.of(np.array([3, 5, 9]), [5, 7], np.array([7]))
    >>> numbers.union.tolist(), numbers.old.tolist(), numbers.now.tolist()
    ([3, 5, 7, 9], [0, 1, 3], [0, -1, 1, 2])
    >>> numbers.carried(np.array([30, 50, 90]), 0).tolist()
    [30, 50, 0, 90]
    """

    union: NDArray[np.int64]
    old: NDArray[np.int64]
    kept: NDArray[np.bool_]

    @classmethod
    def of(cls, old: NDArray[np.int64], changed: Sequence[int], now: NDArray[np.int64]) -> NodeNumbers:
        """Number what was there together with those of the changed ids that are there now."""
        new = now[positions(old, now) < 0]
        union, places = old, np.arange(len(old))
        if len(new):
            union = np.concatenate([old, new])
            if len(old) and new.min() < old[-1]:
                union = np.sort(union)
                places = np.searchsorted(union, old)
        kept = np.ones(len(union), bool)
        gone = positions(union, np.setdiff1d(np.asarray(changed, np.int64), now))
        kept[gone[gone >= 0]] = False
        return cls(union, places, kept)

    @property
    def now(self) -> NDArray[np.int64]:
        """The number of each among those that are there now, or -1."""
        return np.where(self.kept, np.cumsum(self.kept) - 1, -1)

    @property
    def appended(self) -> bool:
        """Whether what came has higher ids than all that was there: old numbers hold."""
        return not len(self.old) or int(self.old[-1]) == len(self.old) - 1

    @property
    def new(self) -> int:
        """How many came."""
        return len(self.union) - len(self.old)

    def places(self, ids: Any) -> NDArray[np.int64]:
        """The places of ids; -1 for those that are not here."""
        return positions(self.union, np.asarray(ids, np.int64))

    def carried(self, values: NDArray[Any], other: Any) -> NDArray[Any]:
        """Give what each old one had, and `other` for the new."""
        carried = np.full(len(self.union), other, values.dtype)
        carried[self.old] = values
        return carried
