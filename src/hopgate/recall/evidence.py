"""Evidence over arcs: a token of the query may be matched by a memory's own tokens or, discounted, by a neighbour's.

What is special about a match counts: each token's mean over the pool is taken off before it travels. One maximum over
arcs and one sum over tokens; nothing is solved and nothing iterates, so that a score explains itself. The numbers were
measured on dev queries, and arcs of typed edges gave nothing beside those of names: docs/measurements.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.store.graph.arrays import FULL_WEIGHT, STEP

Floats = NDArray[np.float32]
Places = NDArray[np.intp]

# What is left of a match that comes over an arc.
DISCOUNT = 0.6
# A name in more memories than this joins none of them; one in two joins them almost whole.
COMMON, RARITY = 20, 0.8 / log(60)
# An arc between turns passes on its weight, of which the next has the most, to this power: .9 to the next but one.
TURN_POWER = 0.2
THREADS, TITLES, NAMES = "threads", "titles", "names"


class Arcs(NamedTuple):
    """What joins the memories of a pool, by their places in it; `source` ascends, and each pair stands both ways."""

    source: Places  # what one is matched by, the other is matched by as well
    target: Places
    weight: Floats  # how much of a match the arc passes on, up to 1
    part: NDArray[np.str_]  # the part of the graph that the arc belongs to


class Match(NamedTuple):
    """How a memory of the pool is matched at one token of the query: how well, and by which memory's tokens."""

    token: int
    score: float
    by: int
    part: str


@dataclass(frozen=True, eq=False)
class Evidence:
    """How well each token of a query, a row, is matched in each memory of a pool, a column, by its own tokens.

    Examples
    --------
    The second memory follows the first, which alone has the word of the second token:

    >>> own = np.array([[0.9, 0.8, 0.1], [0.9, 0.2, 0.1]], np.float32)
    >>> arcs = Arcs(np.array([0, 1]), np.array([1, 0]), np.ones(2, np.float32), np.array(["threads"] * 2))
    >>> Evidence(own).scores.round(2), Evidence(own, arcs).scores.round(2)
    (array([0.9, 0.6, 0.5], dtype=float32), array([0.9 , 0.75, 0.5 ], dtype=float32))
    >>> [(match.token, match.by) for match in Evidence(own, arcs).matches(1)]
    [(0, 1), (1, 0)]
    """

    own: Floats
    arcs: Arcs | None = None

    @property
    def scores(self) -> Floats:
        """Score each memory: the mean over tokens of its own match or of the best that an arc brings."""
        usual = self.own.mean(axis=1, keepdims=True)
        special = self.own - usual
        # A match below the usual is no evidence against a memory.
        best = np.maximum(special, 0)
        if self.arcs is not None and len(self.arcs.source):
            brought = DISCOUNT * self.arcs.weight * special[:, self.arcs.target]
            joined, begin = np.unique(self.arcs.source, return_index=True)
            best[:, joined] = np.maximum(best[:, joined], np.maximum.reduceat(brought, begin, axis=1))
        return np.asarray((best + usual).mean(axis=0), np.float32)

    def matches(self, place: int) -> list[Match]:
        """Say for each token what matched it in a memory; `by` is the memory's own place where its own tokens did."""
        special = self.own - self.own.mean(axis=1, keepdims=True)
        found = [Match(token, float(score), place, "") for token, score in enumerate(special[:, place])]
        if self.arcs is None:
            return found
        for row in np.flatnonzero(self.arcs.source == place).tolist():
            by = int(self.arcs.target[row])
            brought = DISCOUNT * self.arcs.weight[row] * special[:, by]
            for token in np.flatnonzero(brought > [match.score for match in found]).tolist():
                found[token] = Match(token, float(brought[token]), by, str(self.arcs.part[row]))
        return found


def arcs_between(matrix: GraphMatrix, memories: Sequence[int]) -> Arcs:
    """Find what joins memories, given by the store's ids: the order of turns, titles and names.

    A concept that more than `COMMON` memories of the graph mention joins none of them, but for the one whose title it
    is.
    """
    graph = matrix.graph
    nodes = matrix.memories(memories)
    known = np.flatnonzero(nodes >= 0)
    rows = graph.matrix[nodes[known]]
    place, other = np.repeat(known, np.diff(rows.indptr)), rows.indices
    # The pool's places by nodes: one look finds whether the other end of an arc is in the pool.
    place_of = np.full(graph.memories, -1)
    place_of[nodes[known]] = known
    turns = np.flatnonzero(other < graph.memories)
    turns = turns[place_of[other[turns]] >= 0]
    weight = np.minimum(rows.data[turns] / (FULL_WEIGHT * STEP), 1.0) ** TURN_POWER
    threads = (place[turns], place_of[other[turns]], weight, THREADS)
    # Who mentions what, by concept.
    mentions = np.flatnonzero(other >= graph.memories)
    mentions = mentions[np.argsort(other[mentions], kind="stable")]
    concept, member = other[mentions] - graph.memories, place[mentions]
    count = graph.mentioning[concept]
    rarity = np.where(count <= COMMON, 1 - RARITY * np.log(np.maximum(count, 1)), 0)
    joining = np.flatnonzero(rarity > 0)
    first, second = _equal(concept[joining], concept)
    names = (member[joining][first], member[second], rarity[second], NAMES)
    about = place_of[matrix.titles.source]
    first, second = _equal(matrix.titles.target[about >= 0], concept)
    titled, named = about[about >= 0][first], member[second]
    ones = np.ones(len(first))
    return _arcs([threads, names, (titled, named, ones, TITLES), (named, titled, ones, TITLES)])


def _equal(keys: NDArray[Any], ascending: NDArray[Any]) -> tuple[Places, Places]:
    """Give the places of all pairs of equal values, one of `keys` and one of others in ascending order."""
    begin = np.searchsorted(ascending, keys, "left")
    sizes = np.searchsorted(ascending, keys, "right") - begin
    before = np.cumsum(sizes) - sizes
    return np.repeat(np.arange(len(keys)), sizes), np.arange(int(sizes.sum())) + np.repeat(begin - before, sizes)


def _arcs(found: Sequence[tuple[Places, Places, NDArray[Any], str]]) -> Arcs:
    """Put sources, targets and weights of several parts together, by their source; none is joined to itself."""
    source, target, weight = (np.concatenate([arcs[column] for arcs in found]) for column in range(3))
    part = np.repeat([arcs[3] for arcs in found], [len(arcs[0]) for arcs in found])
    kept = np.flatnonzero(source != target)
    order = kept[np.argsort(source[kept], kind="stable")]
    return Arcs(source[order], target[order], weight[order].astype(np.float32), part[order])
