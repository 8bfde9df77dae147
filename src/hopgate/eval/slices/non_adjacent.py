"""The slice a graph should help with: hops whose evidence memories are far apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import Query
from hopgate.eval.data.runs import relevant
from hopgate.eval.slices.adjacency import adjacent
from hopgate.eval.slices.slice import Known, Slice


@dataclass(frozen=True)
class NonAdjacent(Slice):
    """Multi-hop queries whose gold memories do not hang together in an embedding space.

    Two memories are adjacent when either is among the other's nearest `neighbours`. The slice holds the queries whose
    gold cannot be connected by such steps alone: some hop is a jump that similarity does not make. The space must not
    be the one under test, or the slice would favour the graph by construction; the audit checks that.

    Examples
    --------
    >>> NonAdjacent("minilm")
    non-adjacent(minilm, 10)
    """

    space: str
    neighbours: int = 10

    @property
    def spaces(self) -> frozenset[str]:  # type: ignore[override]
        """The space it looks at."""
        return frozenset({self.space})

    def holds(self, query: Query, known: Known) -> bool:
        """Try to connect the gold memories by adjacent steps."""
        if self.space not in known.spaces:
            raise HopgateError(f"the slice {self} needs vectors of the embedding space {self.space!r}")
        space = known.spaces[self.space]
        rows = [space.rows[name] for name in sorted(relevant(known.qrels[query.id])) if name in space.rows]
        return len(rows) > 1 and not _connected(adjacent(space.vectors, rows, self.neighbours))

    def __repr__(self) -> str:
        return f"non-adjacent({self.space}, {self.neighbours})"


def _connected(links: NDArray[np.bool_]) -> bool:
    """Whether every memory can be reached from the first."""
    reached = np.zeros(len(links), dtype=bool)
    reached[0] = True
    for _ in range(len(links)):
        reached |= links[reached].any(axis=0)
    return bool(reached.all())
