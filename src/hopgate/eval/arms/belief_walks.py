"""The walk after a cross-encoder, for the arms of a gate: from what it believes, on the real graph or a shuffle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hopgate.eval.arms.graph_controls import Shuffle
from hopgate.eval.data.dataset import Query
from hopgate.recall.filters import Filters
from hopgate.recall.run_stages import belief

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase
    from hopgate.recall.legs.graph import GraphLeg


class BeliefWalks:
    """Walks as recall's last stage does.

    Parameters
    ----------
    kb : KnowledgeBase
        Whose graph.
    queries : mapping of id to Query
    depth : int
        How many memories a walk brings.
    shuffles : sequence of int
        The seeds of the shuffled graphs, in the order in which their arms come.
    """

    def __init__(
        self, kb: KnowledgeBase, queries: Mapping[str, Query], depth: int, shuffles: Sequence[int] = ()
    ) -> None:
        self._leg, self._queries, self._depth, self._shuffles = kb.graph_leg, queries, depth, shuffles
        self._names = kb.id_map()
        self._keys = {name: key for key, name in self._names.items()}
        self._shuffled: dict[int, GraphLeg] = {}

    def walked(self, query: str, scores: Mapping[str, float], shuffle: int | None = None) -> list[tuple[str, float]]:
        """Walk from what was read for a query; empty where the graph has none of it."""
        asked = self._queries[query]
        filters = Filters(asked.scope, as_of=asked.moment("as_of"), known_at=asked.moment("known_at"))
        masses = belief({self._keys[memory]: score for memory, score in scores.items()})
        found = self._on(shuffle).rank_from(masses, filters, self._depth)
        return [(self._names[key], score) for key, score in found.hits] if found.trace is not None else []

    def _on(self, shuffle: int | None) -> GraphLeg:
        if shuffle is None:
            return self._leg
        if shuffle not in self._shuffled:
            # One at a time is held: arms are read one after the other.
            self._shuffled = {shuffle: self._leg.variant(over=Shuffle(self._shuffles[shuffle]))}
        return self._shuffled[shuffle]
