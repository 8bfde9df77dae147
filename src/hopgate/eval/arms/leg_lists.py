"""What the legs gave for many queries, as fusion takes it: the very lists, scores and blind spots that recall has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from hopgate.eval.data.runs import Run
from hopgate.recall.completion import pooled
from hopgate.recall.fuse import Importance

Blind = Mapping[str, Collection[str]]
"""Query → what of the base the graph does not have."""


class GraphLists(NamedTuple):
    """One graph leg's lists: what it found, its scores of the whole pool, and what it was blind to."""

    found: Run
    scores: Run
    blind: Blind = MappingProxyType({})

    def only(self, queries: Collection[str]) -> GraphLists:
        """Give those of some queries."""
        blind = {query: self.blind[query] for query in queries if self.blind.get(query)}
        return GraphLists(_of(self.found, queries), _of(self.scores, queries), blind)


@dataclass(frozen=True)
class LegLists:
    """Lists by leg and query, and what follows their fusion.

    Parameters
    ----------
    scores : mapping of leg to Run
        Each leg's scores: completed for all that any leg found, or only its own list where `into` is 0.
    found : mapping of leg to Run
        What each leg found; what is not given is what it scored.
    base : Run
        The fused base that walks started from.
    blind : mapping of query to ids
    importance : mapping of id to float
    prior : Importance, optional
    into : int
        The k that recall lifts each leg's first into. With 0 lists are fused as they are: nothing is completed, nothing
        unseen and nothing lifted, as before recall did that, and as for lists that somebody made.

    Examples
    --------
    >>> lists = LegLists({"dense": {"q": [("a", 0.9), ("b", 0.1)]}, "graph": {"q": [("b", 0.5)]}},
    ...                  found={"dense": {"q": [("a", 0.9)]}}, into=10)
    >>> lists.of("q", ("dense", "graph"))
    ({'dense': [('a', 0.9), ('b', 0.1)], 'graph': [('b', 0.5)]}, {'dense': set(), 'graph': {'a'}})
    """

    scores: Mapping[str, Run] = field(repr=False)
    found: Mapping[str, Run] = field(default_factory=dict, repr=False)
    base: Run = field(default_factory=dict, repr=False)
    blind: Blind = field(default_factory=dict, repr=False)
    importance: Mapping[str, float] = field(default_factory=dict, repr=False)
    prior: Importance | None = None
    into: int = 0

    def found_by(self, leg: str) -> Run:
        """Give what a leg found."""
        return self.found.get(leg, self.scores[leg])

    def of(
        self, query: str, names: Iterable[str]
    ) -> tuple[dict[str, list[tuple[str, float]]], dict[str, AbstractSet[str]]]:
        """Give what fusion takes for a query, of the named legs: their lists, and what each could not see."""
        there = [leg for leg in names if leg in self.scores]
        if not self.into:
            return {leg: list(self.scores[leg].get(query, ())) for leg in there}, {}
        found = {leg: list(self.found_by(leg).get(query, ())) for leg in there}
        return pooled(found, {leg: self.scores[leg].get(query, ()) for leg in there}, there)

    def with_graph(self, graph: GraphLists, name: str = "graph") -> LegLists:
        """Give the same with another graph leg in the place of this one."""
        return replace(
            self,
            scores={**self.scores, name: graph.scores},
            found={**self.found, name: graph.found} if self.into else self.found,
            blind=graph.blind,
        )

    def plain(self) -> LegLists:
        """Give the lists as the legs found them, fused as they are."""
        return replace(self, scores={leg: self.found_by(leg) for leg in self.scores}, found={}, into=0, prior=None)

    def only(self, queries: Iterable[str], legs: Iterable[str]) -> LegLists:
        """Give those of some queries and legs."""
        wanted, names = list(queries), [leg for leg in legs if leg in self.scores]
        return replace(
            self,
            scores={leg: _of(self.scores[leg], wanted) for leg in names},
            found={leg: _of(self.found[leg], wanted) for leg in names if leg in self.found},
            base=_of(self.base, wanted),
            blind={query: self.blind[query] for query in wanted if self.blind.get(query)},
        )


def _of(run: Run, queries: Iterable[str]) -> Run:
    return {query: run[query] for query in queries if query in run}
