"""What the graph leg gives: memories with their scores, and what it takes to explain them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hopgate.graph.walk.config import Walk
    from hopgate.graph.walk.matrix import GraphMatrix
    from hopgate.graph.walk.mixture import Mixture
    from hopgate.graph.walk.seeds import Restart


@dataclass(frozen=True, slots=True)
class WalkTrace:
    """What it takes to explain or to draw a walk: the graph it saw, where it started, its settings and its mixture.

    `walks` has the walks from memories, names and facts, a column each; hops have none. `asked` says as of when, where
    the query itself says so.
    """

    matrix: GraphMatrix
    start: Restart
    walk: Walk
    mixture: Mixture
    walks: NDArray[np.float64] | None = None
    asked: str = ""


class GraphRanking(NamedTuple):
    """What the graph leg gives.

    Parameters
    ----------
    hits : list of (int, float)
        The memories of the graph that walks visit most, best first.
    trace : WalkTrace, optional
        The walk that ranked them; none where there is no graph.
    scores : dict
        The score of every memory of the base, also of those that the graph does not have: what their mass is worth.
    blind : frozenset of int
        Those of the base that the graph does not have: sensitive, new, or linked to nothing.
    """

    hits: list[tuple[int, float]]
    trace: WalkTrace | None
    scores: dict[int, float]
    blind: frozenset[int] = frozenset()
