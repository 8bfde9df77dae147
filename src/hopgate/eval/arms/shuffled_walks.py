"""The graph leg on other graphs: what a query found to start from is asked once, and walked on every shuffle and part.

What a query names and resembles does not depend on how the graph is wired. A fact that is near the query joins other
concepts in a shuffled graph, and seeds those: what was extracted is shuffled, as a seed too. All else is the leg:
three walks, mixed by what is known of the query on that graph, inside the query's scope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.eval.arms.graph_controls import PARTS, Shuffle, without
from hopgate.eval.arms.leg_lists import GraphLists
from hopgate.eval.arms.prototype_cliques import clique_concepts, clique_hits
from hopgate.graph.walk.config import COMMON_SHARES, Walk
from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.rank import QuerySeeds, WalkRanking, batched_walks, ranked_by_walks, seeded
from hopgate.recall.filters import Filters
from hopgate.recall.legs.graph import GraphLeg, GraphRanking
from hopgate.recall.legs.graph_seeds import LookedUp

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# As many queries are walked at once: their restarts are dense, one column a walk.
TOGETHER = 64
# A walk that goes on so rarely sees what its seeds are linked to, and next to nothing beyond.
ONE_STEP = 0.05

Scored = Sequence[tuple[int, float]]
View = Callable[[GraphMatrix], GraphMatrix]
"""The graph of a query's scopes → what it walks over."""


class Asked(NamedTuple):
    """What a query was asked with, and found to start from."""

    matrix: GraphMatrix
    filters: Filters
    found: QuerySeeds
    base: Scored
    legs: Mapping[str, Scored]
    depth: int
    query: str
    vector: NDArray[np.float32] | None
    as_of: datetime | None = None


class WalkRecorder(GraphLeg):
    """The real graph's leg, which keeps what each query found to start from, under the id that was set before it.

    Parameters
    ----------
    store, walk
        See `GraphLeg`.
    """

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.asked: dict[str, Asked] = {}
        self.name: str | None = None
        self._asking: tuple[Filters, int, str, NDArray[np.float32] | None] | None = None

    def rank(
        self, query: str, vector: NDArray[np.float32] | None, base: Scored, filters: Filters, depth: int, **options: Any
    ) -> GraphRanking:
        """Rank as the real graph's leg does, and keep what the query started from."""
        self._asking = (filters, depth, query, vector)
        return super().rank(query, vector, base, filters, depth, **options)

    def seeds(self, found: LookedUp, base: Scored, legs: Mapping[str, Scored]) -> QuerySeeds:
        """Give where walks start."""
        every = super().seeds(found, base, legs)
        if self.name is not None and self._asking is not None:
            filters, depth, query, vector = self._asking
            self.asked[self.name] = Asked(found.matrix, filters, every, base, legs, depth, query, vector, found.as_of)
        return every

    def take(self, asked: Mapping[str, Asked]) -> None:
        """Take over what was recorded elsewhere, without the graphs, which this store has too."""
        with self._store.transaction() as connection:
            for name, one in asked.items():
                then = replace(one.filters, as_of=one.as_of or one.filters.as_of)
                self.asked[name] = one._replace(matrix=self._matrix(connection, then, fresh=True))

    def on_shuffle(self, seed: int, names: Mapping[int, str]) -> GraphLists:
        """Give every recorded query's lists on the graph shuffled with this seed, by external ids."""
        return self._again(Shuffle(seed), self.walk, names)

    def in_parts(self, names: Mapping[int, str]) -> dict[str, GraphLists]:
        """Give the lists without each part, with hardly a walk, and with fixed shares: what each of them brings."""
        found = {}
        walk = self.walk
        for part in PARTS:
            found[f"without {part}"] = self._again(partial(without, part=part), walk, names)
        found["one step, no walk"] = self._again(_itself, replace(walk, damping=ONE_STEP), names)
        if walk.shares == "adaptive":
            found["fixed shares"] = self._again(_itself, replace(walk, shares=COMMON_SHARES), names)
        return found

    def cliques(self, names: Mapping[int, str]) -> GraphLists:
        """Give the lists of the prototype's own graph: cliques of memories that share a concept, one step away."""
        found = {}
        for matrix, queries in self._views(_itself):
            concepts = clique_concepts(matrix)
            for name, asked in queries.items():
                found[name] = [(names[key], score) for key, score in clique_hits(matrix, concepts, asked.base)]
        return GraphLists(found, found)

    def _views(self, view: View) -> Iterator[tuple[GraphMatrix, dict[str, Asked]]]:
        """The graph as some queries see it, and those queries."""
        by_graph: dict[int, dict[str, Asked]] = {}
        for name, asked in self.asked.items():
            by_graph.setdefault(id(asked.matrix), {})[name] = asked
        for queries in by_graph.values():
            yield view(next(iter(queries.values())).matrix), queries

    def _again(self, view: View, walk: Walk, names: Mapping[int, str]) -> GraphLists:
        """Walk every recorded query again on another view of the graph."""
        found: dict[str, list[tuple[str, float]]] = {}
        scores: dict[str, list[tuple[str, float]]] = {}
        unlinked: dict[str, list[str]] = {}
        for matrix, queries in self._views(view):
            for name, blind, ranked in _walked(matrix, queries, walk):
                known = {**ranked.scores, **dict(ranked.hits)}
                order = sorted(known.items(), key=lambda candidate: (-candidate[1], candidate[0]))
                found[name] = [(names[key], score) for key, score in ranked.hits]
                scores[name] = [(names[key], score) for key, score in order]
                unlinked[name] = sorted(names[key] for key in blind)
        return GraphLists(found, scores, unlinked)


def _walked(
    matrix: GraphMatrix, queries: Mapping[str, Asked], walk: Walk
) -> Iterator[tuple[str, frozenset[int], WalkRanking]]:
    """Rank by walks on one graph, many queries at once."""
    if not matrix.graph.arcs:
        return
    every = list(queries.items())
    for low in range(0, len(every), TOGETHER):
        part = every[low : low + TOGETHER]
        begun = [seeded(matrix, asked.found) for _, asked in part]
        walks = batched_walks(matrix.graph, [found.starts for found in begun], walk)
        for (name, asked), found, own in zip(part, begun, walks, strict=True):
            deep = replace(walk, depth=asked.depth)
            yield name, found.blind, ranked_by_walks(matrix, found, own, deep, asked.base, asked.legs)


def _itself(matrix: GraphMatrix) -> GraphMatrix:
    return matrix
